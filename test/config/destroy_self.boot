# SPDX-License-Identifier: GPL-2.0-only
# The warnings of destroy are wanted here.
# guest: oops
panic_on_oops=0
panic_on_warn=0
loglevel=7
