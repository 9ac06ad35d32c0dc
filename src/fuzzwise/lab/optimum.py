"""The best that any schedule could have done on a recording (FS §4.5).

Let t(i, b) be the least time in which configuration i shows b distinct bugs. Then

    m(1, b) = t(1, b),    m(i, b) = min over c of { t(i, c) + m(i−1, b−c) }

is the least time in which the first i configurations show b bugs, and row K is the optimum at every
time, O(K·B²). All times are whole microseconds, so that sums and comparisons are exact.

A bug that several configurations show is counted once for each of them by m. Row K is then only an
*upper* curve, tightened by the fact that no bug is found before the first moment at which any
configuration shows it. The *lower* curve is FS's discount: the distinct bugs of the allocation that
m takes at each b, as a running maximum over time; each of those allocations is a schedule. If no
bug is shared, both curves are the optimum. What lies between them at one budget is settled by
``exact_optimum``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzwise.errors import BadInput
from fuzzwise.lab.recording.recording import Recording
from fuzzwise.model import Ints

NEVER = np.iinfo(np.int64).max
MOST_MICROSECONDS = 2**62

COUNTED_AT_MOST = 2000
"""Bugs of row K, shared ones counted repeatedly, if there are not more distinct ones than that."""

Counts = NDArray[np.integer[Any]]
Prefix = tuple[Ints, Ints]
"""The bugs of a configuration in the order in which they are first shown, and those times."""


@dataclass(frozen=True, eq=False)
class BugCurve:
    """Bugs over time: ``times[b]`` is the first moment (microseconds) with b bugs, b = 0 … B."""

    times: Ints

    def bugs_at(self, microseconds: int) -> int:
        """How many bugs are found by then."""
        return max(0, int(np.searchsorted(self.times, microseconds, side="right")) - 1)

    def bugs_at_each(self, microseconds: Ints) -> Ints:
        """How many bugs are found by each of those moments."""
        counts = np.searchsorted(self.times, microseconds, side="right") - 1
        return np.maximum(counts, 0).astype(np.int64)

    def mean_bugs(self, microseconds: int) -> float:
        """The bugs found, averaged over the time until then: the area under the curve, scaled."""
        if microseconds <= 0:
            return float(self.bugs_at(0))
        return float(np.maximum(microseconds - self.times[1:], 0).sum() / microseconds)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best schedules of a recording.

    ``times``: row K, the least microseconds for b = 0 … B bugs, shared ones counted repeatedly;
    ``distinct``: the distinct bugs among them. ``lower`` and ``upper``: how many distinct bugs the
    best schedule finds at least and at most.
    """

    times: Ints
    distinct: Ints
    lower: BugCurve
    upper: BugCurve
    _prefixes: tuple[Prefix, ...]
    _chosen: tuple[Counts, ...]

    @cached_property
    def exact(self) -> bool:
        """Whether the curves coincide: both are the optimum then."""
        return bool(np.array_equal(self.lower.times, self.upper.times))

    def allocation(self, bugs: int) -> Ints:
        """Microseconds for each configuration that show so many distinct bugs (the lower curve)."""
        most = len(self.lower.times) - 1
        if not 0 <= bugs <= most:
            raise BadInput(f"There is no schedule for {bugs} bugs; the recording shows {most}.")
        counted = np.array([_first_with(self.distinct, bugs)])
        if counted[0] == len(self.times):  # beyond the counted rows: everything
            return np.array([int(t[-1]) if len(t) else 0 for _, t in self._prefixes])
        shares = np.zeros(len(self._prefixes), dtype=np.int64)
        for i, taken in _trace_back(self._chosen, counted):
            if taken[0]:
                shares[i] = self._prefixes[i][1][taken[0] - 1]
        return shares


def best_schedules(recording: Recording) -> Optimum:
    """The optimum at every time; a lower and an upper curve where configurations share bugs."""
    prefixes = tuple(log.first_shown for log in recording.configurations)
    if sum(int(times[-1]) for _, times in prefixes if len(times)) > MOST_MICROSECONDS:
        raise BadInput("The recording is longer than 100,000 years in all; check its clocks.")
    occurrences = Counter(int(bug) for bugs, _ in prefixes for bug in bugs)
    bugs = len(occurrences)
    width = min(occurrences.total(), max(bugs, COUNTED_AT_MOST))

    row = np.zeros(1, dtype=np.int64)
    chosen: list[Counts] = []
    for _, times in prefixes:
        row, taken = _add_configuration(row, np.concatenate([[0], times]), width)
        chosen.append(taken)
    distinct = _without_duplicates(prefixes, chosen, occurrences, len(row))

    everything = sum(int(times[-1]) for _, times in prefixes if len(times))
    reached = _first_with(distinct, np.arange(bugs + 1))
    lower = np.concatenate([row, [everything]])[reached]
    upper = np.maximum(row[: bugs + 1], np.concatenate([[0], _earliest(prefixes)]))
    return Optimum(row, distinct, BugCurve(lower), BugCurve(upper), prefixes, tuple(chosen))


def _add_configuration(row: Ints, prefix: Ints, width: int) -> tuple[Ints, Counts]:
    """Row i of m from row i−1 and t(i, ·), and the c that attains each minimum."""
    bugs = len(prefix) - 1
    if bugs == 0:
        return row, np.zeros(1, dtype=np.uint8)
    length = min(len(row) + bugs, width + 1)
    best = np.full(length, NEVER)
    chosen = np.zeros(length, dtype=np.min_scalar_type(bugs))
    for count, time in enumerate(prefix.tolist()):
        total = row[: length - count] + time
        reached, taken = best[count : count + len(total)], chosen[count : count + len(total)]
        better = total < reached
        reached[better] = total[better]
        taken[better] = count
    return best, chosen


def _trace_back(chosen: tuple[Counts, ...], bugs: Ints) -> list[tuple[int, Ints]]:
    """For each configuration with bugs, how many of its bugs the best allocations take."""
    taken = []
    left = bugs.copy()
    for i in range(len(chosen) - 1, -1, -1):
        if len(chosen[i]) > 1:
            counts = chosen[i][left].astype(np.int64)
            left -= counts
            taken.append((i, counts))
    return taken


def _without_duplicates(
    prefixes: tuple[Prefix, ...], chosen: list[Counts], occurrences: Counter[int], length: int
) -> Ints:
    """The distinct bugs in the allocation behind each element of row K."""
    counted = np.arange(length)
    shared = {bug for bug, places in occurrences.items() if places > 1}
    if not shared:
        return counted
    distinct = counted.copy()
    seen = {bug: np.zeros(length, dtype=bool) for bug in shared}
    for i, counts in _trace_back(tuple(chosen), counted):
        for position, bug in enumerate(prefixes[i][0][: counts.max()].tolist()):
            if bug in shared:
                shows = counts > position
                distinct -= shows & seen[bug]
                seen[bug] |= shows
    return distinct


def _first_with(distinct: Ints, bugs: int | Ints) -> Ints:
    """The first allocation with so many distinct bugs; the length if there is none."""
    return np.asarray(np.searchsorted(np.maximum.accumulate(distinct), bugs), dtype=np.int64)


def _earliest(prefixes: tuple[Prefix, ...]) -> Ints:
    """When each bug is first shown by any configuration, in order of time."""
    bugs = np.concatenate([bugs for bugs, _ in prefixes])
    times = np.concatenate([times for _, times in prefixes])
    order = np.argsort(times, kind="stable")
    _, first = np.unique(bugs[order], return_index=True)
    return np.sort(times[order][first]).astype(np.int64)
