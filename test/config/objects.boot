# SPDX-License-Identifier: GPL-2.0-only
# The kernel complains about work items, and has to go on.
panic_on_warn=0
loglevel=7
