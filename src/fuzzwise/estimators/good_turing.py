"""Good and Turing's estimate from species seen once."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from fuzzwise.estimators.base import need_incidence, nothing_yet
from fuzzwise.estimators.intervals import normal_quantile
from fuzzwise.model import Estimate, Observation


@dataclass(frozen=True, slots=True)
class GoodTuring:
    """Δ̂ = f1/n, equation (22).

    Unbiased where inputs are independent and identically distributed (blackbox). A greybox
    campaign re-finds old species with every new seed, so it reads far too low there.

    The interval is of the score type: it solves (f1 - nΔ)² = z²(nΔ + 2(f2 + 1)) for nΔ, with the
    variance taken at the unknown Δ instead of at f1/n, and one doubleton more than seen, since a
    small f2 is itself uncertain. So it has a width where f1 is 0, and covers where the common
    f1 ± z·√(f1(1 - f1/n) + 2 f2) does not. Blackbox campaigns only.
    """

    name: str = "good-turing"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from f1, interval from f1 and f2."""
        f1, f2, _, _ = need_incidence(observation)
        n = observation.n
        if n == 0:
            return nothing_yet(self.name, confidence)
        low, high = score_interval(f1, f2, confidence)
        return Estimate(f1 / n, low / n, high / n, confidence, self.name, n)


def score_interval(once: int, twice: int, confidence: float) -> tuple[float, float]:
    """nΔ ∈ f1 + z²/2 ± z·√(f1 + 2(f2 + 1) + z²/4), cut at 0."""
    z = normal_quantile(confidence)
    middle = once + z * z / 2
    half = z * sqrt(once + 2 * (twice + 1) + z * z / 4)
    return max(0.0, middle - half), middle + half
