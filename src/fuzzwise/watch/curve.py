"""Inputs over time, and the discoveries among them: what every reader makes of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats, Ints, Observation
from fuzzwise.text import printable

_LIMIT = 10**18
"""Sums of damaged numbers end here, so that all of them fit into 64 bits."""

MOST_AT_ONCE = 100_000
"""More discoveries between two lines of a file are damage; as many are taken."""

MOST_SPREAD = 2_000_000
"""More discoveries that a file does not name one by one are damage: no corpus is as large."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The inputs of one process or of one log.

    ``times`` (seconds, never falling) and ``counts`` (inputs made by then, never falling) are
    points of a line. ``found``: numbers of the inputs that discovered something, strictly rising;
    ``found_times``: when they did.
    """

    times: Floats
    counts: Floats
    found: Ints
    found_times: Floats
    n: int
    timed: bool = True


def rising(numbers: Floats | Ints | Sequence[float], n: float = _LIMIT) -> Ints:
    """Numbers of inputs, from 1, strictly rising and up to n where there is room for all.

    One input cannot be two discoveries: those with one number get neighbouring ones.
    """
    whole = np.clip(np.asarray(numbers, dtype=np.float64).round(), 1, _LIMIT).astype(np.int64)
    order = np.arange(len(whole), dtype=np.int64)
    if not len(whole):
        return whole
    room = max(int(min(n, _LIMIT)), len(whole)) - (len(whole) - 1) + order
    lifted: Ints = np.minimum(np.maximum.accumulate(whole - order) + order, room)
    return lifted


def spread(after: int, until: int, count: int) -> list[int]:
    """So many numbers, evenly over those after the first and up to the second, which is one."""
    count = min(count, MOST_AT_ONCE)
    return [until - (until - after) * left // count for left in range(count - 1, -1, -1)]


class Spread:
    """Discoveries of which a file tells only how many there were, line after line.

    A short file can tell of any number; one that no fuzzer can have found is refused, as those
    that would be left out may be the latest, on which the risk rests.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._total = 0

    def __call__(self, after: int, until: int, count: int) -> list[int]:
        """As ``spread``."""
        self._total += min(max(0, count), MOST_AT_ONCE) if count > 1 else 0
        if self._total > MOST_SPREAD:
            raise BadInput(
                f"{printable(str(self._path))}: is damaged. Its lines tell of more than "
                f"{MOST_SPREAD:,} discoveries between them. Cut off what is damaged, or begin a "
                "new file."
            )
        return spread(after, until, count)


def together(curves: Sequence[Curve]) -> Curve:
    """Processes that work at one campaign as one: inputs add up, discoveries stand in time.

    A discovery of one process at time t gets the number Σ n_i(t), in which the inputs of the
    other processes are interpolated between the points that their files give.
    """
    if len(curves) == 1:
        return curves[0]
    numbers, moments = [], []
    for curve in curves:
        others = [other for other in curves if other is not curve]
        total = curve.found.astype(np.float64)
        for other in others:
            total += _count_at(other, curve.found_times)
        numbers.append(total)
        moments.append(curve.found_times)
    joined, when = np.concatenate(numbers), np.concatenate(moments)
    order = np.argsort(joined, kind="stable")
    n = sum(curve.n for curve in curves)
    found = rising(joined[order], n)
    times = np.unique(np.concatenate([curve.times for curve in curves]))
    counts = np.zeros(len(times))
    for curve in curves:
        counts += _count_at(curve, times)
    return Curve(
        times=times,
        counts=counts,
        found=found,
        found_times=np.maximum.accumulate(when[order]) if len(when) else when,
        n=max(n, int(found[-1]) if len(found) else 0),
        timed=all(curve.timed for curve in curves),
    )


def observation(curve: Curve, seconds: float | None) -> Observation:
    """What the estimators need, free of contradictions."""
    last = float(curve.found_times[-1]) if len(curve.found_times) and curve.timed else None
    return Observation(
        n=max(min(curve.n, _LIMIT), int(curve.found[-1]) if len(curve.found) else 0),
        seconds=seconds,
        last_discovery_seconds=(
            None if last is None or seconds is None else min(max(last, 0.0), seconds)
        ),
        discoveries=curve.found,
    )


def _count_at(curve: Curve, times: Floats) -> Floats:
    """The inputs of a process by the given times; its first point is at none."""
    if not len(curve.times):
        return np.zeros(len(times))
    counts: Floats = np.interp(times, curve.times, curve.counts)
    return counts
