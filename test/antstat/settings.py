# SPDX-License-Identifier: GPL-2.0-only
"""The command "set", threads, and the command line."""

import json
import os
import pathlib
import re
import subprocess

from reports import good
from tree import KTHREAD

MAN_PAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/antstat/antstat.8"
OWN_STACK = ["worker_live [ants]", "ants_worker_fn [ants]",
             "kthread", "ret_from_fork"]

WRONG = [["frobnicate"], ["echo"], ["0"], ["0.001"], ["1e3"], ["nan"], ["inf"], ["86401"],
         ["1.2.3"], ["."], ["1", "0"], ["1", "-1"], ["1", "x"], ["1", "1.5"], ["1", "2", "3"],
         ["1", "99999999999999999999"], ["--frobnicate"], ["-p"], ["-p", ""], ["-p", ".."],
         ["-p", "../shard0"], ["-p", "./shard0"], ["-p", "./echo"], ["-p", "/"], ["-p", "/echo"],
         ["-p", "echo/stats"], ["-p", "echo/shard0/.."], ["-w", "."], ["-w", "echo", "1"], ["-w", "echo", "-p", "echo"],
         ["-s", "-w", "echo"], ["-t", "-w", "echo"], ["-s", "set", "echo", "nice", "1"],
         ["-t", "set", "echo", "nice", "1"], ["set", "echo", "nice", "1", "-j"],
         ["set", "echo", "nice", "1" * 4096],
         ["-j", "top"], ["top", "x"], ["top", "1", "2", "3"], ["set"], ["set", "echo"],
         ["set", "echo", "nice"], ["set", "echo", "nice", "1", "2"], ["set", "", "nice", "1"],
         ["set", "..", "nice", "1"], ["set", "echo", "", "1"], ["set", "echo", ".", "1"],
         ["set", "echo", "stats/busy", "1"], ["set", "echo", "../echo/nice", "1"],
         ["-j", "set", "echo", "nice", "1"], ["-p", "echo", "set", "echo", "nice", "1"],
         [""], ["-1"], ["0x10"]]


def test_wrong_usage(antstat, tree):
    """each mistake on the command line is one, and does nothing."""
    tree.pool("echo")
    for args in WRONG:
        status, out, err = antstat(tree, *args)
        assert (status, out) == (2, "") and err, (args, status, out, err)
    with open(tree.at("echo/nice"), encoding="ascii") as file:
        assert file.read() == "0\n"


def test_help(antstat, tree):
    """the help and the man page name the same options."""
    text = good(antstat(tree, "--help"))
    page = MAN_PAGE.read_text(encoding="ascii")
    assert antstat(tree, "-h") == antstat(tree, "--help")
    helped = set(re.findall(r"^  (-\w), --(\w+)", text, re.M))
    paged = set(re.findall(r"^\.It Fl (\w) .*?Fl Fl (\w+)", page, re.M))
    assert helped == {("-" + short, name) for short, name in paged} and len(helped) == 8
    assert max(map(len, text.splitlines())) <= 80


def test_version(antstat, tree):
    """the version is that of the module."""
    main = MAN_PAGE.parents[2] / "kernel/main.c"
    version = re.search(r'MODULE_VERSION\("(.*)"\)', main.read_text(encoding="ascii"))[1]
    assert good(antstat(tree, "-V")) == f"antstat {version}\n"


def test_set(antstat, tree):
    """a change says what was and what is."""
    tree.pool("echo", capacity=32)
    tree.multi("client", 1)
    assert good(antstat(tree, "set", "echo", "capacity", "64")) == "echo: capacity 32 -> 64\n"
    assert good(antstat(tree, "set", "client/shard0", "nice", "5")) == \
        "client/shard0: nice 0 -> 5\n"
    with open(tree.at("echo/capacity"), "rb") as file:
        assert file.read() == b"64\n"


def kernel_file(tree):
    """A file that a kernel answers for, as sysfs does."""
    os.unlink(tree.at("echo/nice"))
    os.symlink("/proc/self/oom_score_adj", tree.at("echo/nice"))


def test_set_asks_the_kernel(antstat, tree):
    """what the kernel made of the value, and what it refused."""
    tree.pool("echo")
    kernel_file(tree)
    first = good(antstat(tree, "set", "echo", "nice", "0x10"))
    before = first.split()[2]
    assert first == f"echo: nice {before} -> 16\n"
    status, out, err = antstat(tree, "set", "echo", "nice", "5000")
    assert (status, out) == (1, "")
    assert err == (f'antstat: echo: nice stays {before}: the kernel refused "5000": '
                   "Invalid argument (EINVAL): it takes -20 to 19, or 0 alone while sched is "
                   "not normal\n"), err
    status, _, err = antstat(tree, "set", "echo", "nice", "\x1b[2J")
    assert status == 1 and r'refused "\x1b[2J"' in err
    status, _, err = antstat(tree, "set", "echo", "nice", "")
    assert status == 1 and 'refused ""' in err


def test_set_fails(antstat, tree):
    """a write that fails for another reason."""
    tree.pool("echo")
    os.unlink(tree.at("echo/nice"))
    os.symlink("/dev/full", tree.at("echo/nice"))
    status, out, err = antstat(tree, "set", "echo", "nice", "5")
    assert (status, out) == (1, "") and "No space left on device (ENOSPC)" in err


def test_set_nothing(antstat, tree):
    """a pool or a file that is not there."""
    tree.pool("echo")
    status, out, err = antstat(tree, "set", "nobody", "nice", "5")
    assert (status, out, err) == (4, "", "antstat: there is no pool nobody\n")
    status, out, err = antstat(tree, "set", "echo", "capcity", "5")
    assert (status, out) == (2, "") and not os.path.exists(tree.at("echo/capcity"))
    assert "has no file capcity; these can be set: capacity cpulist " in err


def test_set_denied(antstat, tree):
    """a file that may not be written, for want of rights or at all."""
    tree.pool("echo")
    os.chmod(tree.at("echo/nice"), 0o444)
    status, out, err = antstat(tree, "set", "echo", "nice", "5", drop=True)
    assert (status, out) == (5, "") and "nice of pool echo is read-only (Permission" in err
    os.chmod(tree.at("echo/nice"), 0o464)
    status, out, err = antstat(tree, "set", "echo", "nice", "5", drop=True)
    assert (status, out) == (5, "") and "you may not write nice of pool echo" in err
    os.chmod(tree.at("echo"), 0)
    status, out, err = antstat(tree, "set", "echo", "nice", "5", drop=True)
    os.chmod(tree.at("echo"), 0o755)
    assert (status, out) == (5, "") and "you may not look at pool echo" in err


def threads(tree):
    tree.pool("echo", running=4, busy=2, idle=1)
    tree.thread(1, "init", flags=0)
    tree.thread(100, "ants/echo", OWN_STACK, "I")
    tree.thread(20, "ants/echo", ["wait_woken", "tcp_recvmsg", "echo_serve [ants_echo]",
                                  "call_it [ants]", *OWN_STACK], ticks=150)
    tree.thread(21, "ants/echo", ["ants_wait [ants]", "ants_submit [ants]",
                                  "relay [client]", *OWN_STACK], "D")
    tree.thread(22, "ants/echo", [], "R")
    tree.thread(23, "ants/echo", ["do_poll", "poll"], flags=0)
    tree.thread(24, "ants/echo2", OWN_STACK)
    tree.thread(25, "kworker/0:1", OWN_STACK)
    (tree.path / "proc/26").mkdir()


def test_workers(antstat, tree):
    """the threads of a pool and what they run, from their stacks."""
    threads(tree)
    status, out, err = antstat(tree, "-w", "echo")
    assert (status, err) == (0, "")
    assert out == (
        "pid  state     cpu  time  runs                    sleeps in\n"
        " 20  sleeping    3  1.50  echo_serve [ants_echo]  wait_woken\n"
        " 21  blocked     3  0.00  relay [client]          ants_wait [ants]\n"
        " 22  running     3  0.00  ?                       ?\n"
        "100  idle        3  0.00  -                       -\n"), out


def test_workers_json(antstat, tree):
    """the same in JSON."""
    threads(tree)
    found = json.loads(good(antstat(tree, "-j", "-w", "echo")))
    assert found["name"] == "echo"
    assert found["workers"][0] == {"pid": 20, "state": "sleeping", "cpu": 3, "time": 1.5,
                                   "runs": "echo_serve [ants_echo]", "sleeps_in": "wait_woken"}
    assert [worker["runs"] for worker in found["workers"]] == \
        ["echo_serve [ants_echo]", "relay [client]", None, ""]
    assert [worker["sleeps_in"] for worker in found["workers"]] == \
        ["wait_woken", "ants_wait [ants]", None, ""]


def pids(antstat, tree, pool):
    return [worker["pid"] for worker in
            json.loads(good(antstat(tree, "-j", "-w", pool)))["workers"]]


def test_workers_of_shards(antstat, tree):
    """the threads of a sharded pool, and of one shard."""
    tree.multi("client", 2)
    tree.pool("client2")
    for pid, comm in enumerate(["ants/client", "ants/client/0", "ants/client/1",
                                "ants/client2", "ants/client/10"], 10):
        tree.thread(pid, comm, OWN_STACK)
    assert pids(antstat, tree, "client") == [11, 12, 14]
    assert pids(antstat, tree, "client/shard1") == [12]
    assert pids(antstat, tree, "client2") == [13]


def test_workers_with_long_names(antstat, tree):
    """the kernel cuts the name of a thread."""
    tree.pool("x" * 63)
    tree.thread(10, ("ants/" + "x" * 63)[:63], OWN_STACK)
    tree.thread(11, "ants/" + "x" * 57, OWN_STACK)
    assert pids(antstat, tree, "x" * 63) == [10]


def test_workers_unseen(antstat, tree):
    """what cannot be seen of the threads is said."""
    tree.pool("echo", running=2)
    _, _, err = antstat(tree, "-w", "echo")
    assert "pool echo has 2 threads, and /proc shows none of them" in err
    tree.thread(10, "ants/echo", None)
    _, out, err = antstat(tree, "-w", "echo")
    assert "this kernel shows no stacks" in err and out.split()[-2:] == ["?", "?"]
    stack = tree.path / "proc/10/stack"
    stack.touch()
    stack.chmod(0)
    _, out, err = antstat(tree, "-w", "echo", drop=True)
    assert "is for root to see: /proc/10/stack: Permission denied (EACCES)" in err
    tree.thread(9, "ants/echo", OWN_STACK)
    _, out, err = antstat(tree, "-w", "echo", drop=True)
    assert "is for root to see: /proc/10/stack: " in err
    stack.unlink()
    _, out, err = antstat(tree, "-w", "echo")
    assert err == "", "one thread without a stack may have ended"
    assert antstat(tree, "-w", "nobody")[0] == 4


def test_workers_known(antstat, tree):
    """a thread runs nothing if its stack says so, not if that is empty or cut."""
    tree.pool("echo")
    below = ["serve [client]", *OWN_STACK]
    stacks = [OWN_STACK, [], ["kthread"], ["ants_submit [ants]", "f"] * 40 + below,
              ["a_function_with_a_name_so_long_that_a_page_is_too_short" * 2] * 50 + below]
    for pid, stack in enumerate(stacks, 10):
        tree.thread(pid, "ants/echo", stack)
    runs = [line.split()[4] for line in good(antstat(tree, "-w", "echo")).splitlines()[1:]]
    assert runs == ["-", "?", "?", "?", "?"]
    found = json.loads(good(antstat(tree, "-j", "-w", "echo")))["workers"]
    assert [worker["runs"] for worker in found] == ["", None, None, None, None]


def test_odd_stat(antstat, tree):
    """a line of /proc that is not what it should be."""
    tree.pool("echo")
    for pid, line in enumerate(["", ")", "(", f"1 (ants/echo) S 1 1 1 1 1 {KTHREAD}",
                                "1 (a) b) S", "x" * 4000, "1 ()) ) S " + "9" * 400], 10):
        tree.thread(pid, "ants/echo", OWN_STACK)
        (tree.path / f"proc/{pid}/stat").write_text(line)
    assert pids(antstat, tree, "echo") == [1]


def test_odd_stack(antstat, tree):
    """a stack that is none."""
    tree.pool("echo")
    stacks = ["", "\n", "x", "[ants]", " [ants]\n", "a\n[ants]\n", "[<0>] \n[<0>] a [ants]\n",
              "] +[\n] [ants]", "\n" * 100, "a [ants]\n" * 100]
    for pid, stack in enumerate(stacks, 10):
        tree.thread(pid, "ants/echo")
        (tree.path / f"proc/{pid}/stack").write_text(stack)
    found = json.loads(good(antstat(tree, "-j", "-w", "echo")))["workers"]
    assert [worker["runs"] for worker in found] == \
        [None, None, None, "", "", "a", "", " [", None, None], found


def test_cross_compiler(_, tree):
    """CROSS_COMPILE names the compiler, and another one builds it again."""
    binary = tree.path / "antstat"
    environ = {key: value for key, value in os.environ.items() if key != "CC"}
    for prefix in ("one-", "two-"):
        compiler = tree.path / f"{prefix}gcc"
        compiler.write_text(f"#!/bin/sh\necho {prefix} >{binary}\n", encoding="ascii")
        compiler.chmod(0o755)
        subprocess.run(["make", "-s", "-C", MAN_PAGE.parents[2], "antstat", f"ANTSTAT={binary}",
                        f"CROSS_COMPILE={tree.path}/{prefix}"], env=environ, check=True)
        assert binary.read_text(encoding="ascii") == f"{prefix}\n"
