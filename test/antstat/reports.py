# SPDX-License-Identifier: GPL-2.0-only
"""Tables, reports and JSON."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from tree import COUNTERS, SETTINGS, STATS, deadline

HOSTILE = [b'quote"', b"back\\slash", b"new\nline", b"\x1b[2J\x1b[31mred", b"tab\t",
           "größe".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80",
           b"x" * 63, b"%s%n", b" ", b"-w", b"\x7f", b".hidden", "\x9b31m red".encode()]

# What files may hold that is no number.
ODD = {"empty": b"", "newline": b"\n", "cut": b"12", "signed": b"-1\n", "plus": b"+1\n",
       "space": b" 1\n", "behind": b"1 \n", "hex": b"0x10\n", "two": b"1\n2\n",
       "zero": b"1\0\n", "long": b"1" * 5000 + b"\n", "page": b"1" * 4096,
       "word": b"many\n", "exp": b"1e3\n", "above": b"18446744073709551616\n",
       "bound": b"max\n"}


def good(answer):
    status, out, err = answer
    assert (status, err) == (0, ""), answer
    return out


def rows(table):
    """A table as a list of dictionaries."""
    head, *lines = table.splitlines()
    return [dict(zip(head.split(), line.split(), strict=True)) for line in lines]


def read_rows(process):
    """The rows of reports, one by one, as long as reports come."""
    names = process.stdout.readline().split()
    for line in process.stdout:
        if not line.startswith("pool "):
            yield dict(zip(names, line.split(), strict=True))


@contextlib.contextmanager
def endless(process):
    """Reports without an end, of which a test reads what it waits for."""
    try:
        with deadline():
            yield process
    finally:
        process.kill()
        process.wait()


def sleeps(process):
    """Was it stopped in clock_nanosleep(), and not while it reads files?"""
    number = "230" if os.uname().machine == "x86_64" else "115"
    call = pathlib.Path(f"/proc/{process.pid}/syscall").read_text(encoding="ascii")
    return call.split()[0] == number


@contextlib.contextmanager
def stopped(process):
    """Between two of its reports."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        if sleeps(process):
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    yield
    process.send_signal(signal.SIGCONT)


def pools(antstat, tree):
    return {pool["name"]: pool for pool in json.loads(good(antstat(tree, "-j")))["pools"]}


def test_table(antstat, tree):
    """a table of all pools, by name."""
    tree.pool("echo", capacity=64, running=64, busy=60, idle=4, waiting=1, pending=3,
              completed=250, rejected=7)
    tree.pool("disk", capacity="max", state="draining")
    assert good(antstat(tree)) == (
        "pool  state     capacity  running  idle  busy  pending  waiting  completed  rejected\n"
        "disk  draining       max        0     0     0        0        0          0         0\n"
        "echo  open            64       64     4    60        3        1        250         7\n")


def test_only_pools(antstat, tree):
    """what is no directory is no pool."""
    tree.pool("echo")
    tree.write("file", 1)
    assert [row["pool"] for row in rows(good(antstat(tree)))] == ["echo"]


def test_no_pools(antstat, tree):
    """no pool at all."""
    assert len(good(antstat(tree)).splitlines()) == 1
    assert pools(antstat, tree) == {}


def test_shards(antstat, tree):
    """shards are rows if they are asked for, in the order of their numbers."""
    tree.multi("client", 12, busy=5)
    assert [row["pool"] for row in rows(good(antstat(tree)))] == ["client"]
    names = [row["pool"] for row in rows(good(antstat(tree, "--shards")))]
    assert names == ["client"] + [f"client/shard{i}" for i in range(12)]
    one = rows(good(antstat(tree, "--pool=client/shard11")))
    assert [row["pool"] for row in one] == ["client/shard11"]
    assert len(pools(antstat, tree)["client"]["shards"]) == 12


def test_shards_of_shards(antstat, tree):
    """a tree that leads back to itself ends."""
    tree.multi("client", 0)
    tree.write("client/nr_shards", 1 << 40)
    os.symlink(".", tree.at("client/shard0"))
    assert len(rows(good(antstat(tree, "-s")))) == 2


def test_chosen_pools(antstat, tree):
    """pools that are asked for, in that order."""
    for name in ("a", "b", "c"):
        tree.pool(name)
    names = [row["pool"] for row in rows(good(antstat(tree, "-p", "c", "-p", "a")))]
    assert names == ["c", "a"]


def test_json(antstat, tree):
    """JSON says what the files say."""
    stats = {stat: 10 ** (i % 19) + i for i, stat in enumerate(STATS)}
    stats["free"] = "max"
    tree.pool("echo", **stats, capacity=64, nice=-20, max_blocking=5, cpulist="0-3,8")
    tree.multi("client", 2)
    assert good(antstat(tree, "--json")).count("\n") == 1
    found = pools(antstat, tree)
    assert found["echo"] == {"name": "echo", **SETTINGS, "capacity": 64, "nice": -20,
                             "max_blocking": 5, "cpulist": "0-3,8", "stats": stats}
    assert found["client"]["strategy"] == "round_robin"
    assert found["client"]["nr_shards"] == 2
    assert "min_workers" not in found["client"]
    assert [shard["name"] for shard in found["client"]["shards"]] == \
        ["client/shard0", "client/shard1"]


def test_hostile_names(antstat, tree):
    """names cannot act on a terminal, nor break a line or JSON."""
    for name in HOSTILE:
        tree.pool(name)
    out = good(antstat(tree))
    assert len(out.splitlines()) == len(HOSTILE) + 1
    assert re.fullmatch(r"[\x20-\x7e\n]*", out), out
    assert r"\x1b[2J\x1b[31mred " in out and r"back\x5cslash " in out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", good(antstat(tree, "-j")))
    found = {pool.encode("utf-8", "surrogatepass") for pool in pools(antstat, tree)}
    for name in HOSTILE:
        assert name.decode("utf-8", "replace").encode() in found or b"\xed" in name, name
    for name in HOSTILE:
        assert good(antstat(tree, "-p", os.fsdecode(name)))


def test_huge_numbers(antstat, tree):
    """the largest numbers there can be, in columns that hold them."""
    most = (1 << 64) - 1
    tree.pool("echo", **{stat: most for stat in STATS}, capacity=most)
    tree.pool("b")
    lines = good(antstat(tree)).splitlines()
    assert len({len(line) for line in lines}) == 1, lines
    assert rows("\n".join(lines))[1]["completed"] == str(most)
    assert pools(antstat, tree)["echo"]["stats"]["busy"] == most


def test_odd_numbers(antstat, tree):
    """what is no number is not taken for one."""
    for name, content in ODD.items():
        tree.pool(name, busy=content)
    assert [row["busy"] for row in rows(good(antstat(tree)))] == ["?"] * len(ODD)
    assert all(pool["stats"]["busy"] is None for pool in pools(antstat, tree).values())


def test_odd_texts(antstat, tree):
    """what is no line of text is not taken for one, and no text acts."""
    tree.pool("cut", state=b"open")
    tree.pool("bad", state=b"\x1b[2J\n", cpulist=b'"\\\n')
    tree.pool("zero", state=b"open\0\n")
    states = [row["state"] for row in rows(good(antstat(tree)))]
    assert states == [r"\x1b[2J", "?", "?"]
    assert pools(antstat, tree)["bad"]["cpulist"] == '"\\'


def test_odd_files(antstat, tree):
    """files that are something else do not stop it."""
    tree.pool("echo")
    for name in ("busy", "idle", "running"):
        os.unlink(tree.at(f"echo/stats/{name}"))
    os.mkdir(tree.at("echo/stats/busy"))
    os.mkfifo(tree.at("echo/stats/idle"))
    os.symlink("running", tree.at("echo/stats/running"))
    row = rows(good(antstat(tree)))[0]
    assert (row["busy"], row["idle"], row["running"]) == ("?", "?", "?")


def test_missing_files(antstat, tree):
    """files that a pool does not have."""
    tree.pool("echo")
    os.unlink(tree.at("echo/stats/busy"))
    tree.ants.joinpath("empty").mkdir()
    first, second = rows(good(antstat(tree)))
    assert (first["busy"], first["idle"]) == ("-", "0")
    assert set(second.values()) == {"empty", "-"}
    found = pools(antstat, tree)
    assert "busy" not in found["echo"]["stats"]
    assert found["empty"] == {"name": "empty", "stats": {}}


def test_vanished(antstat, tree):
    """a pool that goes away before it is opened is named."""
    tree.pool("echo")
    os.symlink("nowhere", tree.at("gone"))
    status, out, err = antstat(tree)
    assert status == 0 and [row["pool"] for row in rows(out)] == ["echo"]
    assert err == "antstat: pool gone went away while it was read\n"
    status, out, err = antstat(tree, "-p", "gone")
    assert (status, out, err) == (4, "", "antstat: there is no pool gone\n")


def test_cannot_open(antstat, tree):
    """an error that does not say that there is no pool."""
    os.symlink("loop", tree.at("loop"))
    for args in (["-p", "loop"], ["-w", "loop"], ["set", "loop", "nice", "1"]):
        status, out, err = antstat(tree, *args)
        assert (status, out) == (1, "") and "pool loop: Too many levels" in err, (args, err)
        assert "(ELOOP)" in err
    tree.write("file", 1)
    for name in ("file", "x" * 300):
        assert antstat(tree, "-p", name)[0] == antstat(tree, "set", name, "nice", "1")[0] == 4


def test_not_loaded(antstat, tree):
    """ants is not loaded, sysfs is not there."""
    os.rmdir(tree.ants)
    for args in ([], ["1"], ["-j"], ["-w", "echo"], ["top"], ["set", "echo", "nice", "1"]):
        status, out, err = antstat(tree, *args)
        assert (status, out) == (3, "") and "ants is not loaded: there is no" in err, err
        assert '"modprobe ants" loads it' in err
    os.rmdir(tree.ants.parent)
    status, _, err = antstat(tree)
    assert status == 1 and "is sysfs mounted?" in err


def test_denied(antstat, tree):
    """what may not be read is said."""
    tree.pool("echo")
    tree.pool("other", busy=5)
    os.chmod(tree.at("echo/stats/busy"), 0)
    status, out, _ = antstat(tree, drop=True)
    assert status == 0 and [row["busy"] for row in rows(out)] == ["?", "5"]
    os.chmod(tree.at("echo"), 0)
    status, out, err = antstat(tree, drop=True)
    assert status == 5 and [row["pool"] for row in rows(out)] == ["other"]
    assert err == "antstat: cannot read pool echo: Permission denied (EACCES)\n"
    status, out, err = antstat(tree, "0.01", "2", drop=True)
    assert status == 5 and [row["pool"] for row in rows(out)] == ["other"] * 2
    status, out, err = antstat(tree, "-p", "echo", drop=True)
    assert status == 5 and "you may not read pool echo" in err
    os.chmod(tree.ants, 0)
    status, out, err = antstat(tree, drop=True)
    os.chmod(tree.ants, 0o755)
    os.chmod(tree.at("echo"), 0o755)
    assert (status, out) == (5, "") and "you may not read" in err


def test_reports(antstat, tree):
    """reports at intervals, the first one without rates."""
    tree.pool("echo")
    tree.pool("other")
    out = rows(good(antstat(tree, "0.05", "3")))
    assert [row["pool"] for row in out] == ["echo", "other"] * 3
    assert [row["done/s"] for row in out] == ["-", "-", "0", "0", "0", "0"]


def test_options_anywhere(antstat, tree):
    """options may be behind the interval, which may begin with a point."""
    tree.pool("echo")
    assert len(good(antstat(tree, ".02", "2", "-j")).splitlines()) == 2
    assert len(good(antstat(tree, "0.02", "--pool=echo", "2", "-t")).splitlines()) == 3


def test_rates(antstat, tree):
    """rates are what happened in a second."""
    tree.pool("echo", completed=0)
    rates = []
    with endless(antstat.start(tree, "0.1")) as process:
        found = read_rows(process)
        next(found)
        # Less than a second between two reports is rare on a busy machine only.
        while not any(301 < rate < 6000 for rate in rates):
            with stopped(process):
                tree.write("echo/stats/completed", 300 * len(rates) + 300)
                tree.write("echo/stats/spawned", 2 * len(rates) + 2)
            row = next(row for row in found if row["spawn/s"] != "0")
            rates.append(float(row["done/s"]))
            assert abs(rates[-1] / float(row["spawn/s"]) - 150) < 10, row


def test_falling_counters(antstat, tree):
    """a counter that falls, and a pool that was made again, have no rate."""
    tree.pool("fell", completed=1000)
    tree.pool("made")
    with endless(antstat.start(tree, "0.1")) as process:
        found = read_rows(process)
        assert [next(found)["done/s"] for _ in range(4)] == ["-", "-", "0", "0"]
        with stopped(process):
            tree.write("fell/stats/completed", 10)
            os.rename(tree.at("made"), tree.at("old"))
            tree.pool("made", completed=50)
            shutil.rmtree(tree.at("old"))
        changed = [row for row, _ in zip(found, range(40)) if row["done/s"] != "0"]
    assert [(row["pool"], row["done/s"]) for row in changed] == [("fell", "-"), ("made", "-")]


def test_pool_goes(antstat, tree):
    """a pool that goes away between reports is named, and ends its own."""
    tree.pool("echo")
    tree.pool("other")
    every, alone = antstat.start(tree, "0.1"), antstat.start(tree, "-p", "echo", "0.1")
    with endless(every):
        found = read_rows(every)
        next(found)
        next(read_rows(alone))
        with stopped(every), stopped(alone):
            os.rename(tree.at("echo"), tree.path / "echo")
        _, err = alone.communicate(timeout=60)
        assert (alone.returncode, err) == (4, "antstat: pool echo is gone\n"), err
        while [next(found)["pool"] for _ in range(2)] != ["other"] * 2:
            pass
        every.kill()
        _, err = every.communicate()
    assert err == "antstat: pool echo is gone\n", err


def test_ants_goes(antstat, tree):
    """ants is unloaded between reports."""
    tree.pool("echo")
    process = antstat.start(tree, "0.1")
    process.stdout.readline()
    with stopped(process):
        os.rename(tree.ants, tree.path / "ants")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "ants is not loaded any more: " in err, err


def test_heads_again(antstat, tree):
    """the names of the columns come again, and columns stay as wide."""
    for i in range(9):
        tree.pool(f"pool{i}")
    lines = good(antstat(tree, "0.01", "10")).splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("pool ")]
    assert heads == [0, 19, 38, 57, 76], heads
    assert len({len(line) for line in lines}) == 1


def test_time(antstat, tree):
    """the time of day before each row."""
    tree.pool("echo")
    head, row = good(antstat(tree, "-t", "1", "1")).splitlines()
    assert head.startswith("time      pool") and re.match(r"\d\d:\d\d:\d\d  echo ", row)


def test_json_reports(antstat, tree):
    """JSON reports are a document a line."""
    tree.pool("echo")
    lines = good(antstat(tree, "-j", "0.01", "5")).splitlines()
    times = [json.loads(line)["time"] for line in lines]
    assert len(times) == 5 and times == sorted(times) and times[0] < times[4]


def test_late_reports(antstat, tree):
    """reports that were missed are not made up for."""
    tree.pool("echo")
    with endless(antstat.start(tree, "-j", "0.1")) as process:
        times = (json.loads(line)["time"] for line in process.stdout)
        before = next(times)
        with stopped(process):
            time.sleep(1)
        after = [next(at for at in times if at - before > 0.9)]
        after += [next(times) for _ in range(8)]
    assert after[-1] - after[0] >= 0.65, after


def test_cannot_write(antstat, tree):
    """output that cannot be written is an error."""
    tree.pool("echo")
    for args in ([], ["-j"], ["1"], ["--help"], ["--version"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(antstat.command(tree, *args), stdout=full, timeout=60,
                                  stderr=subprocess.PIPE, check=False, text=True)
        assert done.returncode == 1 and "cannot write the output" in done.stderr, done


def test_counters_order(antstat, tree):
    """what has ended is in front of what was submitted."""
    tree.pool("echo")
    keys = list(pools(antstat, tree)["echo"]["stats"])
    assert keys.index("completed") < keys.index("submitted")
    assert keys.index("cancelled") < keys.index("submitted")
    assert set(COUNTERS) < set(keys)
