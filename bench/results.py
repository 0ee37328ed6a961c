# SPDX-License-Identifier: GPL-2.0-only
"""Results of the benchmarks: the tsv that bench/run writes, grouped by row."""

import math
import os

PEER = "wq_unbound"
# Of these the least is the worst.
MORE_IS_BETTER = ("items_per_second",)
# What tells variants of the peer apart, and what means nothing to it.
PEER_KEYS = {"max_active", "scope"}
POOL_KEYS = {"capacity", "queue_depth", "pool"}


def result_files(directory):
    """(version, path) of each kernel that there are results of."""
    names = (("6.1", "results.tsv"), ("7.3", "results-7.3.tsv"))
    paths = ((version, os.path.join(directory, name)) for version, name in names)
    return [(version, path) for version, path in paths if os.path.exists(path)]


def release_of(directory, version):
    """What the kernel itself said that it was."""
    with open(os.path.join(directory, version, "release"), encoding="utf-8") as text:
        return text.read().strip()


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
    def param_text(self):
        return " ".join(f"{key}={value}" for key, value in self.params.items())

    def median(self):
        return median(self.values)

    def worst(self):
        return min(self.values) if self.unit in MORE_IS_BETTER else max(self.values)

    def spread(self):
        """Between the extremes, in percent of the median."""
        middle = self.median()
        return 100 * (max(self.values) - min(self.values)) / abs(middle) if middle else 0.0

    def has(self, **params):
        return all(self.params.get(key) == str(value) for key, value in params.items())

    def setting(self):
        """The parameters that a subject and its peer have in common."""
        return {key: value for key, value in self.params.items()
                if key not in PEER_KEYS | POOL_KEYS}

    def ratios(self, other):
        """To another series, round by round."""
        return [value / other.rounds[number] for number, value in self.rounds.items()
                if other.rounds.get(number)]


class Results:
    """One kernel's results; all series in the order of the file."""

    def __init__(self, version, path):
        self.version, self.path = version, path
        self.series = []
        self.nr_rows = 0
        index = {}
        with open(path, encoding="utf-8") as lines:
            next(lines, None)
            for line in lines:
                self._add(index, line.rstrip("\n"))

    def _add(self, index, line):
        bench, subject, text, value, unit = line.split("\t")
        params = parse_params(text)
        number = int(params.pop("round", 1))
        key = (bench, subject, tuple(params.items()), unit)
        if key not in index:
            index[key] = Series(bench, subject, params, unit)
            self.series.append(index[key])
        index[key].rounds[number] = float(value)
        self.nr_rows += 1

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
        best = max if series.unit in MORE_IS_BETTER else min
        return best(plain or found, key=Series.median, default=None)
