# SPDX-License-Identifier: GPL-2.0-only
# smp: 4
# numa: 2
#
# With one node a pool that is made for one runs where any other does. And when a CPU
# has gone there have to be others in its range.
