# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title "Latency on a loaded CPU, Linux ".KERNEL
set xlabel "percentile"
set ylabel "submit to start, wake-up to run (virtual time)"
set logscale y
set xrange [-0.3:LAST + 0.3]
set format y "%.0s %cs"
plot for [i = 1:words(TYPES)] DATA index i - 1 using 1:2:xtic(3) with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
