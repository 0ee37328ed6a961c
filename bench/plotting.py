# SPDX-License-Identifier: GPL-2.0-only
"""What draws lines: gnuplot with one of the files here."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Line:
    """One line of a plot: linetype of style.gp, title, points."""

    def __init__(self, linetype, title, points):
        self.linetype, self.title, self.points = linetype, title, points

    def __str__(self):
        rows = ["\t".join(str(field) for field in point) for point in self.points]
        return "\n".join([f'"{self.title}"'] + rows)


def gnuplot(name, **variables):
    text = ";".join(f"{key}={value!r}" for key, value in variables.items())
    subprocess.run(["gnuplot", "-e", text, os.path.join(HERE, f"{name}.gp")], check=True)


def draw_lines(name, base, lines, **variables):
    """What @name.gp makes of the lines, as @base.svg; the path that was written."""
    with open(f"{base}.dat", "w", encoding="utf-8") as data:
        data.write("\n\n\n".join(str(line) for line in lines) + "\n")
    gnuplot(name, STYLE=os.path.join(HERE, "style.gp"), DATA=f"{base}.dat",
            OUT=f"{base}.svg", TYPES=" ".join(str(line.linetype) for line in lines),
            LAST=len(lines[0].points) - 1, **variables)
    return os.path.relpath(f"{base}.svg")
