"""Discoveries of which only groups are known: no estimate pretends to know more."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzwise.engines.go.counts import placed
from fuzzwise.engines.go.lines import Group
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.judge import Terms, judge, until
from fuzzwise.model import Observation
from fuzzwise.snapshot import Campaign, read, write
from fuzzwise.store.sql.observations import pack, unpack
from fuzzwise.validation import problems

CASES = 300


def grouped(rng: np.random.Generator) -> tuple[Observation, list[Group]]:
    """A campaign of some looks, of which a few found something."""
    ends = np.cumsum(rng.integers(1, 400, size=rng.integers(1, 12)))
    groups, after = [], 0
    for until_ in map(int, ends):
        count = int(rng.integers(0, min(6, until_ - after) + 1))
        if count:
            groups.append(Group(after, until_, count))
        after = until_
    found, looks = placed(groups)
    return Observation(int(ends[-1]), discoveries=found, counted_at=looks), groups


def one_truth(rng: np.random.Generator, n: int, groups: list[Group]) -> Observation:
    """One of the ways in which it can have been, with every number known."""
    numbers = [
        rng.choice(np.arange(group.after + 1, group.until + 1), group.count, replace=False)
        for group in groups
    ]
    every = np.sort(np.concatenate(numbers)) if numbers else np.zeros(0, np.int64)
    return Observation(n, discoveries=every)


@pytest.mark.parametrize("window", [0.5, 0.2])
def test_the_interval_holds_that_of_every_way_it_can_have_been(window):
    rng = np.random.default_rng(1)
    estimator = RecentRate(window)
    wider = 0
    for _ in range(CASES):
        known, groups = grouped(rng)
        assert not list(problems(known))
        told = estimator(known)
        for _ in range(5):
            true = estimator(one_truth(rng, known.n, groups))
            assert told.high >= true.high - 1e-12
            if true.note:  # without a discovery in the window its lower end is 0
                continue
            assert told.low <= true.low + 1e-12
        exact = estimator(Observation(known.n, discoveries=known.discoveries))
        wider += told.high - told.low > exact.high - exact.low + 1e-12
    assert wider > CASES / 10  # it matters


def test_a_quiet_end_counts_from_the_end_of_the_last_group():
    found, looks = placed([Group(0, 100, 3)])
    assert found.tolist() == [34, 67, 100]
    told = RecentRate()(Observation(1000, discoveries=found, counted_at=looks))
    assert told.note == "no discovery in the last 900 inputs"


def test_what_was_known_earlier_has_all_of_the_group_that_is_cut():
    found, looks = placed([Group(0, 100, 4), Group(100, 200, 4)])
    observation = Observation(300, discoveries=found, counted_at=looks)
    early = until(observation, 120)
    assert len(early.discoveries) == 8
    assert early.discoveries[-1] == 120
    assert not list(problems(early))
    assert len(until(observation, 100).discoveries) == 4
    assert len(until(observation, 250).discoveries) == 8
    assert until(observation, 2).discoveries.tolist() == [1, 2]


def test_the_stop_is_forecast_as_soon_as_where_every_number_is_known():
    rng = np.random.default_rng(7)
    times = 200 * np.exp(np.cumsum(rng.exponential(1 / 200, 1400)))  # Δ = 200/m after m inputs
    n, line = 120_000, 3000
    known = np.unique(np.ceil(times[times <= n])).astype(np.int64)
    ends, counts = np.unique(-(-known // line) * line, return_counts=True)
    pairs = zip(ends.tolist(), counts.tolist(), strict=True)
    found, looks = placed([Group(end - line, end, count) for end, count in pairs])
    for risk in (1e-3, 3e-4, 1e-4):
        exact = judge(Observation(n, discoveries=known), Terms(risk)).inputs_to_stop
        told = Observation(n, discoveries=found, counted_at=looks)
        left = judge(told, Terms(risk)).inputs_to_stop
        assert left.value == pytest.approx(exact.value, rel=0.35), "a look is 10% more inputs"


def test_a_stop_that_is_further_away_than_inputs_are_counted_is_never_known():
    n = 10**6
    new = np.arange(1, n + 1)
    all_new = Observation(n, discoveries=new, counted_at=np.array([0, n // 2]))
    assert judge(all_new, Terms(1e-15)).earliest_stop is None


def test_looks_are_kept_by_the_store_and_by_snapshot_files(tmp_path):
    found, looks = placed([Group(5, 50, 2), Group(50, 90, 1)])
    observation = Observation(100, discoveries=found, counted_at=looks)
    assert unpack(pack(observation)).counted_at.tolist() == [5, 50, 90]
    assert unpack(pack(Observation(3))).counted_at is None
    write(tmp_path / "kept.jsonl", [Campaign("c", (observation,))])
    kept = read(tmp_path / "kept.jsonl").campaigns[0].observations[0]
    assert kept.counted_at.tolist() == [5, 50, 90]
    assert kept.discoveries.tolist() == found.tolist()


@pytest.mark.parametrize("looks", [[5, 5], [7, 3], [-1, 4]])
def test_looks_that_cannot_be_are_damage(looks):
    wrong = Observation(10, discoveries=np.zeros(0, np.int64), counted_at=np.array(looks))
    assert [where for where, _ in problems(wrong)] == ["counted_at"]
