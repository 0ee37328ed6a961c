# SPDX-License-Identifier: GPL-2.0-only
"""antstat top, in a terminal."""

import os
import re
import shlex
import signal

from tree import Terminal

ENTER, LEAVE = "\033[?1049h", "\033[?1049l"


def frames(output):
    """What was on the screen, each time, without attributes."""
    plain = re.sub(r"\033\[(\d*m|K)", "", output).replace("\r", "")
    return [frame.split("\033")[0].splitlines() for frame in plain.split("\033[H")[1:]]


def shown(antstat, tree, *args, **size):
    terminal = Terminal(antstat, tree, "top", "0.02", "2", *args, **size)
    status = terminal.end()
    assert status == 0 and terminal.output.startswith(ENTER), terminal.output
    assert terminal.output.endswith(LEAVE), terminal.output
    return frames(terminal.output)[-1]


def test_needs_terminal(antstat, tree):
    """top needs a terminal."""
    tree.pool("echo")
    status, out, err = antstat(tree, "top")
    assert (status, out) == (1, "") and "top needs a terminal" in err


def test_order(antstat, tree):
    """the busiest pool is the first one."""
    tree.pool("half", capacity=8, busy=4)
    tree.pool("full", capacity=2, busy=2)
    tree.pool("waits", capacity=4, busy=4, waiting=3)
    tree.pool("bound", capacity="max", busy=100)
    tree.pool("idle", capacity=4, idle=4)
    frame = shown(antstat, tree, columns=100)
    assert [line.split()[0] for line in frame[3:]] == \
        ["waits", "full", "half", "bound", "idle"], frame
    assert "5 pools" in frame[0] and "110 busy, 3 waiting" in frame[0]
    assert re.search(r"\[#+\] +4/4 ", frame[3])
    assert re.search(r"\[(#+)(\.+)\] +4/8 ", frame[5])
    assert re.search(r"\[ +\] +100/max ", frame[6])
    assert re.search(r"\[=+\] +0/4 ", frame[7])


def bar(line):
    return re.search(r"\[(.*?)\]", line)[1]


def test_bars(antstat, tree):
    """the bars have the right length, and one task is seen."""
    tree.pool("a", capacity=100, busy=50, idle=25)
    tree.pool("b", capacity=100000, busy=1)
    tree.pool("c", capacity=4, busy=(1 << 64) - 1, idle=(1 << 64) - 1)
    tree.pool("d", capacity=100)
    lines = {line[0]: bar(line) for line in shown(antstat, tree, columns=120)[3:]}
    width = len(lines["a"])
    assert width >= 40 and abs(lines["a"].count("#") - width / 2) <= 1
    assert abs(lines["a"].count("=") - width / 4) <= 1
    assert lines["b"] == "#" + "." * (width - 1)
    assert lines["c"] == "#" * width and lines["d"] == "." * width


def test_sizes(antstat, tree):
    """it fits into a terminal of any size."""
    for i in range(30):
        tree.pool(f"a-pool-with-a-name-of-some-length-{i}", waiting=i)
    for rows, columns in ((24, 80), (5, 40), (60, 200), (4, 1), (0, 0)):
        frame = shown(antstat, tree, rows=rows, columns=columns)
        assert len(frame) <= max((rows or 24) - 1, 3)
        assert max(map(len, frame)) <= (columns or 80), frame


def test_hostile_names(antstat, tree):
    """names cannot act on the screen."""
    tree.pool(b"\x1b[2J\n", state=b"\x1b[1m\n")
    frame = shown(antstat, tree, columns=120)
    assert frame[3].startswith(r"\x1b[2J\x0a ") and frame[3].endswith(r"\x1b[1m")


def started(antstat, tree, **options):
    """A terminal with antstat top, and the first frame."""
    terminal = Terminal(antstat, tree, "top", "1000", **options)
    return terminal, terminal.read_frame()


def quits(terminal):
    """Does it end when it is told to?"""
    terminal.press("q")
    return terminal.end() == 0


def test_keys(antstat, tree):
    """q ends it, another key shows the pools again."""
    tree.pool("echo")
    terminal, _ = started(antstat, tree)
    tree.pool("another")
    terminal.press(" ")
    assert "another" in terminal.read_frame()
    assert quits(terminal) and terminal.output.endswith(LEAVE)


def test_signals(antstat, tree):
    """the terminal is given back when a signal ends it."""
    tree.pool("echo")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                   signal.SIGUSR1, signal.SIGALRM, signal.SIGPIPE):
        terminal, _ = started(antstat, tree)
        terminal.process.send_signal(number)
        assert terminal.end() == 0 and terminal.output.endswith(LEAVE)


def in_a_shell(command):
    return ["bash", "-mc", f"{shlex.join(command)}; echo has stopped; fg"]


def test_stop(antstat, tree):
    """it gives the terminal back while it is stopped."""
    tree.pool("echo")
    terminal, _ = started(antstat, tree, wrap=in_a_shell)
    terminal.press("\x1a")
    assert LEAVE in terminal.read_until("has stopped")
    assert ENTER in terminal.read_frame()
    assert quits(terminal)


def test_orphaned(antstat, tree):
    """it does not stop where no shell could continue it."""
    tree.pool("echo")
    terminal, _ = started(antstat, tree)
    terminal.process.send_signal(signal.SIGTSTP)
    output = terminal.read_frame()
    assert output.index(LEAVE) < output.index(ENTER)
    assert quits(terminal)


def unprivileged(command):
    setpriv = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    return [*setpriv, *command] if os.geteuid() == 0 else command


def test_message(antstat, tree):
    """what is said while the screen is there is on its last line."""
    tree.pool("echo")
    os.chmod(tree.at("echo"), 0)
    tree.pool("other")
    for rows, columns in ((24, 80), (5, 40), (24, 1)):
        terminal = Terminal(antstat, tree, "top", "0.02", "3", rows=rows, columns=columns,
                            wrap=unprivileged)
        assert terminal.end() == 5
        output = terminal.output
        assert output.count(ENTER) == output.count(LEAVE) == 1, output
        assert output.startswith(ENTER) and output.endswith(LEAVE), output
        said = "cannot read pool echo: Permission denied (EACCES)"[:columns - 1]
        seen = frames(output)
        assert len(seen) == 3 and (columns == 1 or all(frame[-1] == said for frame in seen)), seen
    os.chmod(tree.at("echo"), 0o755)


def test_nothing(antstat, tree):
    """a screen without pools."""
    assert "0 pools" in shown(antstat, tree)[0]


def test_resize(antstat, tree):
    """a new size of the terminal is answered at once."""
    tree.pool("echo")
    terminal, frame = started(antstat, tree, columns=80)
    narrow = bar(frames(frame)[0][3])
    terminal.resize(24, 120)
    wide = bar(frames(terminal.read_frame())[0][3])
    assert len(wide) > len(narrow)
    assert quits(terminal)


def test_gone(antstat, tree):
    """what is said at the end is not on the screen that goes away."""
    tree.pool("echo")
    terminal = Terminal(antstat, tree, "top", "0.05")
    terminal.read_frame()
    os.rename(tree.ants, tree.path / "ants")
    assert terminal.end() == 3
    assert "ants is not loaded any more" in terminal.output.split(LEAVE)[1]
