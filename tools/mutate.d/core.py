# SPDX-License-Identifier: GPL-2.0-only
"""Runs mutants as programs of test/core: the fast ones of its tests first."""

import concurrent.futures
import os
import re
import resource
import signal
import subprocess
import time

from jobs import Job
from tree import CORE, OUT

# What is run. A mutant is given four times the CPU time that the unchanged sources
# need; time itself says nothing on a busy machine.
STEPS = [
    ("explore -b 0", ["explore", "-b", "0"]),
    ("load-asan", ["load-asan", "3000"]),
    ("explore -b 1", ["explore", "-b", "1", "-t", "20"]),
    ("load-asan, longer", ["load-asan", "40000", "8", "2"]),
    ("fuzz", ["fuzz", "-runs=1500", "-seed=1", "-max_len=256", "-verbosity=0",
              "-artifact_prefix=" + OUT + "/"]),
    ("explore by chance", ["explore", "-r", "-t", "20", "-n", "100"]),
]
# What takes minutes is left for those that survive the guests as well.
DEEP = [("explore -b 2", ["explore", "-b", "2", "-t", "4"])]
LEAST_CPU = 4
# A program of which nothing runs for so many seconds hangs.
HANGS_AFTER = 8
SANITIZERS = "hard_rss_limit_mb=3000:allocator_may_return_null=1"


def limited(cpu):
    return ["prlimit", f"--cpu={cpu}:{cpu + 1}", f"--fsize={16 << 20}", "--core=0"]


def threads_of(pid):
    """Is one of its threads running? And the ticks that all have used."""
    running, ticks = False, 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            running |= fields[0] in "RD"
            ticks += int(fields[11]) + int(fields[12])
    except (FileNotFoundError, ProcessLookupError):
        return True, 0
    return running, ticks


def wait_for(process):
    """Its status, or "time" if it hangs."""
    since, seen = time.monotonic(), 0
    while True:
        try:
            return process.wait(timeout=0.5 if time.monotonic() - since > 1 else 0.05)
        except subprocess.TimeoutExpired:
            running, ticks = threads_of(process.pid)
        if running or ticks > seen + 1:
            since, seen = time.monotonic(), ticks
        elif time.monotonic() - since > HANGS_AFTER:
            process.kill_all(signal.SIGKILL)
            process.wait()
            return "time"


def run_step(command, number, cpu):
    """Returns the status, or "time", what it said, and, if nothing else runs
    meanwhile, the CPU time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = os.path.join(OUT, f"core.said{number}")
    with open(said, "w", encoding="utf-8") as out, \
         Job([*limited(cpu), os.path.join(CORE, command[0]), *command[1:]], out, cwd=OUT,
             env={**os.environ, "ANTS_MUTANT": str(number),
                  "ASAN_OPTIONS": SANITIZERS}) as process:
        status = wait_for(process)
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        status = "time"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(said, encoding="utf-8", errors="replace") as out:
        text = out.read()
    os.remove(said)
    return status, text, (after.ru_utime + after.ru_stime -
                          before.ru_utime - before.ru_stime)


def reason(said, status):
    """The line of a program's output that says why it ended."""
    if status == "time":
        return "does not end"
    for pattern in (r"SUMMARY: \w+Sanitizer: (\S+)", r"runtime error: (.*)",
                    r"^(?!ok |INFO|#|replay: )\S.*", r"^replay: .*"):
        found = re.search(pattern, said, re.MULTILINE)
        if found:
            return found[found.lastindex or 0].strip()[:80]
    return f"status {status}"


class Core:
    """The programs, with the limits that the unchanged sources set."""

    def __init__(self, steps):
        self.steps = [step for step in steps
                      if os.path.exists(os.path.join(CORE, step[1][0]))]
        self.limits = {}

    def baseline(self):
        """What fails without a mutant says nothing about one."""
        for name, command in self.steps:
            status, said, cpu = run_step(command, 0, 600)
            if status != 0:
                raise SystemExit(f"mutate: {name} fails without a mutant:\n"
                                 + said[-2000:])
            self.limits[name] = int(max(4 * cpu, LEAST_CPU)) + 1
        return self.limits

    def run(self, mutants):
        """Judges as many at a time as there are CPUs. Yields each as it ends, with
        what judge() returns."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {pool.submit(self.judge, mutant.number): mutant for mutant in mutants}
            for job in concurrent.futures.as_completed(jobs):
                yield jobs[job], *job.result()

    def judge(self, number):
        """What killed it, or None; and after how many seconds."""
        start = time.monotonic()
        for name, command in self.steps:
            status, said, _ = run_step(command, number, self.limits[name])
            if status != 0:
                return f"{name}: {reason(said, status)}", time.monotonic() - start
        return None, time.monotonic() - start
