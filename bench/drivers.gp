# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title TITLE.", two CPUs, Linux ".KERNEL
set xlabel "capacity of the pool"
set ylabel "latency of a request"
set y2label "threads at most"
set logscale x 2
set logscale y
set logscale y2 2
set border 11
set rmargin at screen 0.72
set key at screen 0.80, 0.5
set xrange [0.8:UNLIMITED * 1.25]
set xtics ("1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32, "64" 64, "128" 128, "no bound" UNLIMITED)
set format y "%.0s %cs"
set y2range [0.8:300]
set y2tics nomirror (1, 2, 4, 8, 16, 32, 64, 128, 256)
plot for [i = 1:4] DATA index i - 1 using 1:2 axes x1y1 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1), \
	for [i = 5:words(TYPES)] DATA index i - 1 using 1:2 axes x1y2 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
