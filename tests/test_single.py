"""A campaign of one target: what ends it, and what is told of it then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzwise.campaign import single, start
from fuzzwise.campaign.finished import run_entry
from fuzzwise.campaign.single import Limits, Single, Standing
from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.judge import Terms
from fuzzwise.report import left
from fuzzwise.report.campaign.as_json import document
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.store.places import open_store
from fuzzwise.store.states import ALONE, RETIRED, WAITING
from reading import read_history, read_observations, read_state
from simulated_session import SPEED, SimulatedSession
from stored import begun, epoch, turn
from stored import plan as campaign_plan

Fuzz = Callable[..., Standing]


class Running(SimulatedSession):
    """Counts while its turn lasts, at the given discoveries; also for a while after the stop."""

    late: tuple[int, ...] = ()

    def turn(self, seconds: float, jobs: int) -> Totals:
        if self.problem:
            raise BadInput(self.problem)
        self.turns.append((seconds, jobs))
        used = 0.0
        while True:
            used += 0.02
            self.n += round(SPEED * 0.02)
            self.seconds += 0.02
            if used >= seconds or self._stop.wait(0.02):
                break
        self._stop.clear()
        totals = self.totals() or Totals.nothing()
        if self.late:
            self.n += 2 * self.n
            found = totals.observation.discoveries
            more = [*([] if found is None else found), *range(self.n - 3000, self.n)]
            self._discoveries = np.array(more, np.int64)
            return self.totals() or totals
        return totals


class Used(Running):
    """Has made all its inputs, and ends its turn at once."""

    def turn(self, seconds: float, jobs: int) -> Totals:
        return self.totals() or Totals.nothing()


class Loading(Running):
    """Says nothing new for a while in each turn, as an engine that runs its corpus first."""

    asked = 0

    def totals(self) -> Totals | None:
        self.asked += 1
        return super().totals()

    def turn(self, seconds: float, jobs: int) -> Totals:
        before = self.asked
        while self.asked < before + 3:
            time.sleep(0.01)
        return super().turn(seconds, jobs)


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """Fuzzes with a given session, in the same folder each time."""

    def fuzzing(
        session: SimulatedSession,
        limits: Limits,
        name: str = "paper",
        watch: Callable[[Standing], None] = lambda _: None,
    ) -> Standing:
        engine = replace(engine_named("libfuzzer"), open_session=lambda *_: session)
        monkeypatch.setattr(single, "engine_named", lambda _: engine)
        plan = TargetPlan(name, "libfuzzer", ("/bin/true",))
        return Single(plan, tmp_path / "out", limits).run(lambda: None, watch)

    return fuzzing


def test_what_a_stop_rests_on_is_what_is_shown(fuzz: Fuzz, tmp_path: Path) -> None:
    session = Running((5, 90))
    session.late = (1,)
    end = fuzz(session, Limits(Terms(0.01)))
    assert end.stopped is not None
    assert end.stopped.reason == "accepted-risk"
    assert session.n > end.totals.observation.n  # counted after the look, with many discoveries
    assert end.judgement.risk is not None
    assert end.judgement.risk.high < 0.01
    assert end.judgement.observation is end.totals.observation
    (target,) = read_state(tmp_path / "out").targets
    assert (target.state, target.risk) == (RETIRED, end.judgement.risk)
    assert f"after {end.totals.observation.n:,} inputs" in end.stopped.detail


def test_time_is_that_of_this_call(fuzz: Fuzz, tmp_path: Path) -> None:
    session = Running(tuple(range(100, 10**7, 100)))
    end = fuzz(session, Limits(seconds=0.3))
    assert end.stopped is not None
    assert end.stopped.reason == "time-budget"
    again = fuzz(session.after_restart(), Limits(seconds=0.3))
    assert again.stopped == end.stopped
    assert [seconds for seconds, _ in session.turns] == [0.3, 0.3]
    assert again.totals.observation.n > end.totals.observation.n
    state = read_state(tmp_path / "out")
    assert state.targets[0].inputs == again.totals.observation.n
    assert state.budget is not None
    assert state.budget > 0.5  # in all, as that of a campaign of many targets
    assert [event.kind for event in state.events] == ["stopped", "resumed", "stopped"]


def test_time_after_a_new_build_is_that_of_this_call_too(fuzz: Fuzz) -> None:
    session = Running(tuple(range(100, 10**7, 100)))
    fuzz(session, Limits(seconds=0.5))
    anew = Running(tuple(range(100, 10**7, 100)))
    anew.generation = "another"
    began = time.monotonic()
    end = fuzz(anew, Limits(seconds=0.3))
    assert end.stopped is not None
    assert end.stopped.reason == "time-budget"
    assert time.monotonic() - began >= 0.25


def test_inputs_are_in_all_and_what_is_used_up_is_said(fuzz: Fuzz) -> None:
    session = Running(tuple(range(100, 10**7, 100)))
    first = fuzz(session, Limits(inputs=500))
    assert first.stopped is not None
    assert first.stopped.detail == "The budget of 500 inputs is used."

    session.__class__ = Used
    again = fuzz(session, Limits(inputs=500))
    assert again.stopped is not None
    assert again.stopped.reason == "input-budget"
    assert "nothing was fuzzed now. Ask for more of them with --inputs" in again.stopped.detail


def test_a_folder_without_an_input_is_taken_over(fuzz: Fuzz, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such thing"):
        fuzz(Running(problem="no such thing."), Limits(seconds=5.0), name="failed")
    fuzz(Running((5,)), Limits(seconds=0.1))
    assert [target.name for target in read_state(tmp_path / "out").targets] == ["paper"]


def test_what_is_stored_as_left_is_time_on_cores(fuzz: Fuzz, tmp_path: Path) -> None:
    class OnTwoCores(Running):
        def totals(self) -> Totals | None:
            known = super().totals()
            return known and replace(known, seconds=2 * self.seconds)

    rarer = np.unique(np.geomspace(5, 10**6, 60).astype(np.int64))
    end = fuzz(OnTwoCores(tuple(rarer.tolist())), Limits(Terms(1e-4), inputs=50_000))
    (target,) = read_state(tmp_path / "out").targets
    by_the_clock = end.judgement.seconds_to_decision
    assert by_the_clock is not None
    assert end.judgement.seconds_left is not None
    assert target.seconds_left is not None
    assert target.seconds_to_decision == pytest.approx(2 * by_the_clock)
    assert target.seconds_left.value == pytest.approx(2 * end.judgement.seconds_left.value)
    told: Any = document(read_state(tmp_path / "out"), read_observations(tmp_path / "out"))
    assert told["targets"][0]["seconds_to_stop"]["value"] == pytest.approx(2 * by_the_clock)
    assert left.by_the_clock(target, 2) == pytest.approx(by_the_clock)


def test_nothing_is_left_of_what_waits_for_something_else(fuzz: Fuzz, tmp_path: Path) -> None:
    session = Running((5, 90))
    session.unsettled = "in the midst of a measurement"
    end = fuzz(session, Limits(Terms(0.01), inputs=20_000))
    assert end.judgement.held_back == session.unsettled
    (target,) = read_state(tmp_path / "out").targets
    assert (target.seconds_left, left.of_target(target)) == (None, None)


def test_its_history_is_in_the_store(fuzz: Fuzz, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(single, "EPOCH", 0.05)
    fuzz(Running(tuple(range(100, 10**7, 100))), Limits(inputs=100_000))  # two seconds, or more
    (history,) = read_history(tmp_path / "out")
    assert len(history.inputs) >= 3
    assert (history.inputs[1:] > history.inputs[:-1]).all()
    state = read_state(tmp_path / "out")
    assert state.targets[0].state == WAITING
    assert state.epochs == len(history.inputs)


def test_a_look_is_not_had_twice_by_going_on(fuzz: Fuzz, tmp_path: Path) -> None:
    session = Running(tuple(range(10, 10**6, 10)))
    fuzz(session, Limits(Terms(0.08), inputs=5_000))
    with open_store(tmp_path / "out") as store:
        n = session.n = store.memory()["paper"].looked
    assert n > 100
    session.__class__ = Used
    end = fuzz(session, Limits(Terms(0.9), inputs=n))
    assert end.stopped is not None
    assert end.stopped.reason == "input-budget"  # the next look is at a tenth more inputs


def test_one_that_goes_on_ten_times_has_each_look_once_as_a_long_one_has(fuzz: Fuzz) -> None:
    rule = AcceptedRisk(1e-3)
    session = Loading(tuple(range(100, 10**7, 100)))
    session.n, session.seconds = 500_000, 10.0
    looks: list[int] = []

    def watch(standing: Standing) -> None:
        if standing.judgement.looked:
            looks.append(rule.look(standing.totals.observation.n))

    for _ in range(10):
        limits = Limits(Terms(rule.risk), inputs=session.n + 2000)
        fuzz(session.after_restart(), limits, watch=watch)
    assert looks
    assert len(set(looks)) == len(looks)
    # A look spends the share of its number, and all numbers together have the error of one stop.
    assert sum(1 - rule.confidence_at(look) for look in looks) < 1 - rule.confidence


def test_looks_are_remembered_with_the_counts_that_they_are_of(fuzz: Fuzz, tmp_path: Path) -> None:
    def stored() -> tuple[str, int]:
        with open_store(tmp_path / "out") as store:
            memory = store.memory()["paper"]
            return memory.generation, memory.looked

    session = Running(tuple(range(10, 10**6, 10)))
    fuzz(session, Limits(Terms(0.08), seconds=0.2))
    assert stored()[1] > 100
    session.build_anew()
    session.n = 50
    session.__class__ = Used
    fuzz(session.after_restart(), Limits(Terms(0.08), inputs=50))
    assert stored() == ("first+", 0)


def test_looks_of_other_counts_are_not_those_of_what_a_kill_left(
    fuzz: Fuzz, tmp_path: Path
) -> None:
    session = Running(tuple(range(10, 10**6, 10)))
    fuzz(session, Limits(Terms(0.08), seconds=0.2))
    alone = replace(campaign_plan(tmp_path / "out", "paper"), scheduler=ALONE)
    with open_store(tmp_path / "out") as store:
        store.begin_run(run_entry(alone, None))
        # … and is killed.
    session.build_anew()
    session.n = 50
    session.__class__ = Used
    fuzz(session.after_restart(), Limits(Terms(0.08), inputs=50))
    with open_store(tmp_path / "out") as store:
        memory = store.memory()["paper"]
        assert (memory.generation, memory.looked) == ("first+", 0)


def test_a_target_that_cannot_be_fuzzed_says_so(fuzz: Fuzz) -> None:
    with pytest.raises(BadInput, match="no such thing"):
        fuzz(Running(problem="no such thing."), Limits(seconds=5.0))


def test_another_target_is_refused_by_name(fuzz: Fuzz) -> None:
    fuzz(Running(), Limits(seconds=0.1))
    with pytest.raises(BadInput, match="holds a campaign of paper, and the target is other"):
        fuzz(Running(), Limits(seconds=0.1), name="other")


def test_no_input_is_no_success(fuzz: Fuzz) -> None:
    class Empty(SimulatedSession):
        def turn(self, seconds: float, jobs: int) -> Totals:
            self._stop.wait(seconds)
            return Totals.nothing()

    with pytest.raises(NothingYet):
        fuzz(Empty(), Limits(seconds=0.2))


def test_the_folder_of_a_campaign_of_many_is_refused(fuzz: Fuzz, tmp_path: Path) -> None:
    with begun(tmp_path / "out", "paper") as store:
        epoch(store, 2, "paper", turn(100))
    with pytest.raises(BadInput, match="holds a campaign of `fuzzwise run`"):
        fuzz(Running(), Limits(seconds=0.1))


def test_a_campaign_of_many_refuses_the_folder_of_one(fuzz: Fuzz, tmp_path: Path) -> None:
    fuzz(Running((5,)), Limits(seconds=0.1))
    many = start.Running(campaign_plan(tmp_path / "out", "paper"))
    with pytest.raises(BadInput, match="holds a campaign of `fuzzwise fuzz`"):
        many.run(1.0, lambda _: None, lambda *_: pytest.fail("nothing is begun"))
