# SPDX-License-Identifier: GPL-2.0-only
"""Finds in a C source in the kernel's style what can be changed, and writes the
source with several changes at once, each of which a number selects at run time.

A place is an expression or a statement that is replaced as a whole; a mutant is
one way of replacing it. All mutants of a place are in the source together:

    if (a < b)      becomes   if (ants_mutant == 7 ? !!(a <= b) : !!(a < b))
    x++;            becomes   { if (ants_mutant == 8) { } else { x++; } }

Line markers tell the compiler which mutant a line is, so that its complaints
name it, and where the source goes on.
"""

import re

# Statements that check, say or document something, and change nothing.
IDLE = re.compile(r"(lockdep_|static_assert|BUILD_BUG|BUG|WARN|pr_|__?might_"
                  r"|might_|ants_check\b|ants_pause|DEFINE_|DECLARE_"
                  r"|cpu_relax|sleeps\b|case\b|default\b|asm\b|__asm__)")
# An expression that holds one of these is not touched.
UNTOUCHED = re.compile(r"\b(IS_ENABLED|WARN\w*|BUG\w*|__builtin\w*|typeof)\(")
# Calls whose arguments can be swapped without a difference, or not at all.
SYMMETRIC = re.compile(r"(min3?|max3?|min_t|max_t|swap|sizeof|typeof|likely|unlikely"
                       r"|container_of|\w*_entry|offsetof|if|while|for|switch"
                       r"|return|cpumask_and|cpumask_intersects|BIT)$")
TYPE = re.compile(r"(const|static|struct|enum|union|unsigned|signed|int|bool|char"
                  r"|long|short|void|size_t|ssize_t|[us](8|16|32|64)|\w+_t"
                  r"|LIST_HEAD|DEFINE_\w+|DECLARE_\w+)\b")
SPECIFIERS = re.compile(r"\b(static|inline|noinline|__always_inline|extern|__init"
                        r"|__exit|__cold|noinline_for_stack)\b")
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
           "++": "--", "--": "++", "+=": "-=", "-=": "+="}


class Mutant:
    """One way of replacing a place."""

    def __init__(self, place, operator, text):
        self.place, self.operator, self.text = place, operator, text
        self.number = 0

    @property
    def line(self):
        return self.place.line

    def key(self):
        """The same in another version of the source, unless it was edited."""
        return (self.place.source.path, self.operator, self.place.shown(),
                one_line(self.text) or "(nothing)")

    def where(self):
        """The same, and in the same function."""
        return (self.place.function, *self.key())


class Place:
    """What is replaced as a whole: "condition", "value" or "statement"."""

    def __init__(self, source, kind, start, end):
        self.source, self.kind, self.start, self.end = source, kind, start, end
        self.line = source.text.count("\n", 0, start) + 1
        self.mutants = []

    def text(self):
        return self.source.text[self.start:self.end]

    def shown(self):
        return one_line(self.text())

    def add(self, operator, text):
        if one_line(text) != self.shown() and \
           text not in [mutant.text for mutant in self.mutants]:
            self.mutants.append(Mutant(self, operator, text))

    def written(self, mutants):
        """This place with all of @mutants in it."""
        here = f'\n# {self.line} "{self.source.path}"\n'
        out = []
        for mutant in mutants:
            there = f'\n# 1 "mutant-{mutant.number}"\n'
            test = f"ants_mutant == {mutant.number}"
            changed = one_line(mutant.text)
            if self.kind == "statement":
                out.append(f"{there}if ({test}) {{ {changed} }} else")
            elif self.kind == "condition":
                out.append(f"{there}{test} ? !!({changed}) :")
            else:
                out.append(f"{there}{test} ? ({changed}) :")
        both = "".join(out) + here
        if self.kind == "statement":
            return "{ " + both + "{ " + self.text() + " } }"
        not_not = "!!" if self.kind == "condition" else ""
        return "(" + both + not_not + "(" + self.text() + "))"


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def blank(text):
    """A copy of the same length without comments and the contents of strings."""
    def spaces(found):
        return re.sub(r"[^\n]", " ", found[0])

    def string(found):
        return found[0][0] + "_" * (len(found[0]) - 2) + found[0][0]

    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\")"
                         r"|('(?:\\.|[^'\\\n])*')", re.DOTALL)
    return pattern.sub(lambda found: string(found) if found[1] or found[2]
                       else spaces(found), text)


def blank_directives(text):
    """Those become \1, and so does what only some configurations compile."""
    out, guards, more = [], [], False
    for line in text.split("\n"):
        word = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        hide = more or bool(word)
        more = hide and line.endswith("\\")
        if word and word[1].startswith("if"):
            harmless = (word[1] == "ifndef" and word[2].startswith("_ANTS") or
                        word[1] == "ifdef" and word[2] == "ANTS_DEBUG")
            guards.append(not harmless)
        elif word and word[1] in ("else", "elif") and guards:
            guards[-1] = True
        elif word and word[1] == "endif" and guards:
            guards.pop()
        hide = hide or any(guards)
        out.append("\1" * len(line) if hide else line)
    return "\n".join(out)


def split_top(text, separator):
    """Offsets (start, end) of what @separator divides outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == separator and depth == 0:
            parts.append((start, i))
            start = i + 1
    return parts + [(start, len(text))]


class Source:
    """One file of kernel/."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.mask = blank_directives(blank(text))
        self.places = []
        for body in re.finditer(r"^\{$", self.mask, re.MULTILINE):
            self.function(body.start())
        for place in self.places:
            Changer(place).all()

    def mutants(self):
        return [mutant for place in self.places for mutant in place.mutants]

    def written(self, chosen):
        """The file with @chosen in it."""
        out = self.text
        for place in sorted(self.places, key=lambda place: -place.start):
            mutants = [m for m in chosen if m.place is place]
            if mutants:
                out = out[:place.start] + place.written(mutants) + out[place.end:]
        return "extern int ants_mutant; " + out

    # --- what a function consists of ------------------------------------------

    def function(self, start):
        head = re.split(r"\n\s*\n|[;}\1]", self.mask[:start])[-1]
        name = re.search(r"(\w+)\s*\(", head)
        if not name or "__init" in head.split() and "main" not in self.path:
            return
        kind = SPECIFIERS.sub("", head[:name.start()])
        self.returns, self.name = one_line(kind), name[1]
        self.block(start)

    def skip(self, pos):
        while pos < len(self.mask) and self.mask[pos] in " \t\n\1":
            pos += 1
        return pos

    def closing(self, pos):
        """Behind the bracket that closes the one at @pos."""
        depth = 0
        for i in range(pos, len(self.mask)):
            depth += (self.mask[i] in "([{") - (self.mask[i] in ")]}")
            if depth == 0:
                return i + 1
        raise SyntaxError(f"{self.path}: a bracket is not closed")

    def semicolon(self, pos):
        """Of the statement at @pos."""
        while self.mask[pos] != ";":
            pos = self.closing(pos) if self.mask[pos] in "([{" else pos + 1
        return pos

    def word(self, pos):
        found = re.compile(r"\w+").match(self.mask, pos)
        return found[0] if found else ""

    def place(self, kind, start, end):
        mask = self.mask[start:end]
        start += len(mask) - len(mask.lstrip())
        end -= len(mask) - len(mask.rstrip())
        if start < end and "\1" not in mask and not UNTOUCHED.search(mask):
            self.places.append(Place(self, kind, start, end))
            self.places[-1].returns = self.returns
            self.places[-1].function = self.name
            return self.places[-1]
        return None

    def block(self, pos):
        pos = self.skip(pos + 1)
        while self.mask[pos] != "}":
            pos = self.skip(self.statement(pos))
        return pos + 1

    def statement(self, pos):
        """Notes the places of the statement at @pos, returns what is behind."""
        pos = self.skip(pos)
        if self.mask[pos] == "{":
            return self.block(pos)
        word = self.word(pos)
        if word in ("if", "while", "switch", "for"):
            return self.controlled(pos, word)
        if word == "do":
            pos = self.skip(self.statement(pos + 2))
            return self.semicolon(self.controlled_head(pos, "while")) + 1
        if word in ("case", "default"):
            return self.mask.index(":", pos) + 1
        if re.compile(r"\w+:(?!:)").match(self.mask, pos):
            return self.mask.index(":", pos) + 1
        return self.loop_macro(pos) or self.simple(pos, word)

    def controlled_head(self, pos, word):
        start = self.mask.index("(", pos)
        end = self.closing(start)
        if word in ("if", "while"):
            self.place("condition", start + 1, end - 1)
        elif word == "for":
            parts = split_top(self.mask[start + 1:end - 1], ";")
            if self.mask[start + 1:][slice(*parts[1])].strip():
                self.place("condition", *(start + 1 + i for i in parts[1]))
        return end

    def controlled(self, pos, word):
        pos = self.statement(self.controlled_head(pos, word))
        after = self.skip(pos)
        if word == "if" and self.word(after) == "else":
            return self.statement(after + 4)
        return pos

    def loop_macro(self, pos):
        """list_for_each_entry(...) and the like, with what they repeat."""
        if not re.compile(r"\w*for_each\w*\(").match(self.mask, pos):
            return None
        return self.statement(self.closing(self.mask.index("(", pos)))

    def simple(self, pos, word):
        end = self.semicolon(pos)
        if TYPE.match(self.mask, pos):
            self.declaration(pos, end)
        elif not IDLE.match(self.mask, pos) and end > pos:
            self.place("statement", pos, end + 1)
        return end + 1

    def declaration(self, pos, end):
        mask = self.mask[pos:end]
        equal = re.search(r"(?<![=!<>])=(?!=)", mask)
        if not equal or len(split_top(mask, ",")) > 1 or "static" in mask or \
           mask[equal.end():].lstrip().startswith("{"):
            return
        place = self.place("value", pos + equal.end(), end)
        if place and re.match(r"bool\b", mask):
            place.is_bool = True


class Changer:
    """All mutants of one place."""

    def __init__(self, place):
        self.place = place
        self.text = place.text()
        self.mask = place.source.mask[place.start:place.end]

    def all(self):
        self.tokens()
        self.calls()
        if self.place.kind == "condition":
            self.place.add("negate", f"!({self.text})")
        elif self.place.kind == "value":
            if getattr(self.place, "is_bool", False):
                self.place.add("negate", f"!({self.text})")
        elif self.mask.startswith("return"):
            self.returned()
        else:
            self.dropped()

    def replace(self, start, end, new):
        return self.text[:start] + new + self.text[end:]

    def tokens(self):
        """Comparisons off by one, logic, counters."""
        kinds = {"<": "compare", ">": "compare", "&": "logic", "|": "logic",
                 "+": "count", "-": "count"}
        pattern = r"(?<=\s)(<=|>=|<|>|&&|\|\||\+=|-=)(?=\s)|\+\+|--"
        for found in re.finditer(pattern, self.mask):
            kind = kinds[found[0][0]]
            self.place.add(kind, self.replace(*found.span(), SWAPPED[found[0]]))
            if found[0] in ("++", "--") and not self.counts():
                self.place.add(kind, self.replace(*found.span(), ""))

    def calls(self):
        """Two neighbouring arguments are swapped."""
        for found in re.finditer(r"(\w+)\(", self.mask):
            if SYMMETRIC.match(found[1]):
                continue
            begin, end = found.end(), self.place.source.closing(
                self.place.start + found.end() - 1) - self.place.start - 1
            parts = [(begin + a, begin + b)
                     for a, b in split_top(self.mask[begin:end], ",")]
            for first, second in zip(parts, parts[1:]):
                self.swap(first, second)

    def swap(self, first, second):
        one, two = self.text[slice(*first)], self.text[slice(*second)]
        if one.strip() != two.strip() and '"' not in one + two:
            gap = one[:len(one) - len(one.lstrip())]
            self.place.add("swap", f"{self.text[:first[0]]}{gap}{two.strip()}, "
                           f"{one.strip()}{self.text[second[1]:]}")

    def returned(self):
        """Another value than the one that is returned."""
        value = one_line(self.text[len("return"):].strip().rstrip(";"))
        kind = self.place.returns
        if not value:
            self.place.add("drop", "")
        elif kind == "bool" and value in ("true", "false"):
            other = "false" if value == "true" else "true"
            self.place.add("return", f"return {other};")
        elif kind == "bool":
            self.place.add("return", f"return !({value});")
        elif "*" in kind:
            self.place.add("return", "return NULL;")
        elif kind == "int" and value == "0":
            self.place.add("return", "return -EIO;")
        elif kind in ("int", "long", "ssize_t"):
            self.place.add("return", "return 0;")
        else:
            self.place.add("return", f"return !({value});")

    def counts(self):
        """Is it a statement that does nothing else?"""
        return re.fullmatch(r"[^(]*?(\+\+|--|[-+]=[^;]*);", self.mask)

    def dropped(self):
        self.place.add("count" if self.counts() else "drop", "")
