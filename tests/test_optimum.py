"""The offline optimum against exhaustive search, with and without shared bugs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzwise.errors import BadInput
from fuzzwise.lab import optimum as optimum_module
from fuzzwise.lab.exact_optimum import distinct_bugs, optimum_at, solve_exactly
from fuzzwise.lab.optimum import BugCurve, best_schedules
from fuzzwise.lab.recording.recording import MARK, ConfigurationLog, Recording
from fuzzwise.lab.recording.synthetic import SyntheticCampaign, generate

Shown = list[list[tuple[int, int]]]
"""For each configuration, (time in microseconds, bug) in order of time."""


def record(shown: Shown) -> Recording:
    """A recording in which the configurations show those bugs, then run on for a while."""
    logs = []
    for i, crashes in enumerate(shown):
        times = [time for time, _ in crashes]
        end = max(times, default=0) + 5
        logs.append(
            ConfigurationLog(
                f"c{i}",
                np.arange(1, len(times) + 2),
                np.array([*times, end]),
                np.array([*(bug for _, bug in crashes), MARK]),
            )
        )
    bugs = 1 + max((bug for crashes in shown for _, bug in crashes), default=-1)
    return Recording(tuple(logs), tuple(map(str, range(bugs))))


def search(shown: Shown) -> list[tuple[int, int, int]]:
    """Every choice of prefixes: its time, its bugs counted repeatedly, its distinct bugs."""
    choices = []
    for lengths in itertools.product(*(range(len(crashes) + 1) for crashes in shown)):
        taken = [crashes[:n] for crashes, n in zip(shown, lengths, strict=True)]
        time = sum(prefix[-1][0] for prefix in taken if prefix)
        each = [{bug for _, bug in prefix} for prefix in taken]
        choices.append((time, sum(map(len, each)), len(set().union(*each))))
    return choices


def most_distinct(choices: list[tuple[int, int, int]], budget: int) -> int:
    return max(distinct for time, _, distinct in choices if time <= budget)


@st.composite
def recordings(draw: st.DrawFn, *, shared: bool) -> Shown:
    """Up to 4 configurations of up to 4 crashes; short times, so that ties and zeros are common."""
    shown: Shown = []
    for i in range(draw(st.integers(1, 4))):
        bugs = draw(st.lists(st.integers(0, 5), max_size=4))
        times = sorted(draw(st.lists(st.integers(0, 12), min_size=len(bugs), max_size=len(bugs))))
        shown.append([(t, b if shared else 6 * i + b) for t, b in zip(times, bugs, strict=True)])
    return shown


@given(shown=recordings(shared=False))
def test_without_shared_bugs_every_time_is_the_least(shown):
    recording, choices = record(shown), search(shown)
    best = best_schedules(recording)
    most = max(distinct for _, _, distinct in choices)
    least = [min(time for time, _, n in choices if n >= b) for b in range(most + 1)]
    assert best.times.tolist() == best.lower.times.tolist() == best.upper.times.tolist() == least
    assert best.exact
    for b in range(most + 1):
        allocation = best.allocation(b)
        assert allocation.sum() == least[b]
        assert distinct_bugs(recording, allocation) >= b


@given(shown=recordings(shared=True))
def test_with_shared_bugs_the_curves_enclose_the_optimum(shown):
    recording, choices = record(shown), search(shown)
    best = best_schedules(recording)
    counted = max(count for _, count, _ in choices)
    assert best.times.tolist() == [
        min(time for time, n, _ in choices if n >= b) for b in range(counted + 1)
    ]
    walk = list(zip(best.times.tolist(), best.distinct.tolist(), strict=True))
    for b, (time, distinct) in enumerate(walk):
        assert distinct in {n for when, count, n in choices if (when, count) == (time, b)}
    for budget in range(50):
        exact = most_distinct(choices, budget)
        assert best.lower.bugs_at(budget) <= exact <= best.upper.bugs_at(budget)
    for b, time in enumerate(best.lower.times.tolist()):
        assert time == next(when for when, distinct in walk if distinct >= b)
        allocation = best.allocation(b)
        assert allocation.sum() == time
        assert distinct_bugs(recording, allocation) >= b
    assert len(best.lower.times) == len(best.upper.times) == 1 + most_distinct(choices, 50)


@given(shown=recordings(shared=True), budget=st.integers(0, 50))
def test_the_integer_programme_finds_what_exhaustive_search_finds(shown, budget):
    recording, exact = record(shown), most_distinct(search(shown), budget)
    for answer in (solve_exactly(recording, budget), optimum_at(recording, budget)):
        assert (answer.lower, answer.upper, answer.exact) == (exact, exact, True)
        assert answer.allocation.sum() <= budget
        assert distinct_bugs(recording, answer.allocation) == exact


@given(shown=recordings(shared=True), most=st.integers(0, 4))
@settings(max_examples=100)
def test_bounds_hold_when_the_counted_rows_are_cut_short(shown, most):
    recording, choices = record(shown), search(shown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum_module, "COUNTED_AT_MOST", most)
        best = best_schedules(recording)
    for budget in range(50):
        exact = most_distinct(choices, budget)
        assert best.lower.bugs_at(budget) <= exact <= best.upper.bugs_at(budget)
    for b, time in enumerate(best.lower.times.tolist()):
        assert best.allocation(b).sum() == time
        assert distinct_bugs(recording, best.allocation(b)) >= b


def test_lower_curve_is_late_where_the_exact_optimum_skips_duplicates():
    """Nine configurations show the same ten bugs early; the tenth has one of its own, late."""
    shown = [[(1, bug) for bug in range(10)] for _ in range(9)]
    best = best_schedules(record([*shown, [(100, 10)]]))
    assert best.times[-1] == 109
    assert best.lower.times.tolist() == [0, *[1] * 10, 109]
    assert optimum_at(record([*shown, [(100, 10)]]), 101).lower == 11


@pytest.mark.parametrize("budget", [0, 1, 10**12])
def test_no_bugs_at_all(budget):
    recording = record([[], [], []])
    best = best_schedules(recording)
    assert best.times.tolist() == [0]
    assert best.exact
    assert best.upper.bugs_at(budget) == 0
    for answer in (optimum_at(recording, budget), solve_exactly(recording, budget)):
        assert (answer.lower, answer.upper) == (0, 0)
        assert answer.allocation.tolist() == [0, 0, 0]


def test_one_configuration_is_its_own_log():
    best = best_schedules(record([[(3, 0), (3, 1), (4, 0), (9, 2)]]))
    assert best.times.tolist() == [0, 3, 3, 9]
    assert [best.allocation(b).tolist() for b in range(4)] == [[0], [3], [3], [9]]
    assert [best.lower.bugs_at(t) for t in (-1, 0, 2, 3, 8, 9, 10**15)] == [0, 0, 0, 2, 2, 3, 3]


def test_bugs_at_time_zero_cost_nothing():
    recording = record([[(0, 0), (0, 1)], [(0, 1), (4, 2)]])
    assert optimum_at(recording, 0).lower == 2
    assert solve_exactly(recording, 0).lower == 2
    assert optimum_at(recording, 4).lower == 3


def test_allocation_gives_nothing_to_configurations_without_bugs():
    best = best_schedules(record([[], [(7, 0)], [], [(2, 1), (30, 2)]]))
    assert best.allocation(2).tolist() == [0, 7, 0, 2]


def test_number_of_bugs_that_nobody_shows_is_refused():
    best = best_schedules(record([[(1, 0)]]))
    for bugs in (2, -1):
        with pytest.raises(BadInput, match="recording shows 1"):
            best.allocation(bugs)


def test_negative_budget_is_refused():
    for function in (optimum_at, solve_exactly):
        with pytest.raises(BadInput, match="budget of -1 microseconds"):
            function(record([[(1, 0)]]), -1)


def test_clocks_that_would_overflow_are_refused():
    with pytest.raises(BadInput, match="check its clocks"):
        best_schedules(record([[(2**61, i)] for i in range(3)]))


@pytest.mark.parametrize("size", [10**6, 10**9, 10**12, 10**15, 10**17])
@pytest.mark.parametrize("short", [0, 1])
def test_budgets_are_kept_to_the_microsecond(size, short):
    """All three bugs fit exactly; with one microsecond less, only two of them do."""
    shown = [[(size + 1, 0)], [(size // 3, 1)], [(size // 7 + 2, 2), (2 * size, 0)]]
    budget = size + 1 + size // 3 + size // 7 + 2 - short
    answer = solve_exactly(record(shown), budget)
    assert (answer.lower, answer.upper) == (3 - short, 3 - short)
    assert answer.allocation.sum() <= budget


def test_without_time_the_answer_is_a_pair_of_bounds():
    recording, _ = generate(SyntheticCampaign(configurations=20, seed=3, shared=0.9))
    budget = 10**10
    exact, bounds = optimum_at(recording, budget), optimum_at(recording, budget, time_limit=0)
    assert exact.exact
    assert not bounds.exact
    assert bounds.lower <= exact.lower <= bounds.upper
    assert distinct_bugs(recording, bounds.allocation) >= bounds.lower
    hasty = solve_exactly(recording, budget, time_limit=1e-9)
    assert (hasty.lower, hasty.exact) == (0, False)
    assert hasty.upper >= exact.lower


@pytest.mark.parametrize("shared", [0.0, 0.3, 1.0])
def test_no_allocation_drawn_at_random_beats_the_optimum(shared):
    recording, _ = generate(SyntheticCampaign(configurations=30, seed=4, shared=shared, bugs=5))
    curves = best_schedules(recording)
    rng = np.random.default_rng(5)
    for budget in (10**8, 10**10, 10**12):
        best = optimum_at(recording, budget, curves=curves)
        assert best.exact
        assert curves.lower.bugs_at(budget) <= best.lower <= curves.upper.bugs_at(budget)
        assert best.allocation.sum() <= budget
        assert distinct_bugs(recording, best.allocation) == best.lower
        for concentration in (0.05, 0.3, 3.0):
            for shares in rng.dirichlet(np.full(30, concentration), 100):
                found = distinct_bugs(recording, (shares * budget).astype(np.int64))
                assert found <= best.lower


def test_same_recording_same_optimum_in_any_order_of_configurations():
    recording, _ = generate(SyntheticCampaign(configurations=25, seed=6, shared=0.4))
    turned = Recording(recording.configurations[::-1], recording.bugs)
    assert best_schedules(recording).times.tolist() == best_schedules(turned).times.tolist()
    assert optimum_at(recording, 10**10).lower == optimum_at(turned, 10**10).lower


@given(
    times=st.lists(st.integers(0, 60), max_size=8).map(sorted),
    end=st.integers(min_value=1, max_value=80),
)
def test_curve_counts_and_averages_as_adding_up_every_microsecond_does(times, end):
    curve = BugCurve(np.array([0, *times]))
    counts = [sum(time <= now for time in times) for now in range(end)]
    assert curve.bugs_at_each(np.arange(end)).tolist() == counts
    assert [curve.bugs_at(now) for now in range(end)] == counts
    assert curve.mean_bugs(end) == pytest.approx(sum(counts) / end)
    assert curve.mean_bugs(0) == counts[0]
