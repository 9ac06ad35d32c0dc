"""Fitting power laws, against scipy and statsmodels-style closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fuzzwise.bent_law import fit_bent
from fuzzwise.power_law import fit, fit_growth


@given(st.lists(st.floats(1e-6, 1), min_size=3, max_size=30))
def test_fit_equals_linear_regression_of_the_logarithms(values):
    n = 100.0 * 2 ** np.arange(len(values))
    delta = np.array(values)
    law = fit(n, delta)
    expected = stats.linregress(np.log(n), np.log(delta))
    assert law.slope == pytest.approx(expected.slope, abs=1e-9)
    assert law.intercept == pytest.approx(expected.intercept, abs=1e-7)
    if np.ptp(np.log(delta)) > 1e-6:
        assert law.r2 == pytest.approx(expected.rvalue**2, abs=1e-6)


def test_weights_are_repetitions():
    n, delta = np.array([10.0, 100.0, 1000.0]), np.array([0.2, 0.1, 0.001])
    weighted = fit(n, delta, np.array([1.0, 3.0, 2.0]))
    repeated = fit(np.repeat(n, [1, 3, 2]), np.repeat(delta, [1, 3, 2]))
    assert weighted.slope == pytest.approx(repeated.slope)
    assert weighted.r2 == pytest.approx(repeated.r2)


def test_points_without_discovery_are_left_out():
    law = fit(np.array([10.0, 100.0, 1000.0]), np.array([0.1, 0.01, 0.0]))
    assert law.points == 2
    assert law.at(1000) == pytest.approx(0.001)


def test_constant_probability_is_explained_fully():
    law = fit(np.array([10.0, 100.0, 1000.0]), np.full(3, 0.3))
    assert (law.slope, law.r2) == (pytest.approx(0, abs=1e-12), 1.0)


@pytest.mark.parametrize("n", [[], [10.0], [10.0, 10.0]])
def test_no_law_through_fewer_than_two_different_points(n):
    assert fit(np.array(n), np.full(len(n), 0.1)) is None


def test_growth_fit_recovers_the_exponent():
    times = np.ceil(((np.arange(2000) + 0.5) / 2000) ** 2.5 * 10**9).astype(np.int64)
    growth = fit_growth(times, 10**9)
    assert growth.exponent == pytest.approx(0.4, rel=0.01)
    assert fit_growth(times[:0], 10**9) is None


def test_a_bent_law_is_found_where_there_is_much_to_see():
    """300,000 discoveries without bursts: what is left of the prior is small."""
    rng = np.random.default_rng(8)
    n, level, slope, curvature = 10**7, -3.5, -1.1, -0.05
    edges = n * np.exp(-np.arange(0, 7, 0.01))
    x = np.log((edges[1:] + edges[:-1]) / 2 / n)
    counts = rng.poisson(np.exp(level + slope * x + curvature * x * x) * -np.diff(edges))
    ends = np.repeat(edges[:-1], counts)
    law = fit_bent(np.unique((ends * (1 - 0.009 * rng.random(len(ends)))).astype(np.int64)), n)
    assert law is not None
    errors = np.sqrt(np.diag(law.covariance))
    found = np.array([law.level, law.slope, law.curvature])
    assert np.all(np.abs(found - [level, slope, curvature]) < 2.5 * errors)
    mean, deviation = law.ahead(np.array([0.0, 1.0, 3.0]))
    assert mean[1] == pytest.approx(law.level + law.slope + law.curvature)
    assert np.all(np.diff(deviation) > 0)


def test_few_discoveries_bend_nothing():
    assert fit_bent(np.array([1, 2, 3, 4, 5]), 10**6) is None  # all before the last 8 doublings
    assert fit_bent(np.array([], dtype=np.int64), 0) is None
    assert fit_bent(np.array([1, 2, 3, 4, 5, 6]), 6) is not None


@given(st.integers(1, 10**12), st.lists(st.floats(0, 1), max_size=60))
def test_whatever_was_found_the_fit_is_finite(n, shares):
    times = np.unique(np.clip(np.ceil(np.array(shares) * n), 1, n)).astype(np.int64)
    law = fit_bent(times, n)
    if law is not None:
        mean, deviation = law.ahead(np.linspace(0, 14, 50))
        assert np.isfinite([*mean, *deviation]).all()


def test_a_target_that_has_shown_most_of_what_it_has_is_expected_to_fall_faster():
    """The same discoveries over the last doublings, behind few and behind many earlier ones."""
    n = 1_000_000
    late = np.unique(np.geomspace(n / 200, n, 40).astype(np.int64))
    many_before = np.concatenate([np.arange(1, 2001), late])
    behind_few, behind_many = (fit_bent(times, n) for times in (late, many_before))
    assert behind_few is not None
    assert behind_many is not None
    assert behind_many.slope < behind_few.slope - 0.1
