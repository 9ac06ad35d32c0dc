"""A power law that bends: the rate of a campaign's discoveries over its last doublings.

On real libraries the slope of ln Δ on ln n steepens with depth, from about -0.6 to -2, so that no
single power law follows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from fuzzwise.model import Floats, Ints

DOUBLINGS = 8
"""How far back the fit looks."""

PER_DOUBLING = 2
"""Intervals of equal length in ln n, in each of which the discoveries are counted."""

LEAST = 5
"""Discoveries over these doublings without which nothing is fitted."""

SLOPE = (-0.6, 0.4)
"""Mean and deviation of the slope of ln Δ on ln n, where all discoveries are of late."""

STEEPER = 0.25
"""What the slope is expected to be lower by for each e-fold by which it makes fewer now."""

CURVATURE = (-0.03, 0.015)
"""The same for the curvature: what is added to the slope in an e-fold of inputs is twice that."""

BURSTS = 0.4
"""Deviation of ln Δ in one interval: a discovery opens a region, and others follow."""

WANDERING = 0.1
"""Deviation of what the slope gains at random in an e-fold of inputs."""

ROUNDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class BentPowerLaw:
    """ln Δ(n·e^x) = level + slope·x + curvature·x², with the covariance of the three."""

    n: int
    level: float
    slope: float
    curvature: float
    covariance: Floats

    def ahead(self, x: Floats) -> tuple[Floats, Floats]:
        """Mean and deviation of ln Δ after n·e^x inputs, for x ≥ 0.

        The deviation has that of the three numbers, a slope that goes on to wander (an integrated
        Wiener process, whose variance grows as x³/3), and the bursts.
        """
        terms = _terms(x)
        mean: Floats = terms @ np.array([self.level, self.slope, self.curvature])
        variance = np.einsum("ij,jk,ik->i", terms, self.covariance, terms)
        deviation: Floats = np.sqrt(variance + WANDERING**2 * x**3 / 3 + BURSTS**2)
        return mean, deviation


def fit_bent(discoveries: Ints, n: int) -> BentPowerLaw | None:
    """The bent law of the last doublings; None with fewer than ``LEAST`` discoveries in them.

    Counts d of w inputs each are Poisson with mean w·e^f, where f is the law plus bursts plus a
    slope that wanders, going back from now. All of that is Gaussian, with the prior above for slope
    and curvature and none for the level. A target that has shown most of what it has falls faster:
    the slope to expect is -0.6 + ln(r)/4, where r is how many discoveries an e-fold of inputs has
    at the rate of the last half, over all so far, and 1 at most. The mode of f is found by Newton's
    method, in which each round is a weighted regression on f + (d - w·e^f)/(w·e^f) with the
    variance 1/(w·e^f).
    """
    x, found, inputs = _counts(discoveries, n)
    if found.sum() < LEAST:
        return None
    terms = _terms(x)
    around = _wandering(-x) + BURSTS**2 * np.eye(len(x))
    prior = np.array([0.0, _usual_slope(discoveries, n), CURVATURE[0]])
    trust = np.diag([0.0, SLOPE[1] ** -2, CURVATURE[1] ** -2])
    rate = np.log((found + 0.5) / inputs)
    for _ in range(ROUNDS):
        expected = inputs * np.exp(rate)
        seen = rate + found / expected - 1
        weight = np.linalg.inv(around + np.diag(1 / expected))
        covariance: Floats = np.linalg.inv(trust + terms.T @ weight @ terms).astype(np.float64)
        law = covariance @ (trust @ prior + terms.T @ weight @ seen)
        line = terms @ law
        step = np.clip(line + around @ weight @ (seen - line) - rate, -1, 1)
        rate += step
        if np.abs(step).max() < 1e-6:
            break
    return BentPowerLaw(n, float(law[0]), float(law[1]), float(law[2]), covariance)


def _usual_slope(discoveries: Ints, n: int) -> float:
    late = len(discoveries) - int(discoveries.searchsorted(n // 2, side="right"))
    share = min(1.0, max(0.5, late) / log(2) / max(1, len(discoveries)))
    return SLOPE[0] + STEEPER * log(share)


def _counts(discoveries: Ints, n: int) -> tuple[Floats, Floats, Floats]:
    """The middle of each interval as ln(m/n), the discoveries in it, and its inputs."""
    back = np.arange(DOUBLINGS * PER_DOUBLING + 1) * log(2) / PER_DOUBLING
    edges = np.floor(n * np.exp(-back)).astype(np.int64)
    edges = edges[np.append(True, np.diff(edges) < 0) & (edges > 0)]
    below = discoveries.searchsorted(edges, side="right")
    found = (below[:-1] - below[1:]).astype(np.float64)
    inputs = (edges[:-1] - edges[1:]).astype(np.float64)
    middle: Floats = np.log((edges[:-1] + edges[1:]) / 2 / max(n, 1))
    return middle, found, inputs


def _terms(x: Floats) -> Floats:
    terms: Floats = np.stack([np.ones_like(x), x, x * x], axis=1)
    return terms


def _wandering(back: Floats) -> Floats:
    """The covariance of an integrated Wiener process that begins now and goes back."""
    near, far = np.minimum.outer(back, back), np.maximum.outer(back, back)
    covariance: Floats = WANDERING**2 * near**2 * (3 * far - near) / 6
    return covariance
