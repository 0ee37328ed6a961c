# SPDX-License-Identifier: GPL-2.0-only
"""How sphinx builds these pages; run by tools/htmldocs.

ANTS_KERNEL_SOURCE names the kernel source whose kernel-doc is used.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNEL = os.environ["ANTS_KERNEL_SOURCE"]

sys.path.insert(0, os.path.join(KERNEL, "Documentation", "sphinx"))

project = "ants"
author = "The ants authors"
master_doc = "index"
extensions = ["kerneldoc", "automarkup"]
exclude_patterns = ["ABI"]
primary_domain = "c"
highlight_language = "none"
nitpicky = False
smartquotes = False
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"page_width": "70em"}

kerneldoc_bin = os.path.join(KERNEL, "scripts", "kernel-doc")
kerneldoc_srctree = ROOT
