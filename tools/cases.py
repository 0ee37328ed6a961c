# SPDX-License-Identifier: GPL-2.0-only
"""
The test cases in the sources, for tools/errno-table and tools/porting-table: where
a case is, and the text of all that it runs. Works on the tree in the current
directory.
"""

import functools
import pathlib
import re

# SCRIPT or SCRIPT."TITLE"
GUEST_CASE = r'(\w+)(?:\."([^"]*)")?'


def read(path):
    return path.read_text(encoding="utf-8")


def files(*patterns):
    return [p for pattern in patterns for p in sorted(pathlib.Path().glob(pattern))]


def chunks(path):
    """The definitions of a C file, and of its neighbours that it includes."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", read(path), flags=re.S)
    found, chunk, depth = [], [], 0
    for line in text.replace("\\\n", " ").splitlines():
        neighbour = re.match(r'#include "(\w+\.h)"', line)
        if neighbour and (path.parent / neighbour[1]).exists():
            found += chunks(path.parent / neighbour[1])
        elif line.startswith("#define"):
            found.append(line)
        elif line.strip() and not line.startswith("#"):
            chunk.append(line)
            depth += line.count("{") - line.count("}")
            if not depth and re.search(r"[;}]\s*$", line):
                found.append("\n".join(chunk))
                chunk = []
    return found


def names_of(chunk):
    """What a definition defines; what a macro defines is among its arguments."""
    macro = re.match(r"#define (\w+)", chunk)
    if macro:
        return [macro[1]]
    head = re.split(r"[{=]", chunk, maxsplit=1)[0].strip()
    call = re.match(r"(?:static )?[A-Z]\w+\(([^)]*)", head)
    if call:
        return re.findall(r"\w+", call[1])
    return re.findall(r"(\w+)\s*(?:\(|\[|;|$)", head)[:1]


@functools.cache
def definitions(path):
    """name -> the definitions of that name in a C file"""
    defined = {}
    for chunk in chunks(path):
        for name in names_of(chunk):
            defined.setdefault(name, []).append(chunk)
    return defined


def reach(path, case):
    """The text of @case and of all that it names in its file; None: no such case."""
    text = read(path)
    defined = definitions(path)
    if path.match("kunit/*_test.c"):
        entry = re.search(rf"\bKUNIT_CASE\w*\(\s*{case}\b(?:,\s*(\w+)_gen_params)?", text)
    else:
        entry = re.search(rf"^(?:CASE|TEST\w*)\((?:(\w+), )?{case}\b", text, re.M)
    if not entry or case not in defined:
        return None
    todo, seen, out = [case, entry[1]], set(), []
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for chunk in defined.get(name, []):
            out.append(chunk)
            todo += re.findall(r"\w+", chunk)
    return "\n".join(out)


def guest_source(case):
    """The script of a case in a test guest; None: no such one."""
    script, title = re.fullmatch(GUEST_CASE, case).groups()
    path = pathlib.Path(f"test/guest/tests/{script}.sh")
    text = read(path) if path.exists() else None
    if text and title and f'"{title}"' not in text:
        return None
    return text
