# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmarks must show, and whether they do."""

from results import PEER, quantile

DEFAULT, BATCH, LOCAL = "ants_submit", "ants_throughput", "ants_multi_local"
COST = "instructions"

# subject, capacities, queue_depth; at most on 6.1, on 7.3
TINY_TASK = (
    (BATCH, (256, 1024), 0, 230, 230),
    (DEFAULT, (256, 1024), 0, 400, 270),
    (BATCH, (1, 4, 16), 256, 230, 230),
    (DEFAULT, (1, 4, 16), 256, 400, 270),
    (BATCH, (16,), 0, 560, 830),
    (DEFAULT, (16,), 0, 800, 960),
)
# capacity, queue_depth; at least so many times the peer's items a second
TINY_TASK_SMP = (
    (256, 0, 1.0, 1.0),
    (16, 256, 1.0, 1.0),
    (16, 0, 0.4, 0.9),
)
# On stock kernels: capacity, queue_depth, and at most so many times the best
# workqueue of the same boot; more than one means that filling and draining may cost
# two switches
STOCK_TINY_TASK = ((256, 0, 0.45), (16, 256, 0.45), (16, 0, 1.0), (4, 0, 1.5))
ROUND_TRIP = (0.92, 0.99)
# subject, and at least so many times the items a second of the best scope
STOCK_CONTENTION = ((DEFAULT, 0.8), (LOCAL, 1.0))
# What is done with a pool; at most so many times what a workqueue with a directory in
# sysfs takes in the same boot. A sharded pool may take that for each of its shards.
LIFE = (("create", 2), ("destroy", 2), ("whole", 3))
LIFE_PEER, LIFE_SHARDS = "wq_sysfs", 4
# threads of pool and workqueue; queue_depth, without which only the workqueue has a
# queue; unit; whether the threads of the pool exist before; at most so many times the
# workqueue's figure, on 6.1 and on 7.3
EQUAL_WIDTHS = (
    (512, 0, COST, "warm", 1.1, 1.1),
    (512, 20000, COST, "warm", 1.1, 1.1),
    (2048, 0, "ms", "warm", None, 0.8),
    (2048, 20000, "ms", "warm", None, 0.8),
    (2048, 0, "ms", "cold", None, 1.0),
)
# start, load; at most so many times the peer's time
RAMP = (("cold", "none", 0.75), ("cold", "normal", 0.4), ("warm", "none", 0.9))
# jiffies of the kernels that are measured, in microseconds
TICK = 4000
# capacity, queue_depth; at most so many lines of the pool, and atomic instructions
LINES = ((256, 0), (16, 256))
LINES_WRITTEN, ATOMICS = 4, 4
SIZES = {"worker": 256, "slot": 48, "pool": 1024}


def describe(subject, params):
    return " ".join([subject] + [f"{key}={value}" for key, value in params.items()])


class Target:
    """One line of the list; a figure of None was not measured."""

    def __init__(self, bench, what, figure, limit, unit="", at_least=False):
        self.bench, self.what, self.unit = bench, what, unit
        self.figure, self.limit, self.at_least = figure, limit, at_least

    @property
    def met(self):
        if self.figure is None or self.limit is None:
            return False
        if self.at_least:
            return self.figure >= self.limit
        return self.figure <= self.limit


class Targets:
    """The targets of one kernel, measured on its results."""

    def __init__(self, results):
        self.results = results
        self.stock = results.version.startswith("stock-")
        release = results.version.split("-")[1] if self.stock else results.version
        self.column = 0 if release == "6.1" else 1

    def limit(self, limits):
        return limits[self.column]

    def worst(self, bench, subject, unit=COST, **params):
        series = self.results.find(bench, subject, unit, **params)
        return series.worst() if series else None

    def at_most(self, subject, limit, bench, unit=COST, **params):
        what = describe(subject, params)
        return Target(bench, what, self.worst(bench, subject, unit, **params), limit, unit)

    def tiny_task(self, bench):
        for subject, capacities, depth, *limits in TINY_TASK:
            for capacity in capacities:
                yield self.at_most(subject, self.limit(limits), bench,
                                   capacity=capacity, queue_depth=depth)
        for subject in (BATCH, DEFAULT):
            yield self.at_most(subject, self.half_a_ping_pong(), bench,
                               capacity=1, queue_depth=0)

    def half_a_ping_pong(self):
        return self.two_switches_for(2)

    def two_switches_for(self, tasks):
        """Two switches there and back, and 300 for each of so many tasks."""
        found = self.results.find("round_trip", "ping_pong", COST)
        return found.median() / tasks + 300 if found else None

    def stock_tiny_task(self, bench):
        peer = self.results.find(bench, PEER, COST)
        best = peer and self.results.best_workqueue(peer)
        for capacity, depth, share in STOCK_TINY_TASK:
            limit = best and share * best.median()
            if limit and share > 1:
                limit = max(limit, self.two_switches_for(capacity) or 0)
            target = self.at_most(DEFAULT, limit, bench, capacity=capacity, queue_depth=depth)
            target.what += f" against {best.subject if best else PEER} x {share:g}"
            yield target

    def round_trip(self, bench):
        peer = self.results.find(bench, PEER, COST)
        limit = peer and self.limit(ROUND_TRIP) * peer.median()
        for subject in (BATCH, DEFAULT):
            yield self.at_most(subject, limit, bench)

    def cold_burst(self, bench):
        yield self.at_most(DEFAULT, 300, bench)
        yield self.at_most(DEFAULT, 4, bench, "threads")

    def scale_workers(self, bench):
        if self.column:
            return
        few = self.results.find(bench, DEFAULT, COST, workers=16)
        many = self.results.find(bench, DEFAULT, COST, workers=4096)
        percent = 100 * abs(many.median() / few.median() - 1) if few and many else None
        yield Target(bench, "4096 idle workers cost what 16 cost", percent, 3, "%")

    def idle_cost(self, bench):
        if self.column:
            return
        for unit in ("wakeups", "timers"):
            yield self.at_most(DEFAULT, 0, bench, unit, phase="after_expiry")

    def blocking(self, bench):
        for width, depth, unit, pool, *limits in EQUAL_WIDTHS:
            other = self.results.find(bench, PEER, unit, max_active=width, tasks=20000)
            if self.limit(limits):
                yield self.at_most(DEFAULT, other and self.limit(limits) * other.median(), bench,
                                   unit, capacity=width, queue_depth=depth, tasks=20000,
                                   pool=pool)
        if self.column:
            return
        for unit, peer, shares in (("ms", PEER, {"warm": 3}),
                                   (COST, "kthread_run", {"warm": 8, "cold": 4})):
            other = self.results.find(bench, peer, unit, tasks=20000)
            for pool, share in shares.items():
                target = self.at_most(DEFAULT, other and other.median() / share, bench,
                                      unit, capacity=2048, queue_depth=0, tasks=20000, pool=pool)
                target.what += f" against {peer} / {share}"
                yield target

    def parallel(self, bench, subject, limit, **params):
        """The lower quartile of the ratios to the peer, round by round."""
        series = self.results.find(bench, subject, "items_per_second", **params)
        peer = series and self.results.peer(series)
        ratios = series.ratios(peer) if peer else []
        what = f"{subject} {series.param_text}" if series else describe(subject, params)
        return Target(bench, what, quantile(ratios, 0.25) if ratios else None, limit,
                      "x " + (peer.param_text or PEER if peer else PEER), at_least=True)

    def tiny_task_smp(self, bench):
        for capacity, depth, *limits in TINY_TASK_SMP:
            for subject in (BATCH, DEFAULT):
                if self.limit(limits):
                    yield self.parallel(bench, subject, self.limit(limits),
                                        capacity=capacity, queue_depth=depth)

    def stock_tiny_task_smp(self, bench):
        if not self.results.version.endswith("-full"):
            yield from self.tiny_task_smp(bench)

    def stock_contention(self, bench):
        """The smallest measured pool has a thread for each CPU; with full
        preemption none counts as small."""
        if not self.column or self.results.version.endswith("-full"):
            return
        for subject, limit in STOCK_CONTENTION:
            found = self.results.select(bench, subject, "items_per_second")
            capacities = [int(series.params["capacity"]) for series in found]
            params = {"capacity": min(capacities)} if found else {}
            yield self.parallel(bench, subject, limit, **params)

    def stock_life(self, bench):
        for phase, limit in LIFE:
            yield self.life(bench, "ants_pool", phase, limit)
        yield self.life(bench, "ants_multi", "destroy", LIFE_SHARDS * dict(LIFE)["destroy"])

    def life(self, bench, subject, phase, limit):
        """The median of the ratios to the workqueue, round by round."""
        series = self.results.find(bench, subject, "ns", phase=phase)
        peer = self.results.find(bench, LIFE_PEER, "ns", phase=phase)
        ratios = series.ratios(peer) if series and peer else []
        return Target(bench, describe(subject, {"phase": phase}),
                      quantile(ratios, 0.5) if ratios else None, limit, f"x {LIFE_PEER}")

    def ramp(self, bench):
        """Rows of 2048 tasks are missing beside a load, and for some peers."""
        for start, load, share in RAMP:
            for tasks in (256, 2048):
                for subject in (DEFAULT, BATCH):
                    params = {"tasks": tasks, "start": start, "load": load}
                    yield from self.part_of_peer(bench, subject, share, tasks == 2048, params)

    def part_of_peer(self, bench, subject, share, optional, params):
        series = self.results.find(bench, subject, "ns", **params)
        if series:
            peer = self.results.peer(series)
        else:
            peer = self.results.find(bench, PEER, "ns", **params)
        if peer or not optional:
            figure = series.worst() / peer.median() if series and peer else None
            yield Target(bench, describe(subject, params), figure, share, f"x {PEER}")

    def late_wake(self, bench):
        for subject in (DEFAULT, BATCH):
            free = self.results.find(bench, subject, "us", hog="no")
            stuck = self.results.find(bench, subject, "us", hog="yes")
            more = quantile(stuck.values, 0.75) - free.median() if free and stuck else None
            yield Target(bench, f"{subject}: ticks more with the CPU taken",
                         more and more / TICK, 3, "ticks")

    def memory(self, bench):
        if self.column:
            return
        for struct, limit in SIZES.items():
            found = self.results.select(bench, unit="bytes", struct=struct)
            yield Target(bench, f"struct {struct}", found[0].worst() if found else None,
                         limit, "bytes")

    def lines(self, bench):
        """Of many tasks in a row; submit and finish together."""
        for capacity, depth in LINES:
            task = {"capacity": capacity, "queue_depth": depth, "tasks": "many",
                    "part": "task"}
            yield self.at_most(DEFAULT, LINES_WRITTEN, bench, "lines_written",
                               **task, memory="pool")
            yield self.at_most(DEFAULT, ATOMICS, bench, "atomics", **task)

    BENCHES = (tiny_task, round_trip, cold_burst, scale_workers, idle_cost, blocking,
               ramp, tiny_task_smp, late_wake, memory, lines)
    STOCK = (stock_tiny_task, stock_tiny_task_smp, stock_contention, stock_life)

    def all(self, benches):
        for bench in self.STOCK if self.stock else self.BENCHES:
            name = bench.__name__.removeprefix("stock_")
            if name in benches and not self.results.has_other_cpus(name):
                yield from bench(self, name)


def benches_with_targets():
    names = (bench.__name__.removeprefix("stock_") for bench in Targets.BENCHES + Targets.STOCK)
    return list(dict.fromkeys(names))
