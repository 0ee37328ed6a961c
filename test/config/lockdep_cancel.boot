# SPDX-License-Identifier: GPL-2.0-only
# This suite provokes a report of lockdep, which is off then.
# lockdep: ends
loglevel=7
