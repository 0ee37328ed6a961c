# SPDX-License-Identifier: GPL-2.0-only
# Lockdep is off after its report, which this suite provokes.
loglevel=7
