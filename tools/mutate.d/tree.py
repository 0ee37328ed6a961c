# SPDX-License-Identifier: GPL-2.0-only
"""Chooses mutants, and makes the tree below build/mutate that has all of them."""

import glob
import os
import random
import re
import shutil
import subprocess

from source import Source

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
OUT = os.path.join(ROOT, "build", "mutate")
TREE = os.path.join(OUT, "src")
CORE = os.path.join(OUT, "core")
MODULES = "mutate-modules"
LINKED = ["kernel/probe.sh", "include", "kunit", "samples", "test/modules"]
# Arguments of another type are no mutant; other complaints do not matter. An
# error in a macro is one of the line that uses it.
STRICT = ["-ftrack-macro-expansion=0"] + ["-Werror=" + kind for kind in (
    "incompatible-pointer-types", "int-conversion", "discarded-qualifiers")]

SELECTOR = """\
#ifdef __KERNEL__
#include <linux/module.h>
int ants_mutant;
EXPORT_SYMBOL_GPL(ants_mutant);
module_param_named(mutant, ants_mutant, int, 0444);
#else
#include <stdlib.h>
int ants_mutant;
static void __attribute__((constructor)) select_mutant(void)
{
	const char *number = getenv("ANTS_MUTANT");

	ants_mutant = number ? atoi(number) : 0;
}
#endif
"""


class CannotBuild(Exception):
    pass


def left_out_of_core():
    """Files that the programs know by what stands in for them."""
    with open(os.path.join(ROOT, "test", "core", "Makefile"), encoding="utf-8") as file:
        return re.search(r"^left_out := (.*)$", file.read(), re.MULTILINE)[1].split()


NOT_IN_CORE = left_out_of_core()


def in_core(path):
    return os.path.splitext(os.path.relpath(path, "kernel"))[0] not in NOT_IN_CORE


def read_sources():
    sources = []
    for path in sorted(glob.glob(os.path.join(ROOT, "kernel", "**", "*.[ch]"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            sources.append(Source(os.path.relpath(path, ROOT), file.read()))
    return sources


def write_file(path, text):
    """Only if that changes it: make looks at times."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_tree(tree, sources, chosen):
    for source in sources:
        write_file(os.path.join(tree, source.path), source.written(chosen))
    write_file(os.path.join(tree, "kernel", "mutant.c"), SELECTOR)
    with open(os.path.join(ROOT, "Kbuild"), encoding="utf-8") as file:
        write_file(os.path.join(tree, "Kbuild"),
                   file.read() + "ants-y += kernel/mutant.o\n")
    for name in LINKED:
        path = os.path.join(ROOT, name)
        for path in [path] + glob.glob(os.path.join(path, "**"), recursive=True):
            if os.path.isfile(path):
                link(path, os.path.join(tree, os.path.relpath(path, ROOT)))


def link(path, there):
    os.makedirs(os.path.dirname(there), exist_ok=True)
    if not os.path.lexists(there):
        os.symlink(path, there)


def blamed(said):
    """The numbers of the mutants that a compiler's errors name."""
    return {int(number) for number in
            re.findall(r"mutant-(\d+):\d+:(?:\d+:)? (?:fatal )?error: ", said)}


def stray_errors(said):
    return [line for line in said.splitlines()
            if re.search(r"(?<!mutant-)\berror: ", line) and "mutant-" not in line]


def compilable(sources):
    """All mutants but those that the userspace core's compiler refuses."""
    mutants = [mutant for source in sources for mutant in source.mutants()]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    tree = os.path.join(OUT, "all")
    write_tree(tree, sources, mutants)
    bad = set()
    core = os.path.join(ROOT, "test", "core")
    flags = ["-std=gnu11", "-O0", "-D_GNU_SOURCE", "-DANTS_DEBUG",
             "-I" + os.path.join(core, "include"), "-I" + os.path.join(tree, "include"),
             "-I" + os.path.join(tree, "kernel")] + STRICT
    for source in sources:
        if source.path.endswith(".c") and in_core(source.path):
            bad |= compile_one(os.path.join(tree, source.path), flags)
    return [mutant for mutant in mutants if mutant.number not in bad]


def compile_one(path, flags):
    gcc = subprocess.run(["gcc", "-fsyntax-only", *flags, path], text=True,
                         stderr=subprocess.PIPE, check=False)
    strays = stray_errors(gcc.stderr)
    if strays:
        raise CannotBuild("\n".join(strays[:10]))
    return blamed(gcc.stderr)


# --- which ----------------------------------------------------------------------

def in_turn(mutants, chance):
    """One operator after the other, each at places by chance."""
    kinds = {}
    for mutant in mutants:
        kinds.setdefault(mutant.operator, []).append(mutant)
    order = sorted(kinds)
    chance.shuffle(order)
    for kind in order:
        chance.shuffle(kinds[kind])
    out = []
    while any(kinds.values()):
        out += [kinds[kind].pop() for kind in order if kinds[kind]]
    return out


def shares(sizes, total):
    """How many of each: two at least, the rest in proportion to the sizes."""
    share = {name: min(2, size) for name, size in sizes.items()}
    left = max(total - sum(share.values()), 0)
    room = {name: size - share[name] for name, size in sizes.items()}
    whole = sum(room.values()) or 1
    exact = {name: left * size / whole for name, size in room.items()}
    for name in share:
        share[name] += min(int(exact[name]), room[name])
    rest = sorted(sizes, key=lambda name: (int(exact[name]) - exact[name], name))
    for name in rest[:max(total - sum(share.values()), 0)]:
        share[name] += 1
    return share


def choose(mutants, total, seed, refused):
    """@total of @mutants, of each file its share, numbered from 1 on."""
    files = {}
    for mutant in mutants:
        files.setdefault(mutant.place.source.path, []).append(mutant)
    share = shares({path: len(files[path]) for path in files}, total)
    chosen = []
    for path in sorted(files):
        order = in_turn(files[path], random.Random(f"{seed} {path}"))
        order = [mutant for mutant in order if mutant.key() not in refused]
        chosen += sorted(order[:share[path]], key=lambda m: (m.place.start, m.text))
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return chosen


# --- both builds ----------------------------------------------------------------

def run_build(name, command, environment=None):
    """Returns the numbers of mutants that do not compile."""
    log = os.path.join(OUT, name + ".log")
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.run(command, stdout=file, stderr=file, check=False,
                                stdin=subprocess.DEVNULL,
                                env={**os.environ, **(environment or {})}).returncode
    with open(log, encoding="utf-8", errors="replace") as file:
        said = file.read()
    said += module_log() if name == "modules" else ""
    bad = blamed(said)
    if status and not bad:
        raise CannotBuild(f"{name} does not build, see {log}")
    return bad if status else set()


def module_log():
    path = os.path.join(ROOT, "build", "log", MODULES + ".log")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def build_core():
    programs = ["explore", "load-asan"] + (["fuzz"] if shutil.which("clang") else [])
    flags = ["CC=" + " ".join(["gcc", *STRICT]), "CLANG=clang"]
    return run_build("core", ["make", "-k", "-C", os.path.join(ROOT, "test", "core"),
                              "SRC=" + TREE, "OUT=" + CORE, *flags, *programs])


def build_modules(suites=None):
    """ants.ko, and with @suites the modules that its tests need."""
    kunit = ["ANTS_KUNIT=y", "ANTS_SAMPLES=y",
             "ANTS_SUITES=" + " ".join(suites)] if suites else []
    return run_build("modules", [
        os.path.join(ROOT, "tools", "build-modules"), "kunit-6.1", MODULES, "-k",
        "ANTS_DEBUG=y", "KCFLAGS=" + " ".join(STRICT), *kunit], {"ANTS_SRC": TREE})


def build(sources, mutants, total, seed, refused, log):
    """Chooses, writes and builds until all that is chosen compiles."""
    while True:
        chosen = choose(mutants, total, seed, refused)
        write_tree(TREE, sources, chosen)
        for name, make in (("modules", build_modules), ("core", build_core)):
            log(f"building {name} with {len(chosen)} mutants ...")
            bad = make()
            if bad:
                break
        else:
            return chosen
        log(f"{len(bad)} do not compile, others take their places")
        refused |= {m.key() for m in chosen if m.number in bad}
