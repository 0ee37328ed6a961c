# SPDX-License-Identifier: GPL-2.0-only
"""Results of the benchmarks: the tsv that bench/run writes, grouped by row."""

import math
import os

# In the order of the tables: stock kernels, then those without costly options.
KERNELS = ("stock-6.1-voluntary", "stock-6.1-full", "stock-6.12-voluntary",
           "stock-6.12-full", "stock-7.3-lazy", "stock-7.3-full", "6.1", "7.3")
PEER = "wq_unbound"
WORKQUEUES = (PEER, "wq_bound", "wq_ordered")
# Percent of a CPU; if other programs used more, a parallel bench is meaningless.
BUSY = 10
# What the tables and targets of the parallel benches use; fewer boots have no
# quartiles.
CPUS, BOOTS = 2, 5
# Rounds of a deterministic bench that differ by more are shown one by one.
SPREAD_PERCENT = 1.0
# What must be the same in all results that are compared.
PROVENANCE = ("commit", "compiler", "qemu")
# Of these the least is the worst.
MORE_IS_BETTER = ("items_per_second",)
# What tells variants of the peer apart, and what means nothing to it.
PEER_KEYS = {"max_active", "scope"}
POOL_KEYS = {"capacity", "queue_depth", "pool"}


def result_files(directory):
    """(version, path) of each kernel that there are results of."""
    names = ((version, "results.tsv" if version == "6.1" else f"results-{version}.tsv")
             for version in KERNELS)
    paths = ((version, os.path.join(directory, name)) for version, name in names)
    return [(version, path) for version, path in paths if os.path.exists(path)]


def parse_params(text):
    return dict(word.partition("=")[::2] for word in text.split())


def quantile(values, share):
    """Nearest rank, so that it is one of the values."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]


def median(values):
    return quantile(values, 0.5)


class Series:
    """All rounds of one row."""

    def __init__(self, bench, subject, params, unit):
        self.bench, self.subject, self.params, self.unit = bench, subject, params, unit
        self.rounds = {}

    @property
    def values(self):
        return list(self.rounds.values())

    @property
    def nr_boots(self):
        return len({boot for boot, _ in self.rounds})

    @property
    def param_text(self):
        return " ".join(f"{key}={value}" for key, value in self.params.items())

    def median(self):
        return median(self.values)

    def worst(self):
        return min(self.values) if self.unit in MORE_IS_BETTER else max(self.values)

    def spread(self):
        """Between the extremes, in percent of the median."""
        middle, extent = self.median(), max(self.values) - min(self.values)
        if not middle:
            return math.inf if extent else 0.0
        return 100 * extent / abs(middle)

    def is_wide(self):
        return self.spread() > SPREAD_PERCENT

    def is_far(self, value):
        """Further from all rounds than they may be from each other."""
        margin = SPREAD_PERCENT / 100 * abs(self.median())
        return not min(self.values) - margin <= value <= max(self.values) + margin

    def has(self, **params):
        return all(self.params.get(key) == str(value) for key, value in params.items())

    def setting(self):
        """The parameters that a subject and its peer have in common."""
        return {key: value for key, value in self.params.items()
                if key not in PEER_KEYS | POOL_KEYS}

    def ratios(self, other):
        """To another series: of several boots one of each, else round by round."""
        boots = {}
        for key, value in self.rounds.items():
            if other.rounds.get(key):
                boots.setdefault(key[0], []).append(value / other.rounds[key])
        if len(boots) > 1:
            return [median(ratios) for ratios in boots.values()]
        return [ratio for ratios in boots.values() for ratio in ratios]


class Results:
    """One kernel's results; all series in the order of the file. What they are of
    is in @about: each name with all the values that the file has for it."""

    def __init__(self, version, path):
        self.version, self.path = version, path
        self.series, self.warm_ups = [], []
        self.about = {}
        self.nr_rows = 0
        index = {}
        with open(path, encoding="utf-8") as lines:
            next(lines, None)
            for line in lines:
                if line.startswith("# "):
                    name, _, value = line[2:].strip().partition(" ")
                    self.about.setdefault(name, set()).add(value)
                else:
                    self._add(index, line.rstrip("\n"))

    def _add(self, index, line):
        bench, subject, text, value, unit = line.split("\t")
        params = parse_params(text)
        number = int(params.pop("boot", 1)), int(params.pop("round", 1))
        key = (bench, subject, tuple(params.items()), unit)
        if key not in index:
            index[key] = Series(bench, subject, params, unit)
            series = self.warm_ups if unit == "warm_up" else self.series
            series.append(index[key])
        index[key].rounds[number] = float(value)
        self.nr_rows += 1

    @property
    def release(self):
        """What the kernel itself said that it was."""
        return " and ".join(sorted(self.about.get("kernel", {self.version})))

    def _noted(self, name, bench):
        """What the file says of one bench."""
        words = (text.split() for text in self.about.get(name, ()))
        return [int(number) for which, number in words if which == bench]

    def has_other_cpus(self, bench):
        return any(cpus != CPUS for cpus in self._noted("cpus", bench))

    def unfit(self, bench):
        """Why what a parallel bench says is not for publication, or nothing."""
        why = [f"other programs had {percent} % of a CPU"
               for percent in self._noted("others", bench) if percent > BUSY]
        why += [f"{cpus} CPUs instead of {CPUS}"
                for cpus in self._noted("cpus", bench) if cpus != CPUS]
        why += [f"boots: {boots} instead of {BOOTS}"
                for boots in self._noted("boots", bench) if boots < BOOTS]
        return ", ".join(why)

    def warm_up(self, series):
        """What came before the rounds of a series."""
        return next((s for s in self.warm_ups if s.bench == series.bench
                     and s.subject == series.subject and s.params == series.params), None)

    def benches(self):
        return list(dict.fromkeys(s.bench for s in self.series))

    def select(self, bench, subject=None, unit=None, **params):
        return [s for s in self.series
                if s.bench == bench and subject in (None, s.subject)
                and unit in (None, s.unit) and s.has(**params)]

    def find(self, bench, subject, unit=None, **params):
        """The series with these parameters and the fewest others, or None."""
        found = self.select(bench, subject, unit, **params)
        return min(found, key=lambda s: len(s.params), default=None)

    def peer(self, series):
        """What it is compared with: the peer as it is, or else at its best."""
        found = [s for s in self.select(series.bench, PEER, series.unit)
                 if s.setting() == series.setting()]
        plain = [s for s in found if not any(key in s.params for key in PEER_KEYS)]
        return best(plain or found)

    def best_workqueue(self, series):
        """The workqueue that does best, of whatever kind and with whatever settings."""
        return best([s for s in self.select(series.bench, unit=series.unit)
                     if s.subject in WORKQUEUES and s.setting() == series.setting()])


def best(found):
    choose = max if found and found[0].unit in MORE_IS_BETTER else min
    return choose(found, key=Series.median, default=None)


def mixture(kernels):
    """What is not the same in all results: lines that say so."""
    for name in PROVENANCE:
        values = {value for results in kernels for value in results.about.get(name, {"unknown"})}
        if len(values) > 1:
            yield f"{name}: {', '.join(sorted(values))}"
