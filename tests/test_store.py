"""The store of a campaign: what goes in comes out, and nothing counts twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import CacheStats

from fuzzwise.campaign.finished import run_entry
from fuzzwise.errors import BadInput
from fuzzwise.model import Estimate, Observation
from fuzzwise.store.contract import Added, BugTime, Choice
from fuzzwise.store.sql.observations import pack, unpack
from fuzzwise.store.sql.store import RECOVERED, SqlStore
from fuzzwise.store.states import BROKEN, FUZZING, RETIRED, WAITING, EventState, Stopped
from observations import observations
from reading import read_bug_times, read_decisions, read_history, read_observations, read_state
from stored import begun, epoch, found, plan, target, turn

# What goes in comes out.


def test_a_new_campaign_shows_its_plan(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        state = store.state()
    assert (state.name, state.budget, state.cores, state.epoch) == ("trial", 600.0, 2, 5.0)
    assert (state.running, state.seconds, state.epochs, state.stopped) == (True, 0.0, 0, None)
    assert [t.name for t in state.targets] == ["a", "b", "box"]
    assert [t.finds_coverage for t in state.targets] == [True, True, False]
    first = state.targets[0]
    assert (first.state, first.share, first.accepted_risk) == (WAITING, "high", 1e-4)
    assert (first.risk, first.warnings, first.bugs, first.share_of_time) == (None, (), (), 0.0)


def test_a_finished_epoch_is_read_back_by_others(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        assert epoch(store, 2.0, "a", turn(200, found("x", 3))) == ("x",)
        epoch(store, 3.0, "b", turn(600))
        store.event(2.0, "bug", "a", "A bug.")
        here, there = store.state(), read_state(tmp_path)
    assert here.targets == there.targets
    assert (there.seconds, there.epochs) == (3.0, 2)
    shown = there.targets[0]
    assert (shown.inputs, shown.seconds, shown.species, shown.discoveries) == (200, 20.0, 207, 20)
    assert (shown.corpus, shown.crashes, shown.trend, shown.epochs) == (3, 1, "falling", 1)
    assert shown.risk == turn(200).risk
    assert shown.seconds_left == turn(200).seconds_left
    assert shown.warnings == ("Slow.", "Odd.")
    assert shown.bugs == ("x",)
    assert [t.share_of_time for t in there.targets] == [0.25, 0.75, 0.0]
    assert there.events == (EventState(2.0, "bug", "a", "A bug."),)
    (bug,) = there.bugs
    assert (bug.id, bug.crashes, bug.target, bug.targets) == ("x", 3, "a", ("a",))
    assert (bug.inputs, bug.report, bug.command) == (("i/x",), "r/x", "run x")
    assert (bug.at, bug.after_inputs, bug.after_seconds) == (2.0, 10, 0.5)
    assert (bug.frames, bug.kind, bug.line, bug.flaky) == (
        ("f", "main"),
        "heap-use-after-free",
        None,
        None,  # nobody has tried
    )


@given(observations(), st.none() | st.floats(0, 1), st.none() | st.integers(0, 10**15))
def test_observations_come_back_as_they_were(
    seen: Observation, waiting: float | None, tried: int | None
) -> None:
    before = replace(seen, waiting=waiting, tried=tried)
    after = unpack(pack(before))
    for name in Observation.__slots__:
        one, other = getattr(before, name), getattr(after, name)
        if name == "seeds":
            for column in type(one).__slots__:
                assert np.array_equal(getattr(one, column), getattr(other, column))
        elif name == "discoveries":
            assert np.array_equal(one, other)
            assert other.dtype == np.int64
        else:
            assert one == other


def test_observations_that_were_packed_before_seeds_were_told_of_are_read() -> None:
    packed = msgspec.msgpack.decode(pack(Observation(7, waiting=0.5, tried=3)))
    assert (packed.pop("waiting"), packed.pop("tried")) == (0.5, 3)
    after = unpack(msgspec.msgpack.encode(packed))
    assert (after.n, after.waiting, after.tried) == (7, None, None)


def test_the_latest_observation_of_each_target_is_kept(tmp_path: Path) -> None:
    many = np.cumsum(np.random.default_rng(1).integers(1, 100_000, 100_000))
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(10))
        epoch(store, 2.0, "a", turn(20, observation=Observation(int(many[-1]), discoveries=many)))
    kept = read_observations(tmp_path)
    assert list(kept) == ["a"]
    assert np.array_equal(kept["a"].discoveries, many)


def test_odd_values_are_stored_as_plain_ones(tmp_path: Path) -> None:
    """Numbers of numpy are no bytes; text that is no Unicode does not stop a campaign."""
    odd = "caf\udce9 \x1b[31m \x00"
    risk = Estimate(np.float64(0.5), None, None, None, "m", np.int64(30))
    numbers = {"inputs": np.int64(30), "species": np.int32(4), "corpus": np.int64(2)}
    with begun(tmp_path) as store:
        bug = found("x", np.int64(2), command=odd)
        epoch(store, 1.0, "a", turn(30, bug, **numbers, risk=risk, warnings=(odd,)))
        store.event(1.0, "warning", "a", odd)
        store.set_state("a", BROKEN, "build", odd)
        store.set_looked("a", np.int64(30), np.float64(0.5))
    shown = read_state(tmp_path).targets[0]
    assert (shown.inputs, shown.species, shown.corpus) == (30, 4, 2)
    assert shown.risk == Estimate(0.5, None, None, None, "m", 30)
    assert shown.warnings == (odd,)
    assert shown.detail == "caf\\udce9 \x1b[31m \x00"


def test_a_risk_that_is_not_known_is_nan_in_the_history(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(10, risk=None))
        epoch(store, 2.0, "a", turn(20))
    first = read_history(tmp_path)[0]
    assert np.isnan(first.risk).tolist() == [True, False]
    assert first.at.tolist() == [1.0, 2.0]
    assert (first.risk[1], first.low[1], first.high[1]) == (1 / 20, 0.5 / 20, 2 / 20)


# Totals are absolute.


def test_totals_that_are_told_twice_add_nothing(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(200, found("x", 3)))
        assert epoch(store, 2.0, "a", turn(200, found("x", 3))) == ()
        shown = target(store, "a")
        assert (shown.inputs, shown.seconds, shown.discoveries) == (200, 20.0, 20)
        assert store.state().bugs[0].crashes == 3
        assert (store.memory()["a"].bugs, store.memory()["a"].new_bugs) == (1, 1)
    added = [(d.inputs, d.seconds, d.discoveries, d.new_bugs) for d in read_decisions(tmp_path)]
    assert added == [(200, 20.0, 20, 1), (0, 0.0, 0, 0)]


def test_an_epoch_ends_once(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        number = store.start_epoch(0.0, "a", Choice("why"))
        other = store.start_epoch(0.0, "a", Choice("why"))
        assert store.finish_epoch(number, 1.0, turn(100, found("x"))) == Added(
            100, 10.0, 10, ("x",), ("x",)
        )
        assert store.finish_epoch(number, 2.0, turn(300, found("y"))) == Added()
        store.fail_epoch(number, 3.0)
        assert (target(store, "a").inputs, target(store, "a").epochs) == (100, 1)
        assert target(store, "a").state == FUZZING
        assert store.finish_epoch(other, 4.0, turn(300)).inputs == 200
        assert target(store, "a").state == WAITING


def test_results_that_arrive_late_change_nothing_that_is_newer(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(300))
        assert epoch(store, 2.0, "a", turn(200, found("x"))) == ("x",)
        shown = target(store, "a")
    assert (shown.inputs, shown.species, shown.bugs) == (300, 307, ("x",))
    assert [d.inputs for d in read_decisions(tmp_path)] == [300, 0]
    assert read_observations(tmp_path)["a"].n == 300


def test_a_new_generation_starts_at_zero_and_adds_to_the_life_of_the_target(
    tmp_path: Path,
) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(200))
        epoch(store, 2.0, "a", turn(50, found("x", n=40, seconds=4.0), generation="second"))
        epoch(store, 3.0, "a", turn(70, generation="second"))
        epoch(store, 4.0, "a", turn(200))  # the counts of before are there again
        epoch(store, 5.0, "a", turn(90, generation="second"))
        shown, kept = target(store, "a"), store.memory()["a"]
    assert [d.inputs for d in read_decisions(tmp_path)] == [200, 50, 20, 0, 20]
    assert (shown.inputs, shown.seconds) == (290, 29.0)
    assert (shown.species, shown.discoveries) == (97, 9)
    assert (kept.generation, kept.inputs, kept.discoveries) == ("second", 290, 9)
    history = read_history(tmp_path)[0]
    assert history.inputs.tolist() == [50, 70, 90]
    assert history.seconds.tolist() == [25.0, 27.0, 29.0]
    assert read_bug_times(tmp_path) == (BugTime("a", "x", 2.0, 240, 24.0),)


def test_counts_of_a_bug_only_grow_and_its_first_sight_stays(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100, found("x", 5)))
        epoch(store, 2.0, "a", turn(200, found("x", 2, n=99, command="shorter")))
        (bug,) = store.state().bugs
    assert (bug.crashes, bug.at, bug.after_inputs, bug.command) == (5, 1.0, 10, "shorter")


def test_a_bug_of_two_targets_is_one_bug_of_the_first(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        assert epoch(store, 1.0, "b", turn(100, found("y"), found("x", 2))) == ("y", "x")
        number = store.start_epoch(1.0, "a", Choice("why"))
        added = store.finish_epoch(number, 2.0, turn(100, found("x", 3), found("z")))
        assert (added.fresh_bugs, added.new_bugs) == (("x", "z"), ("z",))
        state, kept = store.state(), store.memory()
    assert [bug.id for bug in state.bugs] == ["y", "x", "z"]
    joined = state.bugs[1]
    assert (joined.target, joined.targets, joined.crashes) == ("b", ("b", "a"), 5)
    assert [t.bugs for t in state.targets] == [("x", "z"), ("y", "x"), ()]
    assert [(m.bugs, m.new_bugs, m.singletons) for m in kept.values()] == [
        (2, 1, 1),
        (2, 2, 1),
        (0, 0, 0),
    ]
    assert [(t.target, t.bug) for t in read_bug_times(tmp_path)] == [
        ("b", "y"),
        ("b", "x"),
        ("a", "x"),
        ("a", "z"),
    ]


# States, decisions, memory.


def test_a_target_is_fuzzing_while_an_epoch_runs_unless_it_is_broken(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        number = store.start_epoch(0.0, "a", Choice("why"))
        assert target(store, "a").state == FUZZING
        store.set_state("a", BROKEN, "no-build", "It does not build.")
        assert target(store, "a").state == BROKEN
        store.fail_epoch(number, 1.0)
        shown = target(store, "a")
    assert (shown.state, shown.reason, shown.detail) == (BROKEN, "no-build", "It does not build.")
    assert (shown.epochs, shown.inputs) == (1, 0)
    (decision,) = read_decisions(tmp_path)
    assert (decision.seconds, decision.inputs, decision.new_bugs) == (0.0, 0, 0)
    assert len(read_history(tmp_path)[0].at) == 0


def test_decisions_can_be_listed_newest_last(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        for i in range(1, 6):
            epoch(store, float(i), "a" if i % 2 else "box", turn(100 * i))
        store.start_epoch(9.0, "b", Choice("never tried", None, "a", 0.25))
    last = read_decisions(tmp_path, last=2)
    assert [d.target for d in last] == ["a", "b"]
    assert (last[0].belief, last[0].other, last[0].other_belief) == (0.5, "a", None)
    assert (last[1].at, last[1].reason, last[1].other) == (9.0, "never tried", "a")
    assert (last[1].seconds, last[1].inputs, last[1].new_bugs) == (None, None, None)
    assert [d.at for d in read_decisions(tmp_path, "box")] == [1.0, 3.0]
    with pytest.raises(BadInput, match="no target 'c'"):
        read_decisions(tmp_path, "c")


def test_a_resumed_campaign_remembers(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 2.0, "a", turn(200, found("x")))
        store.set_looked("a", 128, 0.03)
        store.set_signature("a", "1f2e")
        store.set_state("a", RETIRED, "accepted-risk", "Low enough.")
        store.end_run(7.5, Stopped("time-budget", "The time is over."))
        assert store.state().stopped == Stopped("time-budget", "The time is over.")
    with SqlStore.open(tmp_path) as store:
        assert store.notes == ()
        assert store.seconds() == 7.5
        store.begin_run(run_entry(plan(tmp_path), None))
        assert (store.seconds(), store.state().budget) == (7.5, None)
        kept = store.memory()["a"]
        assert (kept.state, kept.reason, kept.looked, kept.looked_high) == (
            RETIRED,
            "accepted-risk",
            128,
            0.03,
        )
        assert (kept.inputs, kept.seconds, kept.species, kept.corpus) == (200, 20.0, 207, 3)
        assert kept.engine == "libfuzzer"
        assert kept.discovery_rate == pytest.approx(1 / 200 * 10)
        assert (kept.finds_coverage, kept.in_flight, kept.signature) == (True, False, "1f2e")
        assert store.memory()["box"].discovery_rate == 0.0
        assert epoch(store, 8.0, "a", turn(200, found("x"))) == ()


def test_the_clock_never_goes_back(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.tick(5.0)
        store.tick(3.0)
        assert store.seconds() == 5.0
        epoch(store, 6.0, "a", turn(10))
        assert store.seconds() == 6.0


def test_targets_that_left_the_file_are_hidden_and_come_back(tmp_path: Path) -> None:
    with begun(tmp_path, "a", "b") as store:
        epoch(store, 1.0, "a", turn(100, found("x")))
    with begun(tmp_path, "c", "b") as store:
        state = store.state()
        assert [t.name for t in state.targets] == ["c", "b"]
        assert state.bugs == ()
    with begun(tmp_path, "b", "a") as store:
        state = store.state()
    assert [t.name for t in state.targets] == ["b", "a"]
    assert (state.targets[1].inputs, state.targets[1].bugs) == (100, ("x",))


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100))
        store.start_epoch(1.0, "a", Choice("why"))
        state = read_state(tmp_path)
    assert (state.running, state.stopped, state.targets[0].state) == (True, None, FUZZING)
    state = read_state(tmp_path)
    assert (state.running, state.targets[0].state) == (False, WAITING)
    assert state.stopped is not None
    assert state.stopped.reason == "killed"
    with SqlStore.open(tmp_path) as store:
        assert [m.in_flight for m in store.memory().values()] == [True, False, False]
        store.begin_run(run_entry(plan(tmp_path), 600.0))
        assert [m.in_flight for m in store.memory().values()] == [True, False, False]
        assert target(store, "a").state == WAITING
        assert store.recover(1.0, "a", turn(150, found("x"))).new_bugs == ("x",)
        assert store.recover(1.0, "a", turn(150, found("x"))) == Added()
        assert not store.memory()["a"].in_flight
    decisions = read_decisions(tmp_path)
    assert [(d.reason, d.inputs) for d in decisions] == [
        ("its turn", 100),
        ("why", None),
        (RECOVERED, 50),
    ]
    assert read_state(tmp_path).targets[0].epochs == 2


def test_recovering_what_is_known_makes_no_epoch(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100, found("x")))
        store.start_epoch(1.0, "a", Choice("why"))
    with begun(tmp_path) as store:
        assert store.recover(1.0, "a", turn(100, found("x"))) == Added()
        assert target(store, "a").epochs == 1
        assert not store.memory()["a"].in_flight
        store.recover(1.0, "a", turn(100, found("x", 2)))
        assert (target(store, "a").epochs, store.state().bugs[0].crashes) == (2, 2)


# History.


def test_a_short_history_is_whole_and_a_long_one_is_spread_on_the_logarithm(
    tmp_path: Path,
) -> None:
    with begun(tmp_path, "a") as store:
        for i in range(1, 151):
            epoch(store, float(i), "a", turn(10 * i))
        store.fail_epoch(store.start_epoch(301.0, "a", Choice("why")), 302.0)
    (whole,) = read_history(tmp_path, points=150)
    assert whole.inputs.tolist() == list(range(10, 1501, 10))
    for points in (2, 3, 20, 100):
        (kept,) = read_history(tmp_path, points)
        assert len(kept.inputs) <= points
        assert (kept.inputs[0], kept.inputs[-1]) == (10, 1500)
        assert np.array_equal(kept.seconds, kept.inputs / 10)
        assert np.array_equal(kept.at, kept.inputs / 10)
    (kept,) = read_history(tmp_path, 20)
    even = np.log(150) / 18
    steps = np.diff(np.log(kept.inputs[kept.inputs > 100]))
    assert steps.max() < 1.5 * even
    assert steps.min() > 0.5 * even


def test_a_history_without_inputs_can_be_read(tmp_path: Path) -> None:
    with begun(tmp_path, "a") as store:
        for i in range(5):
            epoch(store, float(i), "a", turn(1, inputs=0, risk=None))
    assert read_history(tmp_path, points=3)[0].inputs.tolist()[:1] == [0]


def test_the_rate_that_a_scheduler_gets_back_is_the_one_that_was_judged(tmp_path: Path) -> None:
    # Not the risk, which may be raised for seeds that wait.
    with begun(tmp_path) as store:
        epoch(store, 2.0, "a", turn(200, discovery_rate=0.125))
        assert store.memory()["a"].discovery_rate == 0.125


@pytest.mark.parametrize("flaky", [None, False, True])
def test_that_nobody_has_tried_whether_a_bug_is_flaky_is_kept(tmp_path: Path, flaky) -> None:
    bug = found("x")
    with begun(tmp_path) as store:
        epoch(store, 2.0, "a", turn(200, replace(bug, bug=replace(bug.bug, flaky=flaky))))
    assert read_state(tmp_path).bugs[0].flaky is flaky


def test_to_look_again_compiles_no_statement_again(tmp_path: Path) -> None:
    """Neither for the same campaign nor for another: views look once a second."""
    for name in ("one", "other"):
        with begun(tmp_path / name) as store:
            epoch(store, 2.0, "a", turn(200, found("x")))
    read_state(tmp_path / "one")
    compiled = []

    def note(*call: object) -> None:
        compiled.append(getattr(call[4], "cache_hit", None) is CacheStats.CACHE_MISS)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        read_state(tmp_path / "one")
        read_state(tmp_path / "other")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert compiled
    assert not any(compiled)
