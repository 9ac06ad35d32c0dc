"""How many species there are in all, and how many more inputs would show.

These are not discovery probabilities and are kept apart from the registry of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, log1p, sqrt

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.base import need, need_discoveries, need_incidence
from fuzzwise.estimators.intervals import normal_quantile
from fuzzwise.model import Estimate, Floats, Observation
from fuzzwise.power_law import fit_growth
from fuzzwise.special import gammainc, gammaincinv


@dataclass(frozen=True, slots=True)
class Chao:
    """Chao's lower bound on the number of species: Ŝ = S + A·f1²/(2 f2).

    Without doubletons the bias-corrected form S + A·f1(f1-1)/2 applies. A = 1 is Chao1 (one input
    shows one species, Chao 1984); A = (n-1)/n is Chao2 (one input may show many, Chao 1987).
    S counts the species that inputs of the campaign showed, plus those only the initial corpus
    did. The interval is log-normal for the part not seen yet, S + f̂0/K … S + f̂0·K (Chao 1987), so
    it never goes below S. It covers where species are about equally likely; otherwise Ŝ is too low.

    A lower bound in expectation, and for independent inputs only: a greybox campaign reaches
    species that had no chance before, and Ŝ rises with it.
    """

    name: str = "chao2"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate the number of species."""
        f1, f2, _, _ = need_incidence(observation)
        seen = need(observation.species, "the number of species (field species)")
        n = observation.n
        if n == 0:
            return Estimate(seen, None, None, None, self.name, n, "no input yet; species seen")
        unseen, variance = self.unseen(seen, f1, f2, n)
        if unseen <= 0:
            note = "at most one species was shown once, so nothing points to unseen ones"
            return Estimate(seen, None, None, None, self.name, n, note)
        k = exp(normal_quantile(confidence) * sqrt(log1p(variance / unseen**2)))
        return Estimate(
            seen + unseen, seen + unseen / k, seen + unseen * k, confidence, self.name, n
        )

    def unseen(self, seen: int, f1: int, f2: int, n: int) -> tuple[float, float]:
        """The species not seen yet, f̂0, and the variance of Ŝ."""
        a = (n - 1) / n if self.name == "chao2" else 1.0
        if f2 > 0:
            r = f1 / f2
            return a * f1 * r / 2, f2 * (a * r**2 / 2 + a**2 * r**3 + a**2 * r**4 / 4)
        missing = a * f1 * (f1 - 1) / 2
        if missing == 0:
            return 0.0, 0.0
        spread = missing + a**2 * f1 * (2 * f1 - 1) ** 2 / 4
        return missing, max(0.0, spread - a**2 * f1**4 / (4 * (seen + missing)))


@dataclass(frozen=True, slots=True)
class ChaoReach:
    """Species after m more inputs, if the distribution stays as it is (blackbox).

    S(n+m) = S + f̂0·[1 - (1 - f1/(n·f̂0 + f1))^m] (Chao et al. 2014, with Chao2's f̂0). No interval:
    f̂0 is a lower bound, so the error is mostly one-sided.
    """

    name: str = "chao-reach"

    def __call__(self, observation: Observation, more: int, confidence: float = 0.95) -> Estimate:  # noqa: ARG002
        """Predict the species seen after ``more`` further inputs."""
        f1, f2, _, _ = need_incidence(observation)
        seen = need(observation.species, "the number of species (field species)")
        n = observation.n
        if n == 0:
            raise NotEstimable("needs at least one input")
        unseen, _ = Chao().unseen(seen, f1, f2, n)
        if unseen <= 0:
            return Estimate(seen, None, None, None, self.name, n)
        chance = f1 / (n * unseen + f1)
        grown = -unseen * np.expm1(more * log1p(-chance)) if chance < 1 else unseen
        return Estimate(seen + float(grown), None, None, None, self.name, n)


@dataclass(frozen=True, slots=True)
class GrowthReach:
    """Discoveries after m more inputs, if the campaign's power law goes on: D·((n+m)/n)^b̂.

    Counts inputs that discover something (each becomes a seed), not species. The interval is
    predictive: the exponent's pivot 2bS ~ χ²(2D), the level's Λ ~ Γ(D+1/2), and the Poisson noise
    of the m inputs to come.
    """

    name: str = "growth-reach"

    def __call__(self, observation: Observation, more: int, confidence: float = 0.95) -> Estimate:
        """Predict the number of discoveries after ``more`` further inputs."""
        times = need_discoveries(observation)
        n = observation.n
        fit = fit_growth(times, n) if n else None
        if fit is None:
            raise NotEstimable("needs at least one discovery")
        found = fit.discoveries
        middles = (np.arange(64) + 0.5) / 64
        b = gammaincinv(float(found), middles) / fit.log_age_sum
        level = gammaincinv(found + 0.5, middles)
        tail = (1 - confidence) / 2
        # Each input to come discovers at most once, whatever a steep law says.
        with np.errstate(over="ignore"):
            growth = np.expm1(np.append(b, fit.exponent) * log1p(more / n))
            to_come = np.minimum(np.outer(growth[:-1], level).ravel(), more)
            value = float(np.minimum(found * growth[-1], more))
        low, high = (min(_mixed_poisson_quantile(to_come, p), more) for p in (tail, 1 - tail))
        return Estimate(
            found + value,
            found + min(low, value),
            found + max(high, value),
            confidence,
            self.name,
            n,
        )


def _mixed_poisson_quantile(mean: Floats, p: float) -> float:
    """The smallest count c with P(Poisson(mean) ≤ c) ≥ p, mean drawn from the given values.

    A few of them, evenly spread, tell where to look: every look at all of them is slow.
    """

    def reached(count: float, among: Floats) -> bool:
        return bool(np.mean(1 - gammainc(count + 1, among)) >= p)

    each = len(mean) // 64 or 1
    few = np.sort(mean)[each // 2 :: each]
    return _smallest(partial(reached, among=mean), _smallest(partial(reached, among=few), 0.0))


def _smallest(reached: Callable[[float], bool], guess: float) -> float:
    """The smallest whole number for which a monotone condition holds.

    From the guess on in steps that double, until it is between two numbers, and then by halving.
    """
    step = 1.0
    if reached(guess):
        low, high = guess - step, guess
        while low >= 0 and reached(low):
            step *= 2
            low, high = low - step, low
        low = max(low, -1.0)
    else:
        low, high = guess, guess + step
        while not reached(high):
            step *= 2
            low, high = high, high + step
    while high - low > 1:
        middle = float(np.floor((low + high) / 2))
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
