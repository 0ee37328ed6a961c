# SPDX-License-Identifier: GPL-2.0-only

load STYLE
set title "256 tasks that block, no thread before, Linux ".KERNEL
set xlabel "time since the first submit (one CPU, virtual time)"
set ylabel "tasks running"
set logscale x
set format x "%.0s %cs"
set yrange [0:270]
set ytics 32
plot for [i = 1:words(TYPES)] DATA index i - 1 using 1:2 with linespoints \
	linetype int(word(TYPES, i)) title columnheader(1)
