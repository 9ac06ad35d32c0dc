"""What holds for every scheduler, and what users see of them: names, parameters, errors."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fuzzwise import plugins
from fuzzwise.errors import BadInput
from fuzzwise.schedulers import registry
from fuzzwise.schedulers.base import Epoch, EpochResult, Scheduler
from fuzzwise.schedulers.bff import Bff
from fuzzwise.schedulers.boian import Boian
from fuzzwise.schedulers.epsilon_greedy import EpsilonGreedy
from fuzzwise.schedulers.fewa import Fewa
from fuzzwise.schedulers.good_ucb import GoodUcb
from fuzzwise.schedulers.hypofuzz import HypoFuzz
from fuzzwise.schedulers.raw_ucb import RawUcb
from fuzzwise.schedulers.risk_rate import RiskRate
from fuzzwise.schedulers.round_robin import RoundRobin
from fuzzwise.schedulers.thompson import Thompson
from fuzzwise.schedulers.uniform_random import UniformRandom
from fuzzwise.schedulers.weighted_random import WeightedRandom

# Each statistical test below fails by chance with this probability; seeds are fixed.
ALPHA = 1e-5

POLICIES = registry.policies()
WITHOUT_A_FIRST_ROUND = {"uniform-random", "exp3.s.1", "bff"}

results = st.builds(
    EpochResult,
    runs=st.sampled_from([0, 1, 200, 10**6]),
    seconds=st.sampled_from([0.0, 1e-6, 10.0, 1e5]),
    bugs=st.integers(0, 3),
    new_bugs=st.integers(0, 3),
    singletons=st.integers(0, 5),
)


def frequencies(scheduler: Scheduler, count: int, draws: int) -> np.ndarray:
    return np.bincount([scheduler.choose() for _ in range(draws)], minlength=count)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=40)
@given(data=st.data())
def test_only_available_configurations_are_chosen_whatever_the_epochs_show(name, data):
    count = data.draw(st.integers(1, 6))
    scheduler = Scheduler(POLICIES[name], count, np.random.default_rng(data.draw(st.integers(0))))
    paused: set[int] = set()
    in_flight: list[int] = []
    for _ in range(data.draw(st.integers(1, 30))):
        arm = data.draw(st.integers(0, count - 1))
        if arm in paused:
            scheduler.resume(arm)
            paused.remove(arm)
        elif len(paused) < count - 1:
            scheduler.pause(arm)
            paused.add(arm)
        chosen = scheduler.choose()
        assert 0 <= chosen < count
        assert chosen not in paused
        in_flight.append(chosen)
        while in_flight and data.draw(st.booleans()):
            scheduler.learn(in_flight.pop(0), data.draw(results))


@pytest.mark.parametrize("name", POLICIES)
def test_numbers_stay_finite_over_a_long_campaign_full_of_bugs(name):
    rng = np.random.default_rng(5)
    scheduler = Scheduler(POLICIES[name], 3, rng)
    chosen = np.zeros(3, int)
    for _ in range(5000):
        arm = scheduler.choose()
        chosen[arm] += 1
        scheduler.learn(arm, EpochResult(200, 0.01, bugs=1, new_bugs=1, singletons=1))
    assert chosen.sum() == 5000
    assert np.isfinite(scheduler._arms).all()
    assert np.isfinite(scheduler._memory).all()


@pytest.mark.parametrize("name", sorted(set(POLICIES) - WITHOUT_A_FIRST_ROUND))
def test_every_configuration_gets_one_epoch_first_even_if_it_was_away(name):
    scheduler = Scheduler(POLICIES[name], 5, np.random.default_rng(1))
    scheduler.pause(2)
    first = []
    for _ in range(4):
        first.append(scheduler.choose())
        scheduler.learn(first[-1], EpochResult(200, 10.0, bugs=4, new_bugs=4, singletons=4))
    assert first == [0, 1, 3, 4]
    scheduler.resume(2)
    if name == "round-robin":  # goes on in its order
        first = [scheduler.choose(), scheduler.choose()]
    assert scheduler.choose() == 2


@pytest.mark.parametrize("name", [n for n in POLICIES if n.endswith(("/rgr", "/density", "/rate"))])
def test_while_no_bug_is_found_the_choice_is_uniform(name):
    scheduler = Scheduler(POLICIES[name], 4, np.random.default_rng(2))
    for runs in (10, 2000, 30, 7):
        scheduler.learn(scheduler.choose(), EpochResult(runs, runs / 3))
    counts = frequencies(scheduler, 4, 4000)
    assert stats.chisquare(counts).pvalue > ALPHA


def test_round_robin_keeps_its_order_and_passes_over_those_that_are_away():
    scheduler = Scheduler(RoundRobin(), 4, np.random.default_rng(3))
    assert [scheduler.choose() for _ in range(6)] == [0, 1, 2, 3, 0, 1]
    scheduler.pause(2)
    assert [scheduler.choose() for _ in range(4)] == [3, 0, 1, 3]
    scheduler.resume(2)
    assert [scheduler.choose() for _ in range(4)] == [0, 1, 2, 3]


def test_uniform_random_gives_everyone_available_the_same_chance():
    scheduler = Scheduler(UniformRandom(), 6, np.random.default_rng(4))
    scheduler.pause(0)
    scheduler.pause(4)
    counts = frequencies(scheduler, 6, 8000)
    assert counts[[0, 4]].sum() == 0
    assert stats.chisquare(counts[[1, 2, 3, 5]]).pvalue > ALPHA


def test_weighted_random_follows_the_belief():
    scheduler = Scheduler(WeightedRandom("rate"), 4, np.random.default_rng(5))
    for bugs in (1, 0, 2, 5):
        scheduler.learn(scheduler.choose(), EpochResult(100, 10.0, bugs=bugs))
    counts = frequencies(scheduler, 4, 8000)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], [1000, 2000, 5000]).pvalue > ALPHA


def test_epsilon_greedy_breaks_ties_at_random():
    scheduler = Scheduler(EpsilonGreedy("density", 0.2), 5, np.random.default_rng(6))
    for bugs in (2, 1, 2, 0, 2):
        scheduler.learn(scheduler.choose(), EpochResult(100, 10.0, bugs=bugs))
    counts = frequencies(scheduler, 5, 10_000)
    best, anyone = 10_000 * 0.8 / 3, 10_000 * 0.2 / 5
    expected = [best + anyone, anyone, best + anyone, anyone, best + anyone]
    assert stats.chisquare(counts, expected).pvalue > ALPHA


def test_bff_weighs_by_laplaces_law_and_bounds_it_by_one():
    scheduler = Scheduler(Bff(), 3, np.random.default_rng(7))
    scheduler.learn(0, EpochResult(2, 1.0))  # (0 + 1)/(2 + 2)
    scheduler.learn(1, EpochResult(1, 1.0, bugs=3))  # (3 + 1)/(max(1, 3) + 2)
    counts = frequencies(scheduler, 3, 6200)  # and 1/2 for the one that was not tried
    assert stats.chisquare(counts, [1000, 3200, 2000]).pvalue > ALPHA


def test_an_epoch_that_takes_no_time_does_not_win_every_choice():
    for name in ("epsilon-greedy/ewt", "epsilon-greedy/rate", "good-ucb", "raw-ucb", "risk-rate"):
        scheduler = Scheduler(POLICIES[name], 2, np.random.default_rng(8))
        scheduler.learn(scheduler.choose(), EpochResult(0, 0.0))
        for _ in range(20):
            scheduler.learn(scheduler.choose(), EpochResult(100, 10.0, bugs=1, new_bugs=1))
        assert np.argmax(frequencies(scheduler, 2, 100)) == 1, name


def test_the_paper_has_26_algorithms_and_all_are_found_by_name():
    assert len(set(registry.PAPER_26)) == 26
    assert "fixed-time/weighted-random/rate" in registry.PAPER_26
    assert "fixed-run/epsilon-greedy/density" in registry.PAPER_26
    assert "fixed-run/exp3.s.1" in registry.PAPER_26
    assert not set(registry.PAPER_26) & set(registry.NEWER)
    assert set(registry.registered_names()) == {*registry.PAPER_26, *registry.NEWER}
    for name in registry.registered_names():
        assert registry.find(name).name == name


def test_epochs_have_the_length_that_was_asked_for():
    assert registry.find("fixed-run/bff").epoch == Epoch("fixed-run", 200)
    assert registry.find("fixed-time/bff").epoch == Epoch("fixed-time", 10.0)
    assert registry.find("fixed-run/bff", epoch_runs=50).epoch == Epoch("fixed-run", 50)
    assert registry.find("fixed-time/bff", epoch_seconds=0.5).epoch == Epoch("fixed-time", 0.5)
    with pytest.raises(BadInput, match="epoch of 0"):
        registry.find("fixed-run/bff", epoch_runs=0)


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(BadInput, match="Did you mean 'fixed-time/weighted-random/rate'"):
        registry.find("fixed-time/weigthed-random/rate")
    with pytest.raises(BadInput, match="Did you mean 'fixed-run/bff'"):
        registry.find("fixed-rum/bff")
    with pytest.raises(BadInput, match=r"Known: .*fixed-time/good-ucb"):
        registry.find("zzz")


class Favourite(RoundRobin):
    """A third party's policy."""

    name = "favourite"


FAVOURITE = Favourite()
IMPOSTOR = RoundRobin()


@pytest.fixture
def installed(monkeypatch):
    """Make the registry see entry points of a package that is not really installed."""

    def install(attribute: str) -> None:
        entry = EntryPoint("x", f"{__name__}:{attribute}", registry.PLUGINS.group)
        monkeypatch.setattr(plugins, "entry_points", lambda group: [entry])
        registry.policies.cache_clear()

    yield install
    monkeypatch.undo()
    registry.policies.cache_clear()


def test_a_policy_of_an_installed_package_appears_with_both_kinds_of_epoch(installed):
    installed("FAVOURITE")
    assert registry.find("fixed-run/favourite").policy is FAVOURITE
    assert registry.find("fixed-time/favourite").policy is FAVOURITE


def test_a_package_cannot_replace_a_policy(installed):
    installed("IMPOSTOR")
    with pytest.warns(plugins.PluginLeftOut, match="'round-robin', which exists already"):
        assert registry.find("fixed-run/round-robin").policy is not IMPOSTOR


def test_a_policy_alone_has_epochs_of_fixed_time_as_in_campaigns():
    for name in ("risk-rate", "weighted-random/rate"):
        assert registry.find(name, epoch_seconds=7.0) == registry.find(
            f"fixed-time/{name}", epoch_seconds=7.0
        )
    with pytest.raises(BadInput, match="Did you mean 'risk-rate'"):
        registry.find("risk-rat")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: WeightedRandom("speed"), "belief 'speed'"),
        (lambda: EpsilonGreedy("speed"), "belief 'speed'"),
        (lambda: EpsilonGreedy("rate", 1.5), "epsilon is 1.5"),
        (lambda: EpsilonGreedy("rate", float("nan")), "epsilon is nan"),
        (lambda: Boian(discounts=(0.9, 0.99)), "give three"),
        (lambda: Boian(discounts=(0.9, 0.99, 1.01)), "discounts is 1.01"),
        (lambda: Boian(first_epsilon=-1), "first_epsilon is -1"),
        (lambda: Boian(last_epsilon=2), "last_epsilon is 2"),
        (lambda: Boian(half_life=0), "half_life is 0"),
        (lambda: HypoFuzz(floor=-0.1), "floor is -0.1"),
        (lambda: GoodUcb(optimism=-1), "optimism is -1"),
        (lambda: Thompson(discount=0), "discount is 0"),
        (lambda: Thompson(strength=float("inf")), "strength is inf"),
        (lambda: RawUcb(alpha=-1), "alpha is -1"),
        (lambda: RawUcb(sigma=float("nan")), "sigma is nan"),
        (lambda: Fewa(alpha=-1), "alpha is -1"),
        (lambda: Fewa(sigma=-1), "sigma is -1"),
        (lambda: RiskRate(prior=0), "prior is 0"),
        (lambda: RiskRate(duplicates=2), "duplicates is 2"),
    ],
)
def test_impossible_parameters_are_refused(make, word):
    with pytest.raises(BadInput, match=word):
        make()
