"""An upper end for Δ from a plain count, which needs no law: only that Δ does not rise."""

from __future__ import annotations

from fuzzwise.estimators.base import earliest_and_latest, need_discoveries, rule_of_three
from fuzzwise.estimators.waiting import raised
from fuzzwise.model import Estimate, Ints, Observation
from fuzzwise.special import gammaincinv

WINDOW = 0.4
"""The share of all inputs, the latest, over which discoveries are counted."""


def highest_mean(observation: Observation, error: float) -> float:
    """What Δ exceeds with no more than that probability, as far as it did not rise of late.

    The mean of Δ over a window is at least what Δ is at its end. The discoveries in the window are
    a Poisson variable with that mean times its inputs, so that Garwood's upper end holds for Δ as
    well, whatever the law by which it falls. Without a discovery in the window, the m inputs since
    the last one showed nothing: the Rule of Three. Discoveries that are known in groups alone
    count where they give most, and seeds that wait raise it as they raise the estimate.
    """
    times, n = need_discoveries(observation), observation.n
    ways = [times]
    if observation.counted_at is not None:
        ways += earliest_and_latest(times, observation.counted_at, n)
    high = max(_highest(observation, way, error) for way in ways)
    bound = Estimate(high, 0.0, high, 1 - error, "counted-mean", n)
    return raised(bound, observation.waiting).high or high


def _highest(observation: Observation, times: Ints, error: float) -> float:
    n = observation.n
    inputs = max(1, round(n * WINDOW))
    found = len(times) - int(times.searchsorted(n - inputs, side="right"))
    if found == 0:
        return rule_of_three("counted-mean", observation, times, 1 - error).high or 1.0
    return min(1.0, float(gammaincinv(found + 1.0, 1 - error)) / inputs)
