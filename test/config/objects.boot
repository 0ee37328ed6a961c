# SPDX-License-Identifier: GPL-2.0-only
# The kernel complains about work items, and has to go on.
# guest: oops
panic_on_oops=0
panic_on_warn=0
loglevel=7
