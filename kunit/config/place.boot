# SPDX-License-Identifier: GPL-2.0-only
# numa: 2
#
# With one node a pool that is made for one runs where any other does.
