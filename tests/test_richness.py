"""Chao's estimates against scikit-bio, and the predictions of what is still to come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skbio.diversity.alpha import chao1, chao1_ci

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.richness import Chao, ChaoReach, GrowthReach
from fuzzwise.model import Observation
from observations import ints

counts = st.lists(st.integers(1, 12), min_size=1, max_size=80)


def observation(values: list[int]) -> Observation:
    f = tuple(values.count(i) for i in (1, 2, 3, 4))
    return Observation(n=sum(values), species=len(values), f=f)


@given(counts)
def test_chao1_equals_scikit_bio(values):
    ours = Chao("chao1")(observation(values))
    assert ours.value == pytest.approx(chao1(values, bias_corrected=False))


@given(counts)
def test_chao1_interval_equals_scikit_bio(values):
    values = [*values, 1, 1]
    ours = Chao("chao1")(observation(values))
    low, high = chao1_ci(values, bias_corrected=False, zscore=1.959963984540054)
    # With doubletons scikit-bio has 0.24 where Chao's variance has a quarter.
    tolerance = 0.02 if values.count(2) else 1e-9
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=tolerance)


@given(counts)
def test_chao2_shrinks_chao1_by_the_number_of_inputs(values):
    o = observation(values)
    unseen1 = Chao("chao1")(o).value - o.species
    unseen2 = Chao("chao2")(o).value - o.species
    assert unseen2 == pytest.approx(unseen1 * (o.n - 1) / o.n)


def test_without_singletons_nothing_points_to_unseen_species():
    e = Chao()(Observation(n=100, species=7, f=(0, 3, 4, 0)))
    assert (e.value, e.low, e.high) == (7, None, None)
    assert "nothing points to unseen" in e.note


def test_before_the_first_input_the_corpus_is_all_that_is_known():
    e = Chao()(Observation(n=0, species=3, f=(0, 0, 0, 0)))
    assert (e.value, e.high) == (3, None)


@given(counts, st.integers(0, 10**6))
def test_reach_grows_from_what_is_seen_to_what_there_is(values, more):
    o = observation(values)
    reached = ChaoReach()(o, more).value
    total = Chao()(o).value
    assert o.species - 1e-9 <= reached <= total + 1e-9
    assert ChaoReach()(o, more + 1000).value >= reached - 1e-9
    assert ChaoReach()(o, 0).value == pytest.approx(o.species)


def test_reach_predicts_a_blackbox_campaign():
    """Mean prediction after twice the inputs against the closed form (3), within 3 %."""
    rng = np.random.default_rng(1)
    p = np.full(300, 1 / 300)
    truth = np.sum(1 - (1 - p) ** 1000)
    predicted = []
    for _ in range(300):
        c = rng.multinomial(500, p)
        f = tuple(int((c == i).sum()) for i in (1, 2, 3, 4))
        predicted.append(
            ChaoReach()(Observation(n=500, species=int((c > 0).sum()), f=f), 500).value
        )
    assert np.mean(predicted) == pytest.approx(truth, rel=0.03)


def test_growth_reach_follows_the_power_law():
    times = ((np.arange(100) + 0.5) / 100) ** 2 * 10**6  # b = 1/2
    o = Observation(n=10**6, discoveries=ints(np.ceil(times)))
    e = GrowthReach()(o, 3 * 10**6)
    assert e.value == pytest.approx(200, rel=0.03)
    assert e.low < 200 < e.high
    assert GrowthReach()(o, 0).value == 100


@given(st.sets(st.integers(1, 1000), min_size=1, max_size=60), st.integers(0, 5000))
def test_growth_reach_never_promises_more_than_one_discovery_an_input(times, more):
    o = Observation(n=1000, discoveries=ints(sorted(times)))
    e = GrowthReach()(o, more)
    assert len(times) <= e.low <= e.high <= len(times) + more
    assert len(times) <= e.value <= len(times) + more


def test_growth_reach_needs_a_discovery():
    with pytest.raises(NotEstimable, match="at least one discovery"):
        GrowthReach()(Observation(n=10, discoveries=ints([])), 10)
