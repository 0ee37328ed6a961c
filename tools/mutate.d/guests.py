# SPDX-License-Identifier: GPL-2.0-only
"""Runs mutants in guests, each under the tests that are nearest to its file."""

import concurrent.futures
import importlib.machinery
import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
import time

from jobs import Job
from tree import MODULES, OUT, ROOT, in_core

# Seconds that a test may take: at first, beyond four times what it needed, and
# once a case of it has failed.
LIMIT, SPARE, AFTERMATH = 120, 25, 15
# Guests at a time: one that hangs leaves its CPU to the other.
GUESTS = 2
NEAREST = os.path.join(os.path.dirname(__file__), "nearest")
STAMP = re.compile(r"\[ *\d+\.\d+\](?: *\[ *[TC]\d+\])? ?")
# What the scripts of the tests call loads the mutant.
WRAPPER = """
insmod()
{
	case $1 in
	*/ants.ko) busybox insmod "$@" "mutant=$ANTS_MUTANT" ;;
	*) busybox insmod "$@" ;;
	esac
}
"""


def load_verdict():
    path = os.path.join(ROOT, "test", "verdict")
    # what it imports lies beside it
    sys.path.insert(0, os.path.dirname(path))
    loader = importlib.machinery.SourceFileLoader("verdict", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("verdict", loader))
    loader.exec_module(module)
    return module


verdict = load_verdict()


def load_now():
    return os.getloadavg()[0]


def header(path, key):
    """The value of "# KEY: value" in a file."""
    with open(path, encoding="utf-8") as file:
        found = re.search(rf"^ *[#*] {key}: *(.*)", file.read(), re.MULTILINE)
    return found[1].strip() if found else ""


class Test:
    """A suite, a script or a program, and the guest that it wants."""

    def __init__(self, name):
        base, extension = os.path.splitext(name)
        self.name = base
        self.kind = {".sh": "shell", ".c": "userspace"}.get(extension, "kunit")
        self.source = os.path.join(ROOT, {
            "shell": f"test/guest/tests/{base}.sh",
            "userspace": f"userspace-test/{base}.c",
            "kunit": f"kunit/{base}_test.c"}[self.kind])
        self.options = self.guest_options()

    def exists(self):
        return os.path.exists(self.source)

    def guest_options(self):
        boot = os.path.join(ROOT, "test", "config", self.name + ".boot")
        wishes = boot if self.kind == "kunit" else self.source
        if self.kind == "userspace" or not os.path.exists(wishes):
            return ()
        options = []
        for key, option in (("boot", "append"), ("smp", "smp"), ("numa", "numa")):
            if header(wishes, key):
                options += ["--" + option, header(wishes, key)]
        if self.kind == "kunit":
            with open(boot, encoding="utf-8") as file:
                arguments = " ".join(re.sub("#.*", "", file.read()).split())
            options += ["--append", arguments] if arguments else []
        return tuple(options)

    def files(self, build):
        if self.kind == "shell":
            return [f"{self.source}:/ants/tests/{self.name}.sh"]
        if self.kind == "userspace":
            return [f"{OUT}/bin/{self.name}:/ants/bin/{self.name}"]
        return [f"{build}/kunit/ants_{self.name}_test.ko"]

    def command(self):
        if self.kind == "shell":
            return f"timeout {header(self.source, 'timeout') or 120} env REPEATS=1 " \
                   f"sh /ants/tests/{self.name}.sh"
        if self.kind == "userspace":
            return f"timeout 120 /ants/bin/{self.name}"
        return f"kunit_module /ants/ants_{self.name}_test.ko"


def read_nearest():
    """Names of tests by the file's name without directory and extension."""
    nearest = {}
    with open(NEAREST, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                nearest[words[0]] = words[1:]
    return nearest


def tests_of(path, nearest):
    stem = os.path.splitext(os.path.basename(path))[0]
    names = [stem] + [name for name in nearest.get(stem, []) if name != stem]
    return [test for test in map(Test, names) if test.exists()]


# --- what a guest runs ----------------------------------------------------------------

def script_of(work, helpers):
    """@work: mutants' numbers, each with its tests, and whether to look for what
    was lost. A mutant that has failed a test and can be unloaded makes way for the
    next one."""
    lines = [". /ants/lib.sh", "export ANTS_MUTANT",
             "try() { log_mark; section \"$@\" && ! log_has '^[^a-z]*not ok'; }"]
    unload = " && ".join(f"rmmod {name}" for name in [*reversed(helpers), "ants"])
    for number, tests, leaks in work:
        inside = [test for test in tests if test.kind != "shell"]
        scripts = [test for test in tests if test.kind == "shell"]
        lines += [f"ANTS_MUTANT={number}", f'mark "begin mutant {number}"', "status=0"]
        if inside:
            lines += ["insmod /ants/ants.ko || exit 1"]
            lines += [f"insmod /ants/{name}.ko || exit 1" for name in helpers]
        for test in inside:
            lines += [f"[ $status = 1 ] || try {test.kind} {number}-{test.name}"
                      f" {test.command()} || status=1"]
        if inside:
            lines += [f"{unload} || exit 1"]
        for test in scripts:
            lines += [f"[ $status = 1 ] || try {test.kind} {number}-{test.name}"
                      f" {test.command()} || status=1",
                      "! loaded ants || rmmod ants || exit 1"]
        lines += ["no_remains || exit 1"]
        if leaks:
            lines += ["[ $status = 1 ] ||"
                      f" section check {number}-leaks no_leaks || exit 1"]
        lines += [f'mark "end mutant {number} status=$status"']
    return "\n".join(lines) + "\n"


class Watch:
    """Follows a guest's log; says what became of each mutant."""

    def __init__(self, limits, settle, patience=1):
        self.limits, self.settle, self.patience = limits, settle, patience
        self.results, self.seconds = {}, {}
        self.number, self.test, self.count = None, None, 0
        self.judge, self.begin, self.since = verdict.Judge(), 0, time.monotonic()
        self.hopeless = False

    def kill(self, why, hopeless=False):
        """Of several reasons the first one counts."""
        self.hopeless |= hopeless
        if self.number is not None and self.number not in self.results:
            self.results[self.number] = (why, time.monotonic() - self.begin, self.test)
            self.since = time.monotonic()

    def mark(self, words):
        """A line "ants-guest: begin|end KIND NAME [status=N]"."""
        now = time.monotonic()
        if words[:2] == ["begin", "mutant"]:
            self.number, self.begin, self.judge = int(words[2]), now, verdict.Judge()
        elif words[:2] == ["end", "mutant"]:
            for _, text in self.judge.end()[:1]:
                self.kill(text, True)
            self.results.setdefault(self.number, (None, now - self.begin, None))
            self.end()
        elif words[0] == "begin" and len(words) > 2:
            self.test = words[2].split("-", 1)[-1]
        elif words[0] == "end" and len(words) > 3 and self.test:
            if words[3] != "status=0":
                self.kill(f"{self.test}: {words[3]}")
            elif self.number not in self.results:
                self.seconds[self.test] = now - self.since
            self.test = None
        self.since = now

    def end(self):
        """Nothing more is to come of the mutant."""
        if self.number in self.results:
            self.settle(self.number, *self.results[self.number])
        self.number = None

    def line(self, text):
        text = STAMP.sub("", text.rstrip("\r\n"), count=1)
        self.count += 1
        if text.startswith("ants-guest: "):
            self.mark(text.split()[1:])
            return
        self.judge.line(self.count, text)
        if self.judge.trouble:
            self.kill(f"{self.test}: {self.judge.trouble[0][1]}", True)
        elif re.match(r"\s*not ok \d", text):
            self.kill(f"{self.test}: {text.strip()}")

    def overdue(self):
        """What has failed may come to its end. A machine that is busier than it was
        when the limit was found takes longer."""
        limit, load = self.limits.get(self.test, (LIMIT, 0))
        if self.number in self.results:
            limit, load = AFTERMATH, 0
        busy = max(load_now() / max(load, os.cpu_count()), 1)
        return self.number is not None and \
            time.monotonic() - self.since > limit * busy * self.patience


def stop(guest):
    """tools/guest ends its QEMU when it is told to."""
    guest.kill_all(signal.SIGTERM)
    try:
        guest.wait(timeout=20)
    except subprocess.TimeoutExpired:
        guest.kill_all(signal.SIGKILL)
        guest.wait()


def watch_guest(guest, console, watch):
    """Until the guest has ended, or the mutant that it runs is known to be dead."""
    position, rest = 0, ""
    while True:
        ended = guest.poll() is not None
        if os.path.exists(console):
            with open(console, encoding="utf-8", errors="replace") as log:
                log.seek(position)
                rest += log.read()
                position = log.tell()
        *lines, rest = rest.split("\n")
        for line in lines:
            watch.line(line)
        if watch.overdue():
            watch.kill(f"{watch.test or 'loading and unloading'}: does not end", True)
        if watch.hopeless and not ended:
            stop(guest)
        if watch.hopeless or ended:
            return
        time.sleep(0.2)


class Guests:
    """Boots guests with the modules of the mutated tree."""

    def __init__(self, log):
        self.log, self.kernel = log, None
        self.build = os.path.join(ROOT, "build", MODULES)
        self.limits = {}

    def prepare(self):
        self.kernel = subprocess.run(
            [os.path.join(ROOT, "tools", "kernel"), "kunit-6.1"], check=True,
            stdout=subprocess.PIPE, text=True).stdout.strip()
        with open(os.path.join(ROOT, "test/guest/lib.sh"), encoding="utf-8") as lib, \
             open(os.path.join(OUT, "lib.sh"), "w", encoding="utf-8") as out:
            out.write(lib.read() + WRAPPER)

    @staticmethod
    def suites(mutants):
        """Names of all suites that the mutants need."""
        nearest = read_nearest()
        return sorted({test.name for mutant in mutants
                       for test in tests_of(mutant.place.source.path, nearest)
                       if test.kind == "kunit"})

    def compile_program(self, test):
        os.makedirs(os.path.join(OUT, "bin"), exist_ok=True)
        source = os.path.realpath(os.path.join(self.kernel, "source"))
        subprocess.run(["gcc", "-static", "-O2", "-g", "-pthread", "-I",
                        source + "/tools/testing/selftests", "-I",
                        os.path.join(ROOT, "userspace-test"), "-o",
                        os.path.join(OUT, "bin", test.name), test.source], check=True)

    def modules(self):
        found = []
        for directory in (".", "test/modules", "samples"):
            path = os.path.join(self.build, directory)
            found += [os.path.join(path, name) for name in sorted(os.listdir(path))
                      if name.endswith(".ko")] if os.path.isdir(path) else []
        return found

    def boot(self, options, work, settle, slot=0, patience=1):
        """Runs @work until a mutant takes the guest with it. As they end calls
        settle(number, what killed it or None, seconds, name of the test). No two
        guests run in the same @slot. With more @patience a test may take longer."""
        tests = {test.name: test for _, tests, _ in work for test in tests}.values()
        helpers = ["ants_ctl"] if any(
            test.kind == "userspace" for test in tests) else []
        files = self.modules() + [OUT + "/lib.sh:/ants/lib.sh"]
        for test in tests:
            files += test.files(self.build)
        script, console, messages = (os.path.join(OUT, f"{name}{slot}")
                                     for name in ("script", "console.log", "guest.said"))
        with open(script, "w", encoding="utf-8") as out:
            out.write(script_of(work, helpers))
        if os.path.exists(console):
            os.remove(console)
        command = [os.path.join(ROOT, "tools", "guest"), "--kernel", self.kernel,
                   "--script", script, "--log", console, "--timeout", "7200",
                   "--echo", "none", *options]
        for file in files:
            command += ["--file", file]
        watch = Watch(self.limits, settle, patience)
        with open(messages, "w", encoding="utf-8") as said, \
             Job(command, said) as guest:
            watch_guest(guest, console, watch)
        watch.kill(f"{watch.test or 'loading and unloading'}: the guest died", True)
        watch.end()
        return watch

    def confirm(self, options, tests):
        """What has killed a mutant has to pass without one, however busy the machine
        has become meanwhile."""
        self.log(f"without a mutant: {' '.join(test.name for test in tests)}")
        watch = self.boot(options, [(0, tests, False)], lambda *result: None,
                          patience=10)
        why = watch.results.get(0, ("did not run",))[0]
        if why is not None:
            raise SystemExit(f"mutate: without a mutant: {why},"
                             f" see {OUT}/console.log0")

    def run(self, mutants, record):
        """All of @mutants; record(mutant, why or None, seconds) as they end."""
        nearest, groups, left = read_nearest(), {}, {}
        for mutant in mutants:
            for test in tests_of(mutant.place.source.path, nearest):
                groups.setdefault(test.options, {}).setdefault(
                    mutant.number, []).append(test)
            left[mutant.number] = mutant
        spent = dict.fromkeys(left, 0)
        for options, work in sorted(groups.items(), key=lambda group: len(group[0])):
            self.run_group(options, work, left, spent, record)
        for number, mutant in sorted(left.items()):
            record(mutant, None, spent[number])

    def run_group(self, options, work, left, spent, record):
        """The tests of one kind of guest."""
        tests = {t.name: t for number in work if number in left for t in work[number]}
        numbers = [number for number in sorted(work) if number in left]
        killers, lock = set(), threading.Lock()
        for test in tests.values():
            if test.kind == "userspace":
                self.compile_program(test)

        def settle(number, why, seconds, test):
            with lock:
                spent[number] += seconds
                if why:
                    killers.add(test)
                    record(left.pop(number), why, spent[number])

        def run_slot(slot):
            queue = numbers[slot::GUESTS]
            while queue:
                watch = self.boot(options, [
                    (number, work[number], not in_core(left[number].place.source.path))
                    for number in queue], settle, slot)
                if not watch.results:
                    raise SystemExit(f"mutate: no mutant ran, see {OUT}/console.log{slot}")
                queue = [number for number in queue if number not in watch.results]
                with lock:
                    for name, seconds in watch.seconds.items():
                        self.limits.setdefault(name, (4 * seconds + SPARE, load_now()))

        with concurrent.futures.ThreadPoolExecutor(GUESTS) as pool:
            for ended in [pool.submit(run_slot, slot) for slot in range(GUESTS)]:
                ended.result()
        if killers & set(tests):
            self.confirm(options, [tests[name] for name in killers & set(tests)])
