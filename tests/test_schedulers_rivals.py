"""Schedulers that choose by coverage, as others have them: each rule by itself."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from fuzzwise.errors import BadInput
from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.clusterfuzz import ClusterFuzz
from fuzzwise.schedulers.coverage_rate import CoverageRate
from fuzzwise.schedulers.registry import find, policies, registered_names


def started(policy, *species: int) -> Scheduler:
    """Everyone has had one epoch, and has seen so many species."""
    scheduler = Scheduler(policy, len(species), np.random.default_rng(1))
    for _ in species:
        arm = scheduler.choose()
        scheduler.learn(arm, EpochResult(runs=100, seconds=1.0, species=species[arm]))
    return scheduler


def shares(scheduler: Scheduler, count: int, draws: int = 4000) -> list[float]:
    found = Counter(scheduler.choose() for _ in range(draws))
    return [found[arm] / draws for arm in range(count)]


def test_coverage_rate_takes_who_saw_most_new_species_a_second():
    scheduler = started(CoverageRate(epsilon=0.0), 10, 10, 10)
    scheduler.learn(0, EpochResult(runs=100, seconds=10.0, species=40))
    scheduler.learn(1, EpochResult(runs=100, seconds=1.0, species=15))
    scheduler.learn(2, EpochResult(runs=100, seconds=1.0, species=10))
    assert {scheduler.choose() for _ in range(50)} == {1}
    scheduler.learn(1, EpochResult(runs=100, seconds=1.0, species=15))
    assert {scheduler.choose() for _ in range(50)} == {0}


@pytest.mark.parametrize("name", ["boian/coverage", "coverage-rate"])
def test_what_a_first_turn_discovered_counts(name):
    scheduler = Scheduler(find(name).policy, 3, np.random.default_rng(1))
    for discoveries in (3, 40, 0):
        arm = scheduler.choose()
        shown = EpochResult(1000, 1.0, species=500, discoveries=discoveries)
        scheduler.learn(arm, shown)
    first, second, third = shares(scheduler, 3, 100)  # ε of Boian rises with every choice
    assert second > 0.8
    assert max(first, third) < 0.2


def test_hypofuzz_counts_from_the_last_discovery_not_from_the_epoch():
    # 1,000 runs a second each; the values are 1000/500 = 2, 1000/1000 = 1 and 1000/4000 = 1/4.
    scheduler = Scheduler(find("hypofuzz/coverage").policy, 3, np.random.default_rng(1))
    for since in (500, 1000, 4000):
        arm = scheduler.choose()
        shown = EpochResult(10_000, 10.0, species=50, discoveries=9, runs_since=since)
        scheduler.learn(arm, shown)
    weights = np.exp([2.0, 1.0, 0.25])
    expected = list(weights / weights.sum())
    assert shares(scheduler, 3, 20_000) == pytest.approx(expected, abs=0.015)


def test_what_an_initial_corpus_covers_is_no_discovery():
    scheduler = started(CoverageRate(epsilon=0.0), 100_000, 5)
    assert scheduler.belief(0) == scheduler.belief(1) == 0.0


@pytest.mark.parametrize("name", ["boian/coverage", "hypofuzz/coverage", "coverage-rate"])
def test_all_of_them_prefer_who_still_grows(name):
    policy = find(name).policy
    scheduler = started(policy, 10, 10)
    for round_ in range(1, 6):
        grown = EpochResult(1000, 1.0, species=10 + 50 * round_, discoveries=50, runs_since=100)
        scheduler.learn(0, grown)
        scheduler.learn(1, EpochResult(1000, 1.0, species=10, runs_since=1000 * round_))
    first, second = shares(scheduler, 2)
    assert first > 1.5 * second


def test_clusterfuzz_draws_by_its_weights():
    scheduler = started(ClusterFuzz(new=0, start=10), 10, 10, 10, 10, 10)
    scheduler.learn(0, EpochResult(runs=100, seconds=1.0, species=12))
    scheduler.learn(1, EpochResult(runs=100, seconds=1.0, species=10))
    # A second epoch fails, so half of their epochs do: half of the way down to 0.5, 0.25 and 0.1.
    scheduler.learn(2, EpochResult(runs=100, seconds=1.0, species=12, crashes=7))
    scheduler.learn(3, EpochResult(runs=100, seconds=1.0, species=12, crashes=2, stalls=2))
    scheduler.learn(4, EpochResult(runs=5, seconds=1.0, species=10, crashes=1))  # flat, too
    weights = (1, 0.75, 0.75, 0.625, 0.55)
    expected = [w / sum(weights) for w in weights]
    assert shares(scheduler, 5, 20_000) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(
    ("failing", "least"),
    [
        (EpochResult(100, 1.0, crashes=1), 0.5),
        (EpochResult(100, 1.0, crashes=1, stalls=1), 0.25),
        (EpochResult(5, 1.0, crashes=1), 0.1),
        (EpochResult(5, 1.0, crashes=1, stalls=1), 0.25),  # want is no crash at the start
    ],
)
def test_clusterfuzz_lowers_who_always_fails_all_the_way(failing, least):
    scheduler = Scheduler(ClusterFuzz(new=0), 2, np.random.default_rng(1))
    for round_ in range(1, 4):
        for arm in range(2):
            if round_ == 1:
                assert scheduler.choose() == arm
            shown = EpochResult(100, 1.0) if arm == 0 else failing
            scheduler.learn(arm, dataclasses.replace(shown, species=10 * 2**round_))
    assert scheduler.belief(0) == 1.0
    assert scheduler.belief(1) == pytest.approx(least)


def test_clusterfuzz_forgives_by_every_epoch_without_a_crash():
    scheduler = started(ClusterFuzz(new=0), 10)
    scheduler.learn(0, EpochResult(100, 1.0, species=20, crashes=1))
    found = []
    for species in (40, 80, 160):
        scheduler.learn(0, EpochResult(100, 1.0, species=species))
        found.append(scheduler.belief(0))
    assert found == pytest.approx([1 - 0.5 / 3, 1 - 0.5 / 4, 1 - 0.5 / 5])


def test_clusterfuzz_gives_a_new_target_five_times_the_chance():
    scheduler = started(ClusterFuzz(new=3), 10, 10)
    for species in (11, 12, 13):
        scheduler.learn(0, EpochResult(runs=100, seconds=1.0, species=species))
    first, second = shares(scheduler, 2, 20_000)
    assert second / first == pytest.approx(5.0, rel=0.1)


def test_clusterfuzz_raises_a_new_target_even_if_it_crashes():
    scheduler = started(ClusterFuzz(new=3), 10, 10)
    for species in (11, 12, 13):
        scheduler.learn(0, EpochResult(runs=100, seconds=1.0, species=species))
    scheduler.learn(1, EpochResult(runs=100, seconds=1.0, species=10, bugs=1, crashes=1))
    first, second = shares(scheduler, 2, 20_000)
    assert second / first == pytest.approx(5.0, rel=0.1)


def test_clusterfuzz_takes_growth_below_a_hundredth_as_none():
    scheduler = started(ClusterFuzz(new=0), 1000, 1000)
    scheduler.learn(0, EpochResult(runs=100, seconds=1.0, species=1020))
    scheduler.learn(1, EpochResult(runs=100, seconds=1.0, species=1005))
    first, second = shares(scheduler, 2, 20_000)
    assert second / first == pytest.approx(0.75, rel=0.1)


@pytest.mark.parametrize("make", [lambda: CoverageRate(epsilon=2.0), lambda: ClusterFuzz(new=-1)])
def test_parameters_that_cannot_be_are_refused(make):
    with pytest.raises(BadInput):
        make()


def test_they_are_for_campaigns_and_not_for_recordings_of_black_boxes():
    by_coverage = {name for name, policy in policies().items() if policy.needs_coverage}
    rivals = {"boian/coverage", "hypofuzz/coverage", "coverage-rate", "clusterfuzz"}
    assert by_coverage == rivals | {"risk-rate/proportion", "risk-rate/retirement"}
    assert not {name.partition("/")[2] for name in registered_names()} & by_coverage
