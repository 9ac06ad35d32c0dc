"""A campaign of one target: what ends it, and what is told of it then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzwise.campaign import single, start
from fuzzwise.campaign.single import Limits, Single, Standing
from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.judge import Terms
from fuzzwise.store.places import open_store
from fuzzwise.store.states import RETIRED, WAITING
from reading import read_history, read_state
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
        while used < seconds and not self._stop.wait(0.02):
            used += 0.02
            self.n += round(SPEED * 0.02)
            self.seconds += 0.02
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


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """Fuzzes with a given session, in the same folder each time."""

    def fuzzing(session: SimulatedSession, limits: Limits, name: str = "paper") -> Standing:
        engine = replace(engine_named("libfuzzer"), open_session=lambda *_: session)
        monkeypatch.setattr(single, "engine_named", lambda _: engine)
        plan = TargetPlan(name, "libfuzzer", ("/bin/true",))
        return Single(plan, tmp_path / "out", limits).run(lambda: None, lambda _: None)

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
    end = fuzz(anew, Limits(seconds=0.3))
    assert end.stopped is not None
    assert end.stopped.reason == "time-budget"
    assert anew.seconds >= 0.25


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


def test_its_history_is_in_the_store(fuzz: Fuzz, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(single, "EPOCH", 0.05)
    fuzz(Running(tuple(range(100, 10**7, 100))), Limits(seconds=2.0))
    (history,) = read_history(tmp_path / "out")
    assert len(history.inputs) >= 3
    assert (history.inputs[1:] > history.inputs[:-1]).all()
    state = read_state(tmp_path / "out")
    assert state.targets[0].state == WAITING
    assert state.epochs == len(history.inputs)


def test_a_look_is_not_had_twice_by_going_on(fuzz: Fuzz, tmp_path: Path) -> None:
    session = Running(tuple(range(10, 10**6, 10)))
    fuzz(session, Limits(Terms(0.08), seconds=0.2))
    with open_store(tmp_path / "out") as store:
        n = session.n = store.memory()["paper"].looked
    assert n > 100
    session.__class__ = Used
    end = fuzz(session, Limits(Terms(0.9), inputs=n))
    assert end.stopped is not None
    assert end.stopped.reason == "input-budget"  # the next look is at a tenth more inputs


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
