"""What no schedule of a recording of growth can exceed, for each outcome.

Each target's curve is replaced by the lowest concave one above it; of such curves the best schedule
takes the steepest piece first. Targets that are to be retired are taken in the order of the time
that each needs. Of a worth, each part has its own concave curve, and these are added up. A target
cannot be on two cores at once, which is not taken into account, nor that a piece comes as a whole,
nor that a bug may be in two targets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzwise.lab.growth.kernel import DISCOVERIES, FEATURES, PROPORTION, RETIRED
from fuzzwise.lab.growth.recording import FOUND, SPECIES, STOPS, Repeat
from fuzzwise.lab.growth.replay import BINS, BUGS, WORTH, Settings
from fuzzwise.lab.growth.worth import Prices
from fuzzwise.model import Floats


def best_curve(
    chosen: Sequence[Repeat], step: float, settings: Settings, outcome: int, price: Prices
) -> Floats:
    """The bound of an outcome at the end of each bin, if every choice was the best."""
    ends = (np.arange(BINS) + 1) * settings.budget / BINS * settings.cores
    if outcome == RETIRED:
        return _retired(chosen, step, settings, ends)
    if outcome == WORTH:
        retired = price.retired if settings.retires else 0.0
        hulls = [_worth(one, step, price._replace(retired=retired)) for one in chosen]
    else:
        hulls = [_hull(*_curve(one, step, outcome)) for one in chosen]
    rate = np.concatenate([np.diff(y) / np.diff(x) for x, y in hulls])
    length = np.concatenate([np.diff(x) for x, _ in hulls])
    order = np.argsort(-rate, kind="stable")
    at = np.concatenate([[0.0], np.cumsum(length[order])])
    known = float(sum(y[0] for _, y in hulls))
    value = known + np.concatenate([[0.0], np.cumsum((rate * length)[order])])
    best: Floats = np.interp(ends, at, value)
    return best


def _curve(one: Repeat, step: float, outcome: int) -> tuple[Floats, Floats]:
    """An outcome of one target over its own time; what its initial corpus shows is there at 0."""
    seconds = np.arange(one.table.shape[1], dtype=np.float64) * step
    if outcome == FEATURES:
        return seconds, one.table[SPECIES]
    if outcome == DISCOVERIES:
        return seconds, one.table[FOUND]
    if outcome == PROPORTION:
        return seconds, np.log1p(one.table[SPECIES])
    if outcome == RETIRED:
        return seconds, one.table[STOPS]
    times = np.array([0.0, *one.bug_seconds, seconds[-1]])
    counts = np.array([*range(len(times) - 1), len(times) - 2], float)
    return times, counts


def _worth(one: Repeat, step: float, price: Prices) -> tuple[Floats, Floats]:
    """The concave curves of bugs, species and retirement, each at its price, added up."""
    parts = [
        (_hull(*_curve(one, step, outcome)), each)
        for outcome, each in ((BUGS, 1.0), (FEATURES, price.species), (RETIRED, price.retired))
    ]
    times = np.unique(np.concatenate([x for (x, _), _ in parts]))
    value = np.sum([each * (np.interp(times, x, y) - y[0]) for (x, y), each in parts], axis=0)
    return times, value


def _retired(chosen: Sequence[Repeat], step: float, settings: Settings, ends: Floats) -> Floats:
    stops = [np.flatnonzero(one.table[STOPS]) for one in chosen if settings.retires]
    needed = np.sort([stop[0] * step for stop in stops if len(stop)])
    count: Floats = np.searchsorted(np.cumsum(needed), ends, "right").astype(np.float64)
    return count


def _hull(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The corners of the lowest concave curve above values that never fall."""
    corners: list[tuple[float, float]] = []
    for x, y in zip(times.tolist(), values.tolist(), strict=True):
        if corners and x <= corners[-1][0]:
            x, y = corners[-1][0], max(y, corners.pop()[1])
        while len(corners) >= 2:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            corners.pop()
        corners.append((x, y))
    return np.array([c[0] for c in corners], float), np.array([c[1] for c in corners])
