#!/usr/bin/env drgn
# SPDX-License-Identifier: GPL-2.0-only
"""
The pools of a kernel that has crashed or hangs, from a core of it, and their
workers, waiters and pending tasks as in /sys/kernel/debug/ants/.

    drgn -c CORE -s vmlinux -s ants.ko -s CLIENT.ko tools/ants_dump.py [POOL...]

All of them with debug information. Without that of a client its functions are
addresses. Idle workers and waiters have an age, in ticks of the kernel. A kernel
that went on while the core was made may have changed meanwhile.
"""

import sys
from itertools import islice

from drgn import FaultError, cast
from drgn.helpers.linux.list import list_for_each_entry

# As in kernel/core/pool.h and include/linux/ants_pool.h.
DETACHED = 8
UNLIMITED = 0xffffffff
# debugfs shows no more; and a list that is damaged is not followed for ever.
MOST = 1024


def text(chars):
    """The bytes of a string. A program can give itself any name."""
    return chars.string_().decode(errors="replace").encode("unicode_escape").decode()


def name_of(function):
    """The name of the function at an address, as far as it is known."""
    address = cast("unsigned long", function).value_()
    try:
        return prog.symbol(address).name
    except LookupError:
        return hex(address)


def task_function(function, data):
    """The name of the client's function in a task."""
    name = name_of(function)
    if name == "ants_work_run":
        return name_of(cast("struct ants_work *", data).fn)
    return name


def entries(what, list_head, member):
    return islice(list_for_each_entry(what, list_head.address_of_(), member), MOST)


def by_priority(pool):
    """The lists of pending tasks and of waiters, by the names of their priorities."""
    return (("high", pool.urgent.list, pool.waiters.fifo[1]),
            ("normal", pool.pending, pool.waiters.fifo[0]))


def age(since):
    """In ticks. The debug information of "jiffies" does not say where it is."""
    return cast("unsigned long", prog["jiffies_64"] - since).value_()


def worker_line(worker):
    state = worker.state.format_(type_name=False).replace("ANTS_", "").lower()
    function = "-"
    if worker.fn and worker.tag & DETACHED:
        function = name_of(worker.func_addr)
    elif worker.fn:
        function = task_function(worker.fn, worker.data)
    if worker.depth:
        innermost = worker.inner[worker.depth - 1]
        function += " > " + name_of(innermost.func_addr)
    ticks = age(worker.idle_since) if state == "idle" else "-"
    return f"worker   {worker.task.pid.value_():7}  {state:7}  {ticks:>10}  {function}"


def waiter_line(waiter, priority):
    if waiter.work:
        function = name_of(waiter.work.fn)
    else:
        function = task_function(waiter.fn, waiter.data)
    return (f"waiter   {waiter.task.pid.value_():7}  {priority:7}  {age(waiter.since):>10}"
            f"  {function}  ({text(waiter.task.comm)})")


def pending_line(slot, priority):
    return f"pending  {'-':>7}  {priority:7}  {'-':>10}  {task_function(slot.fn, slot.data)}"


def pool_line(pool):
    capacity = pool.limits.capacity.value_()
    numbers = {
        "capacity": "max" if capacity == UNLIMITED else capacity,
        "running": pool.workers.nr.value_(),
        "idle": pool.workers.nr_idle.value_(),
        "busy": pool.nr_busy.value_(),
        "pending": pool.nr_pending.value_(),
        "waiting": pool.space.nr_waiting.value_(),
    }
    return "  ".join([text(pool.name), "closed" if pool.released else "open"] +
                     [f"{key}={value}" for key, value in numbers.items()])


def lines(pool):
    yield pool_line(pool)
    for worker in entries("struct ants_worker", pool.workers.list, "member"):
        yield worker_line(worker)
    for priority, _, waiters in by_priority(pool):
        for waiter in entries("struct ants_waiter", waiters, "node"):
            yield waiter_line(waiter, priority)
    for priority, slots, _ in by_priority(pool):
        for slot in entries("struct ants_slot", slots, "node"):
            yield pending_line(slot, priority)


def dump(pool):
    try:
        for line in lines(pool):
            print(line)
    except FaultError as error:
        print(f"the rest cannot be read: {error}")


def main(wanted):
    found = {text(pool.name): pool for pool in
             entries("struct ants_pool", prog["ants_pools"], "registered")}
    missing = [name for name in wanted if name not in found]
    if missing:
        sys.exit(f"no pool {', '.join(missing)}; there are: {', '.join(found)}")
    for name in wanted or found:
        dump(found[name])


main(sys.argv[1:])
