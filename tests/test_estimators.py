"""Every estimator against its formula, worked by hand, and its properties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from skbio.diversity.alpha import goods_coverage

from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.estimators.extrapolation import Extrapolation
from fuzzwise.estimators.good_turing import GoodTuring
from fuzzwise.estimators.growth import Growth, RecentGrowth
from fuzzwise.estimators.laplace import Laplace
from fuzzwise.estimators.mean_local import MeanLocalGoodTuring, MeanLocalLaplace
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.estimators.registry import DEFAULT, estimate_all, find, registered
from fuzzwise.estimators.reset import ResetGoodTuring
from fuzzwise.estimators.singleton_inputs import (
    ShrunkenSingletonInputs,
    SingletonInputs,
    WeightedSingletonInputs,
)
from fuzzwise.model import Estimate, Observation
from fuzzwise.validation import problems
from observations import ints, observations, seeds

ALL = list(registered())
FROM_SEEDS = [
    "mean-local-laplace",
    "mean-local-good-turing",
    "weighted-singleton-inputs",
    "shrunken-singleton-inputs",
]


def every_estimate(observation: Observation, confidence: float = 0.95) -> dict[str, Estimate]:
    results = estimate_all(observation, confidence)
    return {name: e for name, e in results.items() if isinstance(e, Estimate)}


# ── formulas ──────────────────────────────────────────────────────────────────────────────────


def test_laplace():
    assert Laplace()(Observation(n=98)).value == 1 / 100


def test_good_turing_counts_species_and_may_exceed_one():
    estimate = GoodTuring()(Observation(n=10, f=(25, 4, 0, 0)))
    assert estimate.value == 2.5
    assert estimate.risk == 1.0


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60))
def test_good_turing_equals_one_minus_goods_coverage(counts):
    f1 = counts.count(1)
    n = sum(counts)
    estimate = GoodTuring()(Observation(n=n, f=(f1, counts.count(2), 0, 0)))
    assert estimate.value == pytest.approx(1 - goods_coverage(counts))


def test_good_turing_interval_solves_its_score_equation():
    e = GoodTuring()(Observation(n=1000, f=(30, 12, 0, 0)))
    for end in (e.low, e.high):
        x = end * 1000
        assert (30 - x) ** 2 == pytest.approx(1.959963985**2 * (x + 2 * 13))


def test_reset_divides_the_window_by_all_inputs():
    o = Observation(n=200, resets={1: 3, 10: 8, 25: 9})
    assert ResetGoodTuring(1)(o).value == 3 / 200
    assert ResetGoodTuring(25)(o).value == 9 / 200
    assert estimate_all(o)["reset-25"].value == 9 / 200


def test_mean_local_laplace():
    o = Observation(n=10, seeds=seeds([0.25, 0.75], [8, 2]))
    assert MeanLocalLaplace()(o).value == pytest.approx(0.25 / 10 + 0.75 / 4)


def test_mean_local_good_turing_has_three_cases():
    o = Observation(n=10, seeds=seeds([0.5, 0.3, 0.2], [0, 4, 6], f1=[0, 0, 3]))
    assert MeanLocalGoodTuring()(o).value == pytest.approx(0.5 * 1 + 0.3 / 6 + 0.2 * 3 / 6)


def test_singleton_inputs_count_an_input_once():
    assert SingletonInputs()(Observation(n=50, k=5)).value == 0.1
    assert SingletonInputs()(Observation(n=50, k=5)).high is None
    assert SingletonInputs()(Observation(n=50, k=5, f=(40, 0, 0, 0))).high > 0.1


def test_weighted_singleton_inputs_use_the_pooled_rate_for_new_seeds():
    o = Observation(n=30, seeds=seeds([0.5, 0.3, 0.2], [20, 10, 0], k=[2, 4, 0]))
    assert WeightedSingletonInputs()(o).value == pytest.approx(0.5 * 0.1 + 0.3 * 0.4 + 0.2 * 6 / 30)


def test_shrunken_rates_lie_between_pooled_and_own():
    q, n, k = [0.5, 0.5], [1000, 1000], [10, 100]
    o = Observation(n=2000, seeds=seeds(q, n, k=k))
    assert ShrunkenSingletonInputs()(o).value == pytest.approx(0.055)
    lopsided = replace(o, seeds=seeds([0.9, 0.1], n, k=k))
    assert 0.9 * 0.01 + 0.1 * 0.1 < ShrunkenSingletonInputs()(lopsided).value < 0.055


def test_shrunken_rates_are_pooled_where_seeds_differ_by_chance_only():
    o = Observation(n=200, seeds=seeds([0.9, 0.1], [100, 100], k=[10, 10]))
    assert ShrunkenSingletonInputs()(o).value == pytest.approx(0.1)


def restated_recent_rate(times: list[int], n: int, start: int) -> float:
    """The same integral over b by another way: at ten thousand values, in plain sums."""
    recent = [t for t in times if t > start]
    ages, length = sum(math.log(n / (t - 0.5)) for t in recent), math.log(n / start)
    weights = means = 0.0
    for step in range(10_001):
        b = -3 + 5.5 * step / 10_000 + 1e-7
        exposure = (1 - math.exp(-b * length)) / b
        weight = math.exp(-b * ages - (b + 0.1) ** 2 / (2 * 0.6**2))
        weight *= exposure ** -(len(recent) + 0.5)
        weights, means = weights + weight, means + weight / exposure
    return (len(recent) + 0.5) * means / weights / n


@pytest.mark.parametrize(
    ("times", "start"),
    [
        ([1, 2, 400, 500, 501, 800, 1000], 500),  # few in all: the half
        ([*range(1, 700, 10), *range(760, 1000, 12)], 750),  # many of late: the quarter
        ([*range(600, 700, 10), 760, 800, 880, 990], 640),  # those before begin the window
        ([*range(400, 500, 10), 760, 800, 880, 990], 500),  # but no earlier than the half
    ],
)
def test_recent_rate_counts_a_window_and_takes_out_the_fall_within_it(times, start):
    e = RecentRate()(Observation(n=1000, discoveries=ints(times)))
    assert e.value == pytest.approx(restated_recent_rate(times, 1000, start), rel=1e-3)
    assert e.low < e.value < e.high


def test_more_discoveries_make_the_recent_rate_narrower_but_never_certain():
    """One that opens the way brings others along, and no law holds for long."""

    def width(every: int) -> float:
        e = RecentRate()(Observation(n=10**6, discoveries=ints(range(1, 10**6, every))))
        return e.high / e.low

    assert width(50_000) > width(5000) > width(500) > width(50)
    assert width(50) > math.exp(2 * 1.96 * 0.2)


def test_the_interval_is_wider_where_discoveries_are_rare():
    """As many in the window, at a thousandth of the rate: 2 orders below 0.003 count, no more."""

    def spread(every: int) -> float:
        seen = Observation(n=1000 * every, discoveries=ints(range(1, 1000 * every, every)))
        e = RecentRate(enough=1)(seen)
        return math.log(e.high / e.low) / (2 * 1.96)

    often, seldom, hardly = spread(100), spread(33_333), spread(333_333)
    assert seldom**2 - often**2 == pytest.approx(2 * 0.2**2, rel=0.2)
    assert hardly == pytest.approx(seldom, rel=0.01)


def test_recent_rate_without_recent_discovery_is_the_rule_of_three():
    e = RecentRate()(Observation(n=10_000, discoveries=ints([3, 2000])))
    assert e.value == 1 / 8002
    assert e.low == 0
    assert e.high == pytest.approx(1 - 0.05 ** (1 / 8000))
    assert e.high == pytest.approx(3 / 8000, rel=2e-3)


def test_growth_is_crow_amsaa():
    times = np.array([1, 4, 9, 16, 25, 36, 49, 64, 81, 100])
    o = Observation(n=100, discoveries=ints(times))
    b = 10 / np.log(100 / (times - 0.5)).sum()
    assert Growth()(o).value == pytest.approx(b * 10 / 100)


def test_growth_and_recent_counters_follow_a_power_law():
    """Discoveries at n_i = (i/c)^(1/b) for b = 1/4: Δ(n) = b·D/n exactly."""
    n, b = 10**8, 0.25
    times = np.ceil(((np.arange(300) + 0.5) / 300) ** (1 / b) * n).astype(np.int64)
    times = np.unique(times)
    o = Observation(n=n, discoveries=times)
    truth = b * len(times) / n
    assert RecentGrowth()(o).value == pytest.approx(truth, rel=0.05)
    assert Growth()(o).value == pytest.approx(truth, rel=0.05)
    assert RecentRate()(o).value == pytest.approx(truth, rel=0.05)


def test_extrapolation_recovers_an_exact_power_law():
    law = [(m, 3 * m**-0.7) for m in (100, 200, 400, 800)]
    o = Observation(n=10**6, measured=tuple(law))
    e = Extrapolation()(o)
    assert e.value == pytest.approx(3 * (10**6) ** -0.7)
    assert "R² 1.000 on 4 points" in e.note


def test_extrapolation_uses_only_points_early_enough_and_says_what_it_left_out():
    o = Observation(n=10_000, measured=((50, 0.1), (100, 0.05), (5000, 0.9), (9000, 0.0)))
    assert Extrapolation(ahead=100)(o).value == pytest.approx(0.1 * 200.0**-1)
    assert "1 without a discovery left out" in Extrapolation()(o).note
    with pytest.raises(NotEstimable, match="n/1000"):
        Extrapolation(ahead=1000)(o)


# ── registry ──────────────────────────────────────────────────────────────────────────────────


def test_every_name_leads_back_to_its_estimator():
    for name in ALL:
        assert find(name).name == name
    assert find("reset-7").name == "reset-7"
    assert find("extrapolation-30").name == "extrapolation-30"


def test_unknown_estimator_is_answered_with_the_nearest():
    with pytest.raises(BadInput, match="Did you mean 'good-turing'"):
        find("good-turin")


def test_missing_data_is_named():
    reasons = {
        name: str(e) for name, e in estimate_all(Observation(n=5)).items() if name != "laplace"
    }
    assert "field discoveries" in reasons["recent-rate"]
    assert "field f" in reasons["good-turing"]
    assert "field seeds" in reasons["mean-local-laplace"]
    assert "resets.10" in reasons["reset-10"]


# ── properties of every estimator ─────────────────────────────────────────────────────────────


@given(observations())
def test_strategy_makes_observations_without_contradictions(o):
    assert list(problems(o)) == []


@given(observations(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_values_and_intervals_are_ordered_and_finite(o, confidence):
    for name, e in every_estimate(o, confidence).items():
        assert math.isfinite(e.value), name
        assert e.value >= 0, name
        assert 0 <= e.risk <= 1, name
        assert (e.method, e.n) == (name, o.n)
        assert (e.low is None) == (e.high is None) == (e.confidence is None), name
        if e.low is not None:
            assert 0 <= e.low <= e.high, name
            assert e.low <= e.value <= e.high, name


@given(observations())
def test_estimators_of_inputs_are_probabilities(o):
    for name in ("recent-rate", "recent-growth", "growth", "singleton-inputs", "laplace"):
        e = find(name)(o)
        assert e.value <= 1, name


@given(observations())
def test_more_confidence_means_a_wider_interval(o):
    narrow, wide = every_estimate(o, 0.8), every_estimate(o, 0.99)
    for name, e in narrow.items():
        if e.low is not None:
            assert wide[name].low <= e.low + 1e-15, name
            assert wide[name].high >= e.high - 1e-15, name


@given(observations(min_inputs=1), st.randoms(use_true_random=False))
def test_order_of_seeds_does_not_matter(o, random):
    order = list(range(len(o.seeds)))
    random.shuffle(order)
    s = o.seeds
    shuffled = replace(
        o, seeds=seeds(s.q[order], s.n[order], s.f1[order], s.f2[order], s.k[order], s.g[order])
    )
    for name in FROM_SEEDS:
        assert find(name)(shuffled).value == pytest.approx(find(name)(o).value, rel=1e-9), name


@given(observations(min_inputs=10), st.integers(1, 1000))
def test_more_inputs_without_news_never_raise_a_count_based_estimate(o, more):
    later = replace(o, n=o.n + more)
    for name in ("laplace", "good-turing", "singleton-inputs", "growth", "reset-1", "reset-10"):
        assert find(name)(later).value <= find(name)(o).value * (1 + 1e-12), name


@given(observations(min_inputs=4))
def test_one_more_singleton_never_lowers_good_turing_and_its_relatives(o):
    f1, f2, f3, f4 = o.f
    more = replace(o, f=(f1 + 1, f2, f3, f4), species=o.species + 1)
    assert GoodTuring()(more).value > GoodTuring()(o).value
    s = o.seeds
    local = replace(o, seeds=seeds(s.q, s.n, s.f1 + (s.n > 0), s.f2, s.k, s.g))
    for_sure = MeanLocalGoodTuring()(o).value
    assume(np.any(s.f1 > 0))
    assert MeanLocalGoodTuring()(local).value >= for_sure - 1e-12 - np.sum(
        s.q[(s.f1 == 0) & (s.n > 0)]
    )


@given(observations(min_inputs=20))
def test_one_more_recent_discovery_never_lowers_the_discovery_counters(o):
    new = o.n - 1
    assume(new not in o.discoveries)
    more = replace(o, discoveries=ints(sorted([*o.discoveries.tolist(), new])))
    assert RecentRate()(more).value >= RecentRate()(o).value
    assert Growth()(more).value >= Growth()(o).value * (1 - 1e-12)


@given(observations(min_inputs=1), st.integers(2, 9))
def test_splitting_a_seed_in_equal_parts_keeps_the_pooled_value(o, parts):
    """q, n and k of a seed divided evenly over copies: the weighted rate is the same."""
    s = o.seeds
    copies = seeds(
        np.repeat(s.q / parts, parts),
        np.repeat(s.n * parts, parts),
        k=np.repeat(s.k * parts, parts),
    )
    whole = replace(o, seeds=seeds(s.q, s.n * parts, k=s.k * parts))
    split = replace(o, seeds=copies)
    assert WeightedSingletonInputs()(split).value == pytest.approx(
        WeightedSingletonInputs()(whole).value
    )


# ── edge cases, for every estimator ───────────────────────────────────────────────────────────

EMPTY = Observation(
    n=0,
    species=0,
    f=(0, 0, 0, 0),
    k=0,
    discoveries=ints([]),
    seeds=seeds([1.0], [0], [0], [0], [0], [0]),
    resets={1: 0, 10: 0},
)


def test_before_the_first_input_nothing_is_known():
    for name, e in every_estimate(EMPTY).items():
        expected = 0.5 if name in ("laplace", "mean-local-laplace") else 1.0
        assert e.value == expected, name
        if e.low is not None:
            assert (e.low, e.high) == (0.0, 1.0), name


def test_without_any_seed_the_estimators_from_seeds_say_so():
    o = replace(EMPTY, n=10, seeds=seeds([], [], [], [], [], []))
    for name in FROM_SEEDS:
        with pytest.raises(NotEstimable, match="at least one seed"):
            find(name)(o)
    assert find(DEFAULT)(o).value > 0


def test_without_singletons_nothing_is_divided_by_zero():
    o = replace(EMPTY, n=1000, seeds=seeds([1.0], [1000], [0], [0], [0], [0]))
    values = {name: e.value for name, e in every_estimate(o).items()}
    assert values["good-turing"] == values["singleton-inputs"] == values["reset-1"] == 0
    assert values["weighted-singleton-inputs"] == values["shrunken-singleton-inputs"] == 0
    assert values["recent-rate"] == values["growth"] == values["recent-growth"] == 1 / 1002
    assert find("good-turing")(o).high > 3 / 1000


def test_everything_a_singleton_means_everything_is_new():
    n = 64
    o = Observation(
        n=n,
        species=n,
        f=(n, 0, 0, 0),
        k=n,
        discoveries=ints(range(1, n + 1)),
        seeds=seeds([0.5, 0.5], [n // 2, n // 2], [32, 32], [0, 0], [32, 32], [32, 32]),
        resets={1: 0, 10: 4},
    )
    values = {name: e.value for name, e in every_estimate(o).items()}
    for name in (
        "good-turing",
        "singleton-inputs",
        "weighted-singleton-inputs",
        "shrunken-singleton-inputs",
        "mean-local-good-turing",
    ):
        assert values[name] == 1.0, name
    assert values["growth"] == pytest.approx(1.0, abs=0.05)
    for name in ("recent-growth", "recent-rate"):
        assert values[name] == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("found", [[], [1]])
def test_first_inputs(n, found):
    o = replace(EMPTY, n=n, discoveries=ints(found), species=len(found))
    for name in ("recent-rate", "recent-growth", "growth"):
        e = find(name)(o)
        assert 0 < e.value <= 1, name
        assert e.low <= e.value <= e.high <= 1, name
