# SPDX-License-Identifier: GPL-2.0-only
"""Trees that change while they are read, and trees full of nonsense."""

import json
import os
import random
import re
import shutil
import threading

from tree import SETTINGS, STATS

ROUNDS = 150


def check(antstat, tree, *args):
    """Whatever is there: a documented status, and complete output."""
    status, out, err = antstat(tree, *args)
    assert status in (0, 1, 3, 4, 5), (args, status, out, err)
    assert re.fullmatch(r"(antstat: [\x20-\x7e]*\n)*", err), (args, err)
    if "-j" in args:
        for line in out.splitlines():
            json.loads(line)
    else:
        assert re.fullmatch(r"[\x20-\x7e\n]*", out), (args, out)
    return status, out, err


def come(tree, name, gone):
    """A pool appears with all its files, which are those of another one."""
    os.mkdir(gone)
    os.mkdir(f"{gone}/stats")
    for file in [*SETTINGS, *(f"stats/{stat}" for stat in STATS)]:
        os.link(tree.at(f"stays/{file}"), f"{gone}/{file}")
    os.rename(gone, tree.at(name))


def go(tree, name, gone):
    """It goes with all its files, and then loses them; its inode is not used again."""
    os.rename(tree.at(name), gone)
    os.unlink(f"{gone}/stats/reaped")
    shutil.rmtree(f"{gone}/stats")
    for file in SETTINGS:
        os.unlink(f"{gone}/{file}")


def churn(tree, done):
    """Pools come and go as a whole: no reader may see one with a file missing."""
    number = 0
    while not done.is_set():
        number += 1
        for name in ("pool1", "pool2"):
            gone = f"{tree.path}/{name}.{number}"
            if os.path.lexists(tree.at(name)):
                go(tree, name, gone)
            else:
                come(tree, name, gone)


def test_churn(antstat, tree):
    """pools that come and go while they are read."""
    tree.pool("stays", busy=3)
    done = threading.Event()
    thread = threading.Thread(target=churn, args=(tree, done))
    thread.start()
    said = set()
    try:
        for i in range(ROUNDS):
            args = ([], ["-j"], ["-s"], ["-p", "pool1"], ["-w", "pool2"],
                    ["set", "pool1", "nice", "1"])[i % 6]
            status, out, err = check(antstat, tree, *args)
            said.add(status)
            assert status == 0 or "pool" in args[1], (args, status, err)
            # no row of a pool that is half gone
            assert args[:1] == ["-w"] or " - " not in out, out
    finally:
        done.set()
        thread.join()
    assert said == {0, 4}, said


def nonsense(rng):
    """Some bytes that a file, or a name without slashes and zeros, may have."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randbytes(rng.randrange(1, 40))
    if kind == 1:
        return str(rng.getrandbits(rng.randrange(1, 70))).encode() + b"\n"
    if kind == 2:
        return rng.choice([b"max\n", b"open\n", b"-1\n", b"\n", b"", b"0\n", b"0"])
    if kind == 3:
        return rng.choice([b"9", b" ", b"\n", b"\xff"]) * rng.randrange(6000)
    return b"%d\n" % rng.randrange(100)


def plant(rng, tree):
    for pid in range(10 * rng.randrange(100, 999), 1 << 20)[:rng.randrange(4)]:
        name = re.sub(rb"[/\0\n]", b"x", nonsense(rng))[:60] or b"x"
        if os.path.lexists(tree.at(name)) or name in (b".", b".."):
            continue
        values = {key: nonsense(rng) for key in rng.sample(STATS + list(SETTINGS), 12)}
        if rng.randrange(2):
            tree.multi(os.fsdecode(name), rng.randrange(3))
        else:
            tree.pool(name, **values)
        tree.thread(pid, "ants/" + name.decode("latin-1"))
        if rng.randrange(4) == 0:
            (tree.path / f"proc/{pid}/stat").write_bytes(nonsense(rng))
        (tree.path / f"proc/{pid}/stack").write_bytes(nonsense(rng) + b"[ants]\n")


def test_nonsense(antstat, tree):
    """trees full of nonsense."""
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        plant(rng, tree)
        names = os.listdir(tree.ants) or ["none"]
        check(antstat, tree, *rng.choice([[], ["-s"], ["-j"], ["0.01", "2"], ["-st", "0.01", "2"],
                                          ["-j", "0.01", "2"], ["-w", rng.choice(names)],
                                          ["-j", "-w", rng.choice(names)]]))
        if seed % 3 == 0:
            tree.__init__(tree.path)
