"""An upper end for Δ from a plain count, which needs no law: only that Δ does not rise."""

from __future__ import annotations

from fuzzwise.estimators import bursts
from fuzzwise.estimators.base import earliest_and_latest, need_discoveries
from fuzzwise.estimators.waiting import raised
from fuzzwise.model import Estimate, Ints, Observation
from fuzzwise.special import gammaincinv

WINDOW = 0.35
"""The share of all inputs, the latest, over which discoveries are counted."""


def scatter_of(observation: Observation) -> float:
    """How much more its discoveries scatter than independent ones.

    Where they are known in groups alone, their even spread hides bursts: at least what is usual.
    """
    seen = bursts.scatter(need_discoveries(observation))
    return seen if observation.counted_at is None else max(bursts.USUAL, seen)


def highest_mean(observation: Observation, error: float, scatter: float | None = None) -> float:
    """What Δ exceeds with no more than that probability, as far as it did not rise of late.

    The mean of Δ over a window is at least what Δ is at its end. The discoveries in the window are
    a Poisson variable with that mean times its inputs, so that Garwood's upper end holds for Δ as
    well, whatever the law by which it falls. They come in bursts: a count whose variance is φ
    times its mean is taken for φ times a Poisson variable. φ is the campaign's own, unless
    ``scatter`` says another. Without a discovery in the window, the m inputs since the last one
    showed nothing: the Rule of Three, 1 - α^(φ/m). Discoveries that are known in groups alone
    count where they give most, and seeds that wait raise it as they raise the estimate.
    """
    found, n = need_discoveries(observation), observation.n
    ways = [found]
    if observation.counted_at is not None:
        ways += earliest_and_latest(found, observation.counted_at, n)
    phi = scatter_of(observation) if scatter is None else scatter
    high = max(_highest(way, n, error, phi) for way in ways)
    bound = Estimate(high, 0.0, high, 1 - error, "counted-mean", n)
    return raised(bound, observation).high or high


def _highest(found: Ints, n: int, error: float, phi: float) -> float:
    inputs = max(1, round(n * WINDOW))
    recent = len(found) - int(found.searchsorted(n - inputs, side="right"))
    if recent == 0:
        quiet = n - int(found[-1]) if len(found) else n
        return float(1 - error ** (phi / quiet))
    return min(1.0, phi * float(gammaincinv(recent / phi + 1.0, 1 - error)) / inputs)
