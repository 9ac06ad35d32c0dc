"""Fitting power laws, against scipy and statsmodels-style closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

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
