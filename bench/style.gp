# SPDX-License-Identifier: GPL-2.0-only
#
# What all plots share. Loaded by the others, which bench/plots runs with DATA,
# OUT and KERNEL set.

set terminal svg size 1000,560 dynamic enhanced font "sans-serif,15" background "#ffffff"
set output OUT
set encoding utf8
set datafile separator "\t"

set border 3 linecolor "#555555"
set tics nomirror textcolor "#222222"
set grid ytics linecolor "#dddddd" linetype 1 linewidth 1
set key at screen 0.70, 0.5 left center vertical Left reverse noenhanced samplen 2.5 spacing 1.4
set title font ",19" offset 0,0.3
set lmargin at screen 0.115
set rmargin at screen 0.68

# colours that everybody can tell apart (Okabe and Ito); what is drawn first is
# wider, and shows where both lie on each other
set linetype 1 linecolor "#0072b2" linewidth 3.5 pointtype 7 pointsize 1.1
set linetype 2 linecolor "#009e73" linewidth 2 pointtype 5 pointsize 0.7
set linetype 3 linecolor "#56b4e9" linewidth 3.5 pointtype 6 pointsize 1.1 dashtype (8,4)
set linetype 4 linecolor "#5fb49c" linewidth 2 pointtype 4 pointsize 0.7 dashtype (8,4)
set linetype 5 linecolor "#d55e00" linewidth 2.5 pointtype 9 pointsize 0.9
set linetype 6 linecolor "#222222" linewidth 2.5 pointtype 0 dashtype (3,3)
set linetype 7 linecolor "#cc79a7" linewidth 2.5 pointtype 0 dashtype (3,3)
