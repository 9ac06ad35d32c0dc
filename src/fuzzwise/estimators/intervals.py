"""Exact intervals for counts, from scipy's special functions.

``confidence`` is two-sided throughout: 0.95 leaves 2.5 % at each end, except where the lower end
is 0 by definition (nothing was seen), where all of 1 - confidence goes to the upper end.
"""

from __future__ import annotations

from functools import lru_cache

from fuzzwise.special import betaincinv, gammaincinv, ndtri


def poisson(count: int, confidence: float) -> tuple[float, float]:
    """Garwood's exact interval for the mean of a Poisson variable that showed ``count``."""
    tail = (1 - confidence) / 2
    if count == 0:
        return 0.0, float(gammaincinv(1.0, confidence))
    return float(gammaincinv(count, tail)), float(gammaincinv(count + 1.0, 1 - tail))


def gamma(shape: float, rate: float, confidence: float) -> tuple[float, float]:
    """Equal-tailed quantiles of a gamma distribution."""
    tail = (1 - confidence) / 2
    low, high = gammaincinv(shape, (tail, 1 - tail))
    return float(low) / rate, float(high) / rate


def binomial(count: int, trials: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval for a probability."""
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, trials - count + 1.0, tail))
    high = 1.0 if count == trials else float(betaincinv(count + 1.0, trials - count, 1 - tail))
    return low, high


def never_seen(trials: int, confidence: float) -> float:
    """Upper end for the probability of what did not occur in ``trials``: the Rule of Three.

    Exactly 1 - (1 - confidence)^(1/trials), about 3/trials at 95 %; 1 without any trial.
    """
    return 1.0 if trials == 0 else float(1 - (1 - confidence) ** (1 / trials))


@lru_cache(maxsize=64)
def normal_quantile(confidence: float) -> float:
    """The z for which a standard normal variable lies in (-z, z) with that probability."""
    return float(ndtri(0.5 + confidence / 2))
