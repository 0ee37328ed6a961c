# SPDX-License-Identifier: GPL-2.0-only
# The kernel has to survive the oopses of this suite. Lockdep is off after the first.
# guest: oops
# lockdep: off
panic_on_oops=0
panic_on_warn=0
loglevel=7
