"""Reliability growth: discoveries as a Poisson process whose intensity follows a power law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fuzzwise.estimators import intervals
from fuzzwise.estimators.base import need_discoveries, nothing_yet, rule_of_three
from fuzzwise.model import Estimate, Floats, Observation
from fuzzwise.power_law import fit_growth, log_age
from fuzzwise.special import gammaincinv


@dataclass(frozen=True, slots=True)
class Growth:
    """Crow-AMSAA over the whole campaign: b̂ = D/S, S = Σ ln(n/n_i), Δ̂ = b̂·D/n.

    Right as long as one power law holds from the first input to the last; where the decline
    steepens (a small target runs dry) it reads high.

    Interval: b given D has b̂'s pivot 2bS ~ χ²(2D), the expected count has 2Λ ~ χ²(2D+1), and the
    product of two gammas half a step apart is a squared gamma, 4·G(D)·G(D+1/2) = G(2D)², so that
    Δ = bΛ/n lies between the quantiles of (χ²(4D))²/(16·S·n). Without a discovery: Rule of Three.
    """

    name: str = "growth"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from all discoveries."""
        times = need_discoveries(observation)
        n = observation.n
        if n == 0:
            return nothing_yet(self.name, confidence)
        fit = fit_growth(times, n)
        if fit is None:
            return rule_of_three(self.name, observation, times, confidence)
        tail = (1 - confidence) / 2
        roots = gammaincinv(2.0 * fit.discoveries, (tail, 1 - tail))
        low, high = (float(r) ** 2 / (4 * fit.log_age_sum * n) for r in roots)
        value = min(1.0, fit.probability)
        return Estimate(value, min(low, value), min(1.0, high), confidence, self.name, n)


@dataclass(frozen=True, slots=True)
class RecentGrowth:
    """A power law fitted to a recent window only, which corrects the lag of the recent rate.

    In a window (s, n] with U = ln(n/s) the intensity is Δ·(t/n)^(b-1), so D discoveries at ages
    u_i = ln(n/n_i) have the likelihood Δ^D·exp(-Δ·n·h(b) - (b-1)Σu_i), h(b) = (1-e^(-bU))/b.
    b has a flat prior on [``least``, ``most``]; Δ a Jeffreys prior; the posterior of Δ is a
    mixture of gammas over b, given by its mean and, for the interval, the gamma distribution
    with the same mean and variance. Without a discovery in the window: as the recent rate.
    """

    window: float = 0.5
    least: float = -2.0
    most: float = 1.5
    name: str = "recent-growth"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from the discoveries in the last ``window`` share of all inputs."""
        times = need_discoveries(observation)
        n = observation.n
        if n == 0:
            return nothing_yet(self.name, confidence)
        start = n - max(1, round(n * self.window))
        recent = times[int(times.searchsorted(start, side="right")) :]
        found = len(recent)
        if found == 0:
            return rule_of_three(self.name, observation, times, confidence)
        b, exposure = _grid(self.least, self.most, self.window)
        log_weight = -b * float(log_age(recent, n).sum()) - (found + 0.5) * np.log(exposure)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        per_exposure = weight / exposure
        mean = (found + 0.5) * float(per_exposure.sum())
        square = (found + 0.5) * (found + 1.5) * float((per_exposure / exposure).sum())
        shape = mean * mean / (square - mean * mean)
        low, high = intervals.gamma(shape, shape / mean, confidence)
        value = min(1.0, found / (found + 0.5) * mean / n)
        high = min(1.0, max(value, high / n))
        return Estimate(value, min(value, low / n), high, confidence, self.name, n)


@lru_cache(maxsize=16)
def _grid(least: float, most: float, window: float) -> tuple[Floats, Floats]:
    """Exponents b, and h(b) for a window of that share of all inputs."""
    span = -np.log1p(-window)
    b = np.linspace(least, most, 41)
    exposure = np.full_like(b, span)
    bent = np.abs(b) > 1e-9
    exposure[bent] = -np.expm1(-b[bent] * span) / b[bent]
    return b, exposure
