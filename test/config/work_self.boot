# SPDX-License-Identifier: GPL-2.0-only
# This suite provokes a report of lockdep, which is off then.
# guest: oops
# lockdep: ends
panic_on_oops=0
panic_on_warn=0
loglevel=7
