"""How many more inputs, and how much more time, until the risk is as low as accepted."""

from __future__ import annotations

from dataclasses import replace
from math import expm1, inf, log

import numpy as np

from fuzzwise.bent_law import LEAST, BentPowerLaw, fit_bent
from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.base import need_discoveries
from fuzzwise.estimators.intervals import normal_quantile
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.model import Estimate, Floats, Ints, Observation


class TooMany(NotEstimable):
    """More discoveries are to come than are worth a list."""


FURTHEST = 100
"""Times the present inputs beyond which none is given: what was measured goes to 64 times."""

IN_SIGHT = 1e6
"""Times the present inputs beyond which the upper end of the interval is open."""

FINE = np.linspace(0, log(IN_SIGHT), 2001)
"""ln of the times at which the forecast is looked at: steps of less than a percent."""

NEAR = np.linspace(0, log(FURTHEST), 400)
"""The same, no further than forecasts go."""

MOST_LISTED = 200_000
"""Discoveries to come that are listed one by one."""

LATEST = 16
"""Groups of discoveries whose length tells that of those to come."""


def inputs_left(
    observation: Observation, accepted_risk: float, confidence: float = 0.95
) -> Estimate:
    """Inputs until Δ falls to the accepted risk, if the bent power law of the campaign goes on.

    The value is where the mean of ln Δ reaches ln R; the interval is from where its lower quantile
    does to where its upper one does. ``inf`` as the value: that takes more than 100 times the
    present inputs, too far to tell; the lower end still tells the least.
    NotEstimable with too few discoveries to fit anything, unless the estimate of Δ is as low
    already.
    """
    n = observation.n
    try:
        law = _law(observation)
    except NotEstimable:
        if (reached := _reached_already(observation, accepted_risk, confidence)) is None:
            raise
        return reached
    mean, deviation = law.ahead(FINE)
    mean = mean + _waiting(observation)
    spread = normal_quantile(confidence) * deviation
    value, low, high = (
        _reached(law, path, accepted_risk) for path in (mean, mean - spread, mean + spread)
    )
    value = value if value <= n * (FURTHEST - 1) else inf
    return Estimate(value, min(low, value), max(high, value), confidence, "bent-power-law", n)


def expected_path(observation: Observation, deviations: float = 0.0) -> Observation:
    """The campaign after 100 times its inputs, with discoveries where they are expected.

    They are where the mean of ln Δ, plus so many of its deviations at each moment, expects them.
    Where discoveries are known in groups, those to come are, too, in groups as long as of late: as
    a single one, they would all count as if they were made at its end.
    NotEstimable where there is no forecast, TooMany where it has more than are worth a list.
    """
    n = observation.n
    mean, deviation = _law(observation).ahead(NEAR)
    pace = n * np.exp(NEAR + np.minimum(mean + deviations * deviation, 0))
    steps = (pace[1:] + pace[:-1]) / 2 * np.diff(NEAR)
    expected = np.concatenate([[0.0], np.cumsum(steps)])
    if expected[-1] > MOST_LISTED:
        raise TooMany(f"expects more than {MOST_LISTED:,} discoveries")
    at = np.interp(np.arange(0.5, expected[-1]), expected, NEAR)
    to_come = np.ceil(n * np.exp(at)).astype(np.int64)
    to_come = to_come[np.diff(to_come, prepend=n) > 0]
    times = np.concatenate([need_discoveries(observation), to_come])
    looks = _looks_ahead(observation, to_come)
    return replace(observation, n=n * FURTHEST, discoveries=times, counted_at=looks)


def _looks_ahead(observation: Observation, to_come: Ints) -> Ints | None:
    """Where groups begin and end, with those to come; None where each discovery has its number."""
    n, looks = observation.n, observation.counted_at
    if looks is None:
        return None
    wide = _group_width(need_discoveries(observation), looks, n)
    ends = n + wide * np.ceil((to_come - n) / wide).astype(np.int64)
    return np.unique(np.concatenate([looks, [n], ends - wide, ends])).astype(np.int64)


def _group_width(times: Ints, looks: Ints, n: int) -> int:
    """The inputs of a group, in the middle of the latest of them."""
    edges = np.concatenate([[0], looks[(looks > 0) & (looks < n)], [n]])
    last = np.unique(edges.searchsorted(times, "left"))[-LATEST:]
    return max(1, int(np.median(edges[last] - edges[last - 1])))


def as_seconds(left: Estimate, observation: Observation) -> Estimate | None:
    """The same forecast in seconds, at the campaign's speed so far; None if that is not known."""
    if not observation.seconds or not observation.n:
        return None
    pace = observation.seconds / observation.n
    return replace(
        left,
        value=left.value * pace,
        low=None if left.low is None else left.low * pace,
        high=None if left.high is None else left.high * pace,
    )


def _law(observation: Observation) -> BentPowerLaw:
    if observation.n == 0:
        raise NotEstimable("needs at least one input")
    law = fit_bent(need_discoveries(observation), observation.n)
    if law is None:
        raise NotEstimable(f"needs {LEAST} discoveries of late to see how they become rarer")
    return law


def _reached_already(
    observation: Observation, accepted_risk: float, confidence: float
) -> Estimate | None:
    """Nothing left, where the estimate is as low as accepted; its upper end may not be."""
    if observation.n == 0 or observation.discoveries is None:
        return None
    now = find(DEFAULT)(observation, confidence)
    if now.value > accepted_risk:
        return None
    high = 0.0 if now.high is not None and now.high <= accepted_risk else inf
    return Estimate(0.0, 0.0, high, confidence, now.method, observation.n)


def _waiting(observation: Observation) -> float:
    """What ln Δ gains for preferred seeds that wait, as the estimate does; 0 where none do."""
    if not observation.waiting:
        return 0.0
    tried = find(DEFAULT)(replace(observation, waiting=None))
    return log(find(DEFAULT)(observation).value / tried.value)


def _reached(law: BentPowerLaw, path: Floats, accepted_risk: float) -> float:
    """The inputs from now at which a path of ln Δ first is at the accepted risk; inf for never."""
    goal = log(accepted_risk)
    below = np.flatnonzero(path <= goal)
    if len(below) == 0:
        return inf
    first = int(below[0])
    if first == 0:
        return 0.0
    before, after = float(path[first - 1]), float(path[first])
    x = FINE[first - 1] + (before - goal) / (before - after) * (FINE[first] - FINE[first - 1])
    return law.n * expm1(float(x))
