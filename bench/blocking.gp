# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title "Tasks that sleep 10 ms, one CPU, Linux ".KERNEL
set xlabel "capacity of the pool (threads)"
set ylabel "tasks a second of virtual time"
set logscale x 2
set logscale y
set xrange [50:5200]
set xtics ("64" 64, "128" 128, "256" 256, "512" 512, "1024" 1024, "2048" 2048, "4096" 4096)
set yrange [4000:500000]
set ytics ("5 k" 5000, "10 k" 10000, "20 k" 20000, "50 k" 50000, "100 k" 100000, \
	"200 k" 200000, "500 k" 500000)
plot for [i = 1:words(TYPES)] DATA index i - 1 using 1:2 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
