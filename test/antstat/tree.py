# SPDX-License-Identifier: GPL-2.0-only
"""Made-up trees of /sys/kernel/ants and /proc, and antstat in them."""

import contextlib
import errno
import fcntl
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import termios

GAUGES = ["running", "idle", "busy", "pending", "waiting", "free", "peak_running",
          "peak_busy", "peak_pending", "peak_waiting"]
COUNTERS = ["completed", "cancelled", "submitted", "caller_runs", "rejected",
            "blocked", "spawned", "reaped", "spurious_wakeups", "stalled", "held_back",
            "faults", "lost", "dirty"]
STATS = GAUGES + COUNTERS
SETTINGS = {"state": "open", "capacity": 256, "queue_depth": 0, "max_blocking": 0,
            "min_workers": 0, "expiry_ms": 1000, "nonblocking": 0, "nice": 0,
            "sched": "normal", "stall_ms": 0, "max_faults": 16, "cpulist": "0-3"}
MULTI = {"state": "open", "capacity": 256, "queue_depth": 0, "nice": 0,
         "sched": "normal", "cpulist": "0-3", "nr_shards": 2, "strategy": "round_robin"}

KTHREAD = 0x208040
# Longer than any answer takes; only a failure waits for it.
DEADLINE = 60


def frame(function):
    """A line of /proc/<pid>/stack; the module is behind a space."""
    name, space, module = function.partition(" ")
    return f"[<0>] {name}+0x1e/0x40{space}{module}\n"


class Tree:
    """A directory that stands for the root of a machine."""

    def __init__(self, path):
        shutil.rmtree(path, ignore_errors=True)
        self.path = pathlib.Path(path)
        self.ants = self.path / "sys/kernel/ants"
        self.ants.mkdir(parents=True)
        (self.path / "proc").mkdir()

    def at(self, name):
        """A path below the pools; names are bytes, or text."""
        return os.path.join(os.fsencode(self.ants), os.fsencode(name))

    def write(self, name, content):
        """Content that is no bytes gets the newline that sysfs adds."""
        if not isinstance(content, bytes):
            content = b"%s\n" % str(content).encode()
        path = self.at(name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(content)

    def pool(self, name, settings=None, **values):
        """A pool with all its files; "busy" and so on are those of stats/."""
        name = os.fsencode(name)
        os.makedirs(self.at(name + b"/stats"))
        files = dict(SETTINGS if settings is None else settings)
        files.update({f"stats/{stat}": 0 for stat in STATS})
        for key, value in values.items():
            files[f"stats/{key}" if key in STATS else key] = value
        for file, value in files.items():
            self.write(name + b"/" + file.encode(), value)

    def multi(self, name, shards, **values):
        self.pool(name, MULTI, nr_shards=shards, **values)
        for i in range(shards):
            self.pool(f"{name}/shard{i}", capacity=128)

    def thread(self, pid, comm, stack=None, state="S", flags=KTHREAD, ticks=0):
        path = self.path / "proc" / str(pid)
        path.mkdir()
        fields = [pid, f"({comm})", state, 2, 0, 0, 0, -1, flags, 0, 0, 0, 0, ticks, 0]
        fields += [0] * (39 - len(fields) - 1) + [3, 0, 0]
        (path / "comm").write_text(comm + "\n")
        (path / "stat").write_text(" ".join(map(str, fields)) + "\n")
        if stack is not None:
            (path / "stack").write_text("".join(map(frame, stack)))


class Antstat:
    """The program, in one build of it."""

    def __init__(self, binary):
        self.binary = str(binary)

    def command(self, tree, *args):
        root = [] if tree is None else ["--root", str(tree.path)]
        return [self.binary, *root, *args]

    def __call__(self, tree, *args, drop=False):
        """Status, stdout and stderr; without root's powers if asked for."""
        command = self.command(tree, *args)
        if drop and os.geteuid() == 0:
            command = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *command]
        done = subprocess.run(command, capture_output=True, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, check=False)
        return (done.returncode, done.stdout.decode("ascii" if "-j" not in args else "utf-8"),
                done.stderr.decode("ascii"))

    def start(self, tree, *args):
        return subprocess.Popen(self.command(tree, *args), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)


def too_late(*_):
    raise RuntimeError(f"nothing came in {DEADLINE} s")


@contextlib.contextmanager
def deadline():
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(DEADLINE)
    try:
        yield
    finally:
        signal.alarm(0)


class NoTerminal(Exception):
    """A chroot without devpts, for one, can show no screen."""


class Terminal:
    """antstat in a terminal of that size, with keys and signals."""

    def __init__(self, antstat, tree, *args, rows=24, columns=80, wrap=lambda command: command):
        try:
            self.master, slave = pty.openpty()
        except OSError as error:
            raise NoTerminal("this machine has no pseudo-terminals") from error
        self.output = ""
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.master)
        self.process = subprocess.Popen(
            wrap(antstat.command(tree, *args)), stdin=slave, stdout=slave, stderr=slave,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        os.close(slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, text):
        """What was printed since the last time up to that, if it comes."""
        with deadline():
            while text not in self.output:
                self.output += os.read(self.master, 4096).decode("ascii")
        end = self.output.index(text) + len(text)
        output, self.output = self.output[:end], self.output[end:]
        return output

    def read_frame(self):
        return self.read_until("\033[J")

    def press(self, key):
        os.write(self.master, key.encode())

    def end(self):
        """The exit status, when all output was read and the terminal compared."""
        with deadline():
            try:
                while data := os.read(self.master, 4096):
                    self.output += data.decode("ascii")
            except OSError as error:
                # the other end is closed
                if error.errno != errno.EIO:
                    raise
            status = self.process.wait()
        after = termios.tcgetattr(self.master)
        os.close(self.master)
        assert after == self.before, "the terminal is as it was"
        return status
