"""How much more discoveries scatter than independent ones, from a campaign's own past."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzwise.estimators.bursts import USUAL, scatter
from fuzzwise.estimators.counted_mean import scatter_of
from fuzzwise.model import Observation
from observations import ints


def numbers(times: np.ndarray) -> np.ndarray:
    return np.unique(np.ceil(times)).astype(np.int64)


def mean_scatter(follow: float, exponent: float = 1.0) -> float:
    """Over 100 campaigns of about 500 discoveries; so many come after each on average, soon."""
    rng, n = np.random.default_rng(8), 10**7
    seen = []
    for _ in range(100):
        times = n * rng.random(rng.poisson(500 / (1 + follow))) ** (1 / exponent)
        behind = np.repeat(times, rng.poisson(follow, len(times)))
        close = behind * (1 + rng.exponential(1e-4, len(behind)))
        seen.append(scatter(numbers(np.concatenate([times, close]))))
    return float(np.mean(seen))


@pytest.mark.parametrize("exponent", [1.0, 0.5, 0.2])
def test_independent_discoveries_scatter_little_whatever_the_law_by_which_they_fall(exponent):
    """What is usual counts as 4 of 44 pairs, and nothing is below 1: a little more than 1.1."""
    assert 1.0 < mean_scatter(0.0, exponent) < 1.3


@pytest.mark.parametrize("follow", [0.5, 1.0, 2.0])
def test_bursts_are_seen_nearly_as_large_as_they_are(follow):
    """Of 1 + Poisson(f) in a burst: the variance of a count over its mean is E[K²]/E[K]."""
    truth = (1 + 3 * follow + follow**2) / (1 + follow)
    assert 0.75 * truth < mean_scatter(follow) < 1.25 * truth


def test_with_few_discoveries_bursts_are_of_the_usual_size():
    assert scatter(ints([])) == scatter(ints(range(1, 24))) == USUAL
    assert scatter(ints(np.geomspace(10, 10**6, 24))) < USUAL


def test_it_is_never_below_that_of_independent_discoveries():
    assert scatter(ints(np.geomspace(100, 10**9, 400))) == 1.0


def test_the_even_spread_of_groups_does_not_hide_bursts():
    even = ints(np.geomspace(100, 10**9, 400))
    alone = Observation(n=10**9, discoveries=even)
    grouped = Observation(n=10**9, discoveries=even, counted_at=ints([0, 10**5]))
    assert (scatter_of(alone), scatter_of(grouped)) == (1.0, USUAL)
