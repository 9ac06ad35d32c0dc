"""The upper end from a plain count, on which the stop rule spends its error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators import intervals
from fuzzwise.estimators.bursts import USUAL
from fuzzwise.estimators.counted_mean import highest_mean
from fuzzwise.model import Observation
from observations import ints


def test_it_is_where_so_few_discoveries_have_that_probability():
    """Three in the last 350 of 1000 inputs; those before do not count."""
    o = Observation(n=1000, discoveries=ints([1, 2, 3, 650, 651, 800, 1000]))
    assert poisson.cdf(3, 350 * highest_mean(o, 0.01, scatter=1)) == pytest.approx(0.01)


def test_discoveries_in_bursts_of_three_say_as_much_as_a_third_of_them_alone():
    times = ints([1, 2, 3, 700, 701, 702, 800, 801, 802])
    o = Observation(n=1000, discoveries=times)
    alone = Observation(n=1000, discoveries=times[::3])
    one_by_one = highest_mean(alone, 0.01, scatter=1)
    assert highest_mean(o, 0.01, scatter=3) == pytest.approx(3 * one_by_one)


def test_without_a_discovery_of_late_all_inputs_since_the_last_one_count():
    """They say as much as two thirds of them, as long as bursts may be of the usual size."""
    o = Observation(n=1000, discoveries=ints([1, 500]))
    assert (1 - highest_mean(o, 0.05)) ** (500 / USUAL) == pytest.approx(0.05)
    never = Observation(n=1000, discoveries=ints([]))
    assert (1 - highest_mean(never, 0.05)) ** (1000 / USUAL) == pytest.approx(0.05)


def test_a_group_across_the_beginning_of_the_window_counts_whole():
    """Ten somewhere between the inputs 500 and 700: all of them may be among the last 350."""
    told = ints(np.linspace(520, 700, 10).astype(int))
    exact = Observation(n=1000, discoveries=told)
    groups = Observation(n=1000, discoveries=told, counted_at=ints([0, 500, 700]))
    late = Observation(n=1000, discoveries=ints(range(691, 701)))
    assert highest_mean(exact, 0.05) < highest_mean(groups, 0.05)
    assert highest_mean(groups, 0.05) == highest_mean(late, 0.05)


def test_seeds_that_wait_raise_it_as_they_raise_the_estimate():
    o = Observation(n=100_000, discoveries=ints([1, 500, 90_000]))
    half = Observation(n=100_000, discoveries=o.discoveries, waiting=0.5)
    at_most = 20 * intervals.poisson(3, 0.95)[1] / 100_000
    assert highest_mean(half, 0.05) == pytest.approx((highest_mean(o, 0.05) + at_most) / 2)


def test_it_needs_discoveries():
    with pytest.raises(NotEstimable, match="field discoveries"):
        highest_mean(Observation(n=10), 0.05)


@pytest.mark.parametrize("exponent", [1.0, 0.6, 0.2])
@pytest.mark.parametrize("expected", [4, 60])
def test_it_is_below_the_truth_no_more_often_than_it_says(exponent, expected):
    """2000 campaigns, Δ(n) ∝ n^(b-1): with b = 1 it is at the limit, else there is room."""
    rng, n, error = np.random.default_rng(5), 20_000, 0.1
    truth = exponent * expected / n
    below = 0
    for _ in range(2000):
        times = n * rng.random(rng.poisson(expected)) ** (1 / exponent)
        found = np.unique(np.ceil(times)).astype(np.int64)
        below += highest_mean(Observation(n=n, discoveries=found), error) < truth
    assert below / 2000 <= error + 0.025
