# SPDX-License-Identifier: GPL-2.0-only
"""The console log of a guest, as test/verdict and test/tap read it."""

import re

STAMP = re.compile(r"\[ *\d+\.\d+\](?: *\[ *[TC]\d+\])? ?")
# A CPU that takes over the console, in order to print a report, repeats the line it cut.
REPLAY = "** replaying previous printk message **"


def drop_cut_lines(lines):
    """The line before the mark is empty if the one behind it says it again."""
    for i in range(1, len(lines) - 1):
        if lines[i] == REPLAY and lines[i + 1].startswith(lines[i - 1]):
            lines[i - 1] = ""


def read_log(path):
    """Its lines, without time stamps."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as log:
        lines = [STAMP.sub("", line.rstrip("\r\n"), count=1) for line in log]
    drop_cut_lines(lines)
    return lines
