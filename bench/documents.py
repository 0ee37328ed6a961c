# SPDX-License-Identifier: GPL-2.0-only
"""What puts results into the documents: numbers, tables, and the text between marks."""

import os
import sys


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def simple_table(head, body):
    """A table of reStructuredText; a first cell may not be empty."""
    lines = [[text.replace("`", "``") for text in row] for row in [head] + body]
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "  ".join("=" * width for width in widths)
    yield rule
    for index, row in enumerate(lines):
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
        if not index:
            yield rule
    yield rule


def replaced(root, name, marks, lines):
    """A file, and its text with the lines between the two marks."""
    path = os.path.join(root, name)
    begin, end = marks
    with open(path, encoding="utf-8") as text:
        before, mark, rest = text.read().partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        sys.exit(f"{path}: the two marks are missing")
    return path, before + begin + "\n".join(lines) + "\n" + end + after
