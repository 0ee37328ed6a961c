# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title "Cost of an empty task, one CPU, Linux ".KERNEL
set xlabel "capacity of the pool (threads)"
set ylabel "instructions a task (median of the rounds)"
set logscale x 2
set logscale y
set xrange [0.8:12000]
set yrange [100:*]
set xtics ("1" 1, "4" 4, "16" 16, "64" 64, "256" 256, "1024" 1024, "unlimited" 8192)
set ytics (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
plot for [i = 1:words(TYPES)] DATA index i - 1 using 1:2 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
