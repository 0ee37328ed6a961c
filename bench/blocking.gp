# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title "Tasks that sleep 10 ms, one CPU, Linux ".KERNEL
set xlabel "capacity of the pool (threads)"
set ylabel "tasks a second of virtual time"
set logscale x 2
set logscale y
set xrange [50:5200]
set xtics ("64" 64, "128" 128, "256" 256, "512" 512, "1024" 1024, "2048" 2048, "4096" 4096)
set format y "%.0s %c"
plot for [i = 1:words(TYPES)] DATA index i - 1 using 1:2 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
