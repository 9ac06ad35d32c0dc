"""Targets of which coverage is seen, beside others: one currency, whatever there is to find."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.risk_rate import RiskRate, RiskRateProportion, RiskRateRetirement
from fuzzwise.schedulers.round_robin import RoundRobin

SECONDS = 10.0


@dataclass
class Coverage:
    """A target whose discoveries grow as scale·√time, each of them a bug with some chance."""

    scale: float
    worth: float
    rng: np.random.Generator
    time: float = 0.0
    kept: int = 1
    bugs: list[float] = field(default_factory=list)

    def epoch(self) -> EpochResult:
        found = self.rng.poisson(self.scale * ((self.time + SECONDS) ** 0.5 - self.time**0.5))
        bugs = int(self.rng.binomial(found, self.worth))
        self.time += SECONDS
        self.kept += int(found)
        self.bugs += [self.time] * bugs
        rate = self.scale / 2 / self.time**0.5
        recent = sum(time > self.time / 2 for time in self.bugs)
        return EpochResult(
            *(100_000, SECONDS, bugs, bugs),
            kept=self.kept,
            discovery_rate=rate,
            recent_bugs=recent,
        )


def times(targets: list[Coverage], epochs: int, seed: int) -> np.ndarray:
    scheduler = Scheduler(RiskRate(), len(targets), np.random.default_rng(seed))
    for _ in range(epochs):
        arm = scheduler.choose()
        scheduler.learn(arm, targets[arm].epoch())
    used = np.array([target.time for target in targets])
    return used / used.sum()


def mean_shares(*kinds: tuple[float, float]) -> np.ndarray:
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        targets = [Coverage(scale, worth, rng) for scale, worth in kinds]
        found.append(times(targets, 300, seed))
    return np.mean(found, axis=0)


def test_targets_with_as_many_bugs_get_as_much_time_whatever_their_size():
    # 100 times the coverage, a bug in a hundredth of the discoveries: the same bugs a second.
    # A share of one campaign has a standard deviation of 0.2 to 0.3; the mean of 30, of 0.05.
    large, small = mean_shares((300, 0.001), (3, 0.1))
    assert large == pytest.approx(0.5, abs=0.2)
    assert small == pytest.approx(0.5, abs=0.2)


def test_a_large_target_without_bugs_does_not_take_the_time_of_a_small_one_with_bugs():
    clean, buggy = mean_shares((300, 0.0), (3, 0.1))
    assert buggy > 0.8
    assert clean > 0.005  # but it is not given up


def growing(policy: RiskRate, epochs: int, *per_second: float, known: float = 0.0) -> np.ndarray:
    """The shares of targets without bugs whose species grow as ln(1 + Time), times a number."""
    rates = np.array(per_second)
    scheduler = Scheduler(policy, len(rates), np.random.default_rng(1))
    used = np.zeros(len(rates))
    for _ in range(epochs):
        arm = scheduler.choose()
        used[arm] += SECONDS
        species = known + rates[arm] * np.log1p(used[arm])
        rate = rates[arm] / (1 + used[arm])
        shown = EpochResult(
            *(1000, SECONDS), kept=10, discovery_rate=rate, recent_bugs=0, species=species
        )
        scheduler.learn(arm, shown)
    return used / used.sum()


def test_of_targets_without_bugs_those_that_show_more_new_coverage_get_more_time():
    slow, usual, fast = growing(RiskRate(), 600, 10, 40, 160, known=100.0)
    assert slow < usual < fast
    assert fast > 1.5 / 3
    assert slow > RiskRate().even / 3  # that part of an equal share is nobody's but its own


def test_without_the_even_part_time_goes_in_proportion_to_what_is_to_be_found():
    # Of c·ln(Time) the rate is c/Time: it is the same for all where the time is in proportion to c.
    shares = growing(RiskRate(even=0.0), 2000, 10, 40, 160)
    assert shares == pytest.approx(np.array([10, 40, 160]) / 210, abs=0.02)


def test_in_proportion_a_small_target_counts_as_much_as_a_large_one():
    # All three have doubled their coverage in the same time.
    shares = growing(RiskRateProportion(), 600, 10, 40, 160)
    assert shares == pytest.approx([1 / 3] * 3, abs=0.05)


def test_what_coverage_is_worth_does_not_depend_on_how_much_all_have():
    # One more species is expected of each, which counts beside one or two, but not beside ten.
    few = growing(RiskRate(), 300, 10, 40, 160)
    many = growing(RiskRate(), 300, 1000, 4000, 16000)
    assert few == pytest.approx(many, abs=0.06)


def test_the_initial_corpus_is_no_growth():
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    for arm, species in ((0, 100_000), (1, 10)):
        shown = EpochResult(1000, SECONDS, kept=5, discovery_rate=1.0 + arm, species=species)
        scheduler.recall(arm, shown)
    assert scheduler.choose() == 1


def test_a_first_look_is_measured_like_later_ones():
    """A discovery shows more than one species: 1 of these a second is more than 2 of those."""
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    for arm in range(2):
        scheduler.recall(arm, EpochResult(1000, 100.0, kept=50, discovery_rate=1.0, species=100))
    grown = EpochResult(1000, 100.0, kept=150, discovery_rate=1.0, species=300)
    scheduler.learn(1, grown)
    assert scheduler.choose() == 0


def test_a_target_with_more_bugs_than_its_size_would_have_is_worth_more_for_its_coverage():
    def belief(first: int, second: int) -> float:
        scheduler = Scheduler(RiskRate(even=0.0, old_bugs=0.0), 2, np.random.default_rng(1))
        for arm, bugs in ((0, first), (1, second)):
            told = EpochResult(
                *(1000, SECONDS, bugs, bugs), kept=5, discovery_rate=1.0, recent_bugs=0, species=50
            )
            scheduler.recall(arm, told)
        scheduler.choose()
        return scheduler.belief(0) / scheduler.belief(1)

    assert belief(0, 0) == pytest.approx(1.0)
    assert belief(2, 2) == pytest.approx(1.0)
    assert belief(3, 1) == pytest.approx((3 + 1) / (1 + 1))  # as if each had shown one more


def test_one_early_bug_does_not_take_the_time_of_all_targets_that_grow():
    """A small target with one bug of long ago, and a large one that shows far more that is new."""
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    for arm, species, rate, bugs in ((0, 10_000, 8.0, 0), (1, 1000, 1.0, 1)):
        told = EpochResult(
            *(1000, 100 * SECONDS, bugs, bugs),
            kept=5, discovery_rate=rate, recent_bugs=0, species=species,
        )  # fmt: skip
        scheduler.recall(arm, told)
    assert scheduler.choose() == 0


def test_where_retirement_is_the_goal_it_comes_before_bugs():
    for policy, first in ((RiskRate(), 0), (RiskRateRetirement(), 1)):
        scheduler = Scheduler(policy, 2, np.random.default_rng(1))
        scheduler.recall(0, EpochResult(1000, SECONDS, bugs=9, new_bugs=9, recent_bugs=9))
        scheduler.recall(1, EpochResult(1000, SECONDS, seconds_left=20.0, recent_bugs=0))
        assert scheduler.choose() == first


@pytest.mark.parametrize(("left", "first"), [(SECONDS / 2, 0), (SECONDS / 4, 1)])
def test_a_target_that_grows_waits_only_for_one_that_is_about_to_be_retired(left, first):
    """Both had the same time; the first alone grows, so it earns the credit of both."""
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    for arm, rate, soon in ((0, 1000.0, 0.0), (1, 0.0, left)):
        told = EpochResult(
            *(1000, SECONDS), kept=5, discovery_rate=rate, species=50, seconds_left=soon
        )
        scheduler.recall(arm, told)
    assert scheduler.choose() == first


def test_a_black_box_with_bugs_beats_coverage_that_is_worth_none():
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    scheduler.learn(0, EpochResult(1000, SECONDS, bugs=3, new_bugs=3))
    scheduler.learn(1, EpochResult(1000, SECONDS, kept=400, discovery_rate=4.0))
    scheduler.choose(), scheduler.choose()
    assert scheduler.choose() == 0


def test_what_an_earlier_scheduler_knew_counts_like_an_epoch():
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    scheduler.recall(0, EpochResult(5000, 50.0, bugs=2, new_bugs=2))
    assert scheduler.started(0) == 1
    assert scheduler.choose() == 1  # which never had a turn
    scheduler.learn(1, EpochResult(1000, 10.0))
    assert scheduler.belief(0) > scheduler.belief(1)
    assert scheduler.choose() == 0
    assert scheduler.next_best(0) == 1
    scheduler.pause(1)
    assert scheduler.next_best(0) is None


def test_a_target_that_is_nearly_retired_is_finished_first():
    scheduler = Scheduler(RiskRate(), 3, np.random.default_rng(1))
    for arm, left in enumerate((40.0, 2.0, float("inf"))):
        scheduler.recall(arm, EpochResult(1000, SECONDS, seconds_left=left))
    assert scheduler.choose() == 1
    scheduler.learn(1, EpochResult(1000, SECONDS, bugs=0, seconds_left=500.0))  # it was not
    assert scheduler.choose() == 0


def test_retiring_is_worth_less_than_finding_bugs():
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    scheduler.recall(0, EpochResult(1000, SECONDS, bugs=5, new_bugs=5))
    scheduler.recall(1, EpochResult(1000, SECONDS, seconds_left=20.0))
    assert scheduler.choose() == 0


def test_a_target_that_has_run_out_of_bugs_gives_way_to_one_that_has_not():
    scheduler = Scheduler(RiskRate(), 3, np.random.default_rng(1))
    scheduler.recall(0, EpochResult(10_000, SECONDS, bugs=9, new_bugs=9, recent_bugs=0))
    scheduler.recall(1, EpochResult(10_000, SECONDS, bugs=2, new_bugs=2, recent_bugs=2))
    scheduler.recall(2, EpochResult(10_000, SECONDS, bugs=9, new_bugs=0, recent_bugs=2))
    assert scheduler.choose() == 1  # the bugs of the last one are known from others
    assert scheduler.belief(0) < scheduler.belief(2) < scheduler.belief(1)


def test_turns_begin_short_and_double_up_to_an_epoch():
    scheduler = Scheduler(RiskRate(), 1, np.random.default_rng(1))
    turns = []
    for _ in range(6):
        turns.append(scheduler.next_turn(scheduler.choose()))
        scheduler.learn(0, EpochResult(1000, SECONDS))
    assert turns == [1 / 8, 1 / 4, 1 / 2, 1.0, 1.0, 1.0]


def test_a_policy_without_short_looks_gives_whole_epochs():
    scheduler = Scheduler(RoundRobin(), 1, np.random.default_rng(1))
    assert scheduler.next_turn(scheduler.choose()) == 1.0


def test_a_target_without_a_run_is_not_yet_started_and_its_turns_still_grow():
    scheduler = Scheduler(RiskRate(), 2, np.random.default_rng(1))
    turns = []
    for _ in range(3):
        assert scheduler.choose() == 0
        turns.append(scheduler.next_turn(0))
        scheduler.learn(0, EpochResult(0, SECONDS, recent_bugs=0))
        scheduler.not_yet(0)
        assert scheduler.started(0) == 0
    assert turns == [1 / 8, 1 / 4, 1 / 2]
    assert scheduler.choose() == 0
    scheduler.learn(0, EpochResult(1000, SECONDS, recent_bugs=0))
    scheduler.not_yet(0)  # it had runs: it is started, whatever its later turns show
    assert scheduler.started(0) == 1
    assert scheduler.choose() == 1
