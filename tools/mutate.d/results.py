# SPDX-License-Identifier: GPL-2.0-only
"""The table of mutants, which stays when a run is interrupted."""

import collections
import hashlib
import os
import re

from source import one_line
from tree import OUT, ROOT

PATH = os.path.join(OUT, "results.tsv")
REFUSED = os.path.join(OUT, "refused.tsv")
PHASES = ["core", "guest", "deep"]
EQUIVALENT = os.path.join(ROOT, "tools", "mutate.equivalent")


def read_equivalent():
    """Arguments by Mutant.where(). Blocks of the file are

    FILE: FUNCTION(): OPERATOR: TEXT -> CHANGED TEXT
        argument, over some lines
    """
    arguments, key = {}, None
    if not os.path.exists(EQUIVALENT):
        return arguments
    with open(EQUIVALENT, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"(\S+): (\w+)\(\): (\w+): (.*) -> (.*)$", line)
            if head:
                key = (head[2], head[1], *head.groups()[2:])
                arguments[key] = ""
            elif key and line.startswith("\t"):
                arguments[key] += line.strip() + " "
    return {key: text for key, text in arguments.items() if text}


class Table:
    """One row a mutant: number, phase, seconds, what killed it or nothing."""

    def __init__(self, total, seed, candidates):
        texts = repr([mutant.key() for mutant in candidates])
        digest = hashlib.sha256(texts.encode()).hexdigest()[:16]
        self.head = f"# N={total} SEED={seed} {digest}"
        self.rows, self.refused = {}, set()
        self.arguments = read_equivalent()
        if self.is_of(PATH):
            self.read()
        if self.is_of(REFUSED):
            with open(REFUSED, encoding="utf-8") as file:
                self.refused = {tuple(line.rstrip("\n").split("\t"))
                                for line in file if not line.startswith("#")}

    def is_of(self, path):
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return file.readline().rstrip("\n") == self.head

    def read(self):
        with open(PATH, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    number, phase, seconds, why = line.rstrip("\n").split("\t")[:4]
                    self.rows[int(number), phase] = (float(seconds), why)

    def begin(self, chosen):
        """Writes what is known, and which mutants did not compile."""
        self.chosen = {mutant.number: mutant for mutant in chosen}
        with open(REFUSED, "w", encoding="utf-8") as file:
            file.write(self.head + "\n")
            file.writelines("\t".join(key) + "\n" for key in sorted(self.refused))
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(self.head + "\n")
        rows, self.rows = self.rows, {}
        for (number, phase), (seconds, why) in rows.items():
            self.write(self.chosen[number], phase, why, seconds)

    def forget(self, mutants):
        for key in [key for key in self.rows if key[0] in {m.number for m in mutants}]:
            del self.rows[key]

    def write(self, mutant, phase, why, seconds):
        self.rows[mutant.number, phase] = (seconds, why)
        with open(PATH, "a", encoding="utf-8") as file:
            file.write("\t".join([
                str(mutant.number), phase, f"{seconds:.1f}", why,
                f"{mutant.place.source.path}:{mutant.line}", mutant.operator,
                mutant.place.shown(), one_line(mutant.text) or "(nothing)"]) + "\n")

    def note(self, mutant, phase, why, seconds):
        self.write(mutant, phase, re.sub(r"\s+", " ", why or ""), seconds)

    def is_next(self, mutant, phase):
        """Is it alive, and not through with that phase?"""
        if (mutant.number, phase) in self.rows or self.killer(mutant)[0]:
            return False
        return phase != "deep" or mutant.where() not in self.arguments

    # --- the report -----------------------------------------------------------------

    def killer(self, mutant):
        """What killed it, and after how many seconds."""
        spent = 0
        for phase in PHASES:
            seconds, why = self.rows.get((mutant.number, phase), (0, ""))
            spent += seconds
            if why:
                return phase, why, spent
        return None, "", spent

    def report(self, mutants):
        killed, argued, survived = [], [], []
        for mutant in mutants:
            phase, why, seconds = self.killer(mutant)
            argued_why = self.arguments.get(mutant.where())
            group = killed if phase else argued if argued_why else survived
            group.append(mutant)
            said = why or ("ARGUED: " + argued_why if argued_why else "SURVIVED")
            print(f"{mutant.number:4d} {mutant.place.source.path}:{mutant.line}"
                  f" {mutant.operator}: {mutant.place.shown()}  ->"
                  f"  {one_line(mutant.text) or '(nothing)'}\n"
                  f"       {seconds:.1f} s: {said}")
        self.files(mutants, killed, argued)
        self.phases(mutants)
        score = 100 * len(killed) / max(len(mutants) - len(argued), 1)
        print(f"mutate: {len(mutants)} mutants, {len(killed)} killed"
              f" ({100 * len(killed) / max(len(mutants), 1):.1f} %), {len(argued)}"
              f" argued to be equivalent ({score:.1f} % of the others killed),"
              f" {len(survived)} survived")

    @staticmethod
    def files(mutants, killed, argued):
        print()
        files = collections.defaultdict(collections.Counter)
        for mutant in mutants:
            end = "killed" if mutant in killed else \
                "argued" if mutant in argued else "survived"
            files[mutant.place.source.path][end] += 1
        for path, count in sorted(files.items()):
            print(f"{path:24s} {sum(count.values()):3d} mutants {count['killed']:3d} killed"
                  f" {count['argued']:3d} argued {count['survived']:3d} survived")

    def phases(self, mutants):
        numbers = {mutant.number for mutant in mutants}
        for phase in PHASES:
            rows = [row for key, row in self.rows.items()
                    if key[1] == phase and key[0] in numbers]
            dead = sum(bool(why) for _, why in rows)
            print(f"{phase}: {len(rows)} mutants, {dead} killed,"
                  f" {sum(seconds for seconds, _ in rows):.0f} s")
