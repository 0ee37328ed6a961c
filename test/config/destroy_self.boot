# SPDX-License-Identifier: GPL-2.0-only
# The warnings of destroy are wanted here.
panic_on_warn=0
