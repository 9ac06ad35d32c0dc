"""How many more inputs, and how much more time, until the risk is as low as accepted."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.base import Estimator, need_discoveries
from fuzzwise.estimators.intervals import normal_quantile
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.model import Estimate, Floats, Observation
from fuzzwise.power_law import fit_growth
from fuzzwise.special import gammaincinv, ndtri

GRID = 64


def inputs_left(
    observation: Observation,
    accepted_risk: float,
    confidence: float = 0.95,
    estimator: Estimator | None = None,
) -> Estimate:
    """Inputs until Δ falls to the accepted risk, if the campaign's power law goes on.

    Δ falls as n^(b-1), so with the present Δ̂ and the growth exponent b̂ of all discoveries it takes
    n·((Δ̂/R)^(1/(1-b̂)) - 1) more. The interval combines the interval of Δ̂ (log-normal, each side
    with its own width) and the pivot 2bS ~ χ²(2D) of the exponent. ``inf`` means never: an
    exponent of 1 or more is a campaign that discovers at a rate that does not fall. Without any
    discovery Δ̂ is the Rule of Three's and falls as 1/n.
    """
    times = need_discoveries(observation)
    n = observation.n
    if n == 0:
        raise NotEstimable("needs at least one input")
    present = (estimator or find(DEFAULT))(observation, confidence)
    fit = fit_growth(times, n)
    exponent = fit.exponent if fit else 0.0
    middles = (np.arange(GRID) + 0.5) / GRID
    exponents = np.zeros(1)
    if fit:
        exponents = np.asarray(gammaincinv(float(fit.discoveries), middles), dtype=np.float64)
        exponents /= fit.log_age_sum
    levels = _levels(present, middles, confidence)
    all_left = np.sort(_left(n, levels[:, None] / accepted_risk, exponents[None, :]).ravel())
    tail = (1 - confidence) / 2
    value = float(_left(n, np.array(present.value / accepted_risk), np.array(exponent)))
    return Estimate(
        value,
        min(value, float(all_left[int(tail * len(all_left))])),
        max(value, float(all_left[int((1 - tail) * len(all_left))])),
        confidence,
        "power-law",
        n,
    )


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


def _levels(present: Estimate, middles: Floats, confidence: float) -> Floats:
    """Quantiles of Δ: a log-normal on each side of the estimate, as wide as its interval."""
    if present.high is None or present.value <= 0:
        return np.array([present.value])
    z = ndtri(middles) / normal_quantile(confidence)
    above = log(max(present.high, present.value) / present.value)
    below = log(present.value / present.low) if present.low else above
    levels: Floats = present.value * np.exp(np.where(z > 0, above, below) * z)
    return levels


def _left(n: int, excess: Floats, exponent: Floats) -> Floats:
    """n·(excess^(1/(1-b)) - 1), 0 where the risk is accepted already, inf where it never is."""
    excess, exponent = np.broadcast_arrays(excess, exponent)
    left = np.full(excess.shape, inf)
    falls = exponent < 1
    with np.errstate(over="ignore"):
        left[falls] = n * np.expm1(np.log(np.maximum(excess[falls], 1)) / (1 - exponent[falls]))
    left[excess <= 1] = 0.0
    return left
