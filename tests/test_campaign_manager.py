"""What the manager decides: who gets the next epoch, who is retired, who comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzwise.campaign.executor import Result
from fuzzwise.campaign.failures import Failures
from fuzzwise.campaign.finished import recent_bugs, run_entry
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.roster import EMPTY_TURNS, RETRIES_TAKE, RETRY, Roster
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.contract import Totals
from fuzzwise.engines.starting import EXECUTING
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.report import left
from fuzzwise.report.campaign.as_json import document
from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.registry import policies
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.store.contract import Choice
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.store.states import BROKEN, RETIRED, WAITING, CampaignState, Stopped
from fuzzwise.triage.bug_book import Bug
from fuzzwise.triage.kinds import RESOURCE
from reading import read_decisions, read_observations, read_state
from simulated_session import SPEED, SimulatedSession, plan_of
from waiting import PATIENCE

CLEAN = SimulatedSession
FERTILE = tuple(range(100, 5_000_000, 100))


def managing(
    plan: CampaignPlan, store: SqlStore, sessions: Mapping[str, SimulatedSession], **more: Any
) -> Manager:
    """A manager that waits for turns to end as long as a busy machine may need for that."""
    return Manager(plan, store, Threads(sessions, plan.cores), **{"last_words": PATIENCE, **more})


def run(
    plan: CampaignPlan,
    sessions: Mapping[str, SimulatedSession],
    seconds: float | None = None,
    broken: Mapping[str, str] | None = None,
    until: Callable[[CampaignState], bool] = lambda _: False,
    **more: Any,
) -> tuple[Stopped, CampaignState]:
    """A run of a campaign; it is interrupted when what a test waits ``until`` has happened."""
    with SqlStore.open(plan.folder) as store:
        restarted = {n: s.after_restart() for n, s in sessions.items()}
        manager = managing(plan, store, restarted, **more)

        def watch() -> None:
            if until(manager.state()):
                manager.interrupt()

        stopped = manager.run(seconds, watch, broken)
    return stopped, read_state(plan.folder)


@pytest.fixture(scope="module", autouse=True)
def _all_is_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the first campaign of a process has to import takes no test's time."""
    run(plan_of(tmp_path_factory.mktemp("first"), ["a"]), {"a": CLEAN((3, 50))})


def by_turns(sessions: Mapping[str, SimulatedSession]) -> Callable[[], float]:
    """A clock by which only turns take time: who is broken is not tried again meanwhile."""
    return lambda: sum(session.seconds for session in sessions.values())


class Empty(SimulatedSession):
    """Uses its time, and never makes an input."""

    def __init__(self, doing: str = "") -> None:
        super().__init__()
        self._doing = doing

    def turn(self, seconds: float, jobs: int) -> Totals:
        self._stop.wait(seconds)
        self.seconds += seconds
        nothing = Observation(0, discoveries=NO_INTS)
        return Totals("first", nothing, self.seconds, 0, (), 0, doing=self._doing)


def kinds(state: CampaignState, target: str) -> list[str]:
    return [event.kind for event in state.events if event.target == target]


def by_name(state: CampaignState) -> dict[str, str]:
    return {target.name: target.state for target in state.targets}


def test_a_campaign_ends_early_when_the_risk_of_all_targets_is_accepted(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b", "c"], budget=PATIENCE)
    stopped, state = run(plan, {"a": CLEAN(), "b": CLEAN((3, 50)), "c": CLEAN()})
    assert stopped.reason == "all-retired"
    assert state.stopped == stopped
    for target in state.targets:
        assert (target.state, target.reason) == (RETIRED, "accepted-risk")
        assert "accepted risk 0.001" in target.detail
        assert target.risk is not None
        assert target.risk.high is not None
        assert target.risk.high < 1e-3
        assert kinds(state, target.name) == ["retired"]


def test_the_time_of_retired_targets_goes_to_the_others(tmp_path: Path):
    plan = plan_of(tmp_path, ["clean", "fertile"], cores=1, scheduler="round-robin")
    sessions = {"clean": CLEAN(), "fertile": CLEAN(FERTILE)}

    def is_alone(_: CampaignState) -> bool:
        return len(sessions["fertile"].turns) > len(sessions["clean"].turns) + 8

    _, state = run(plan, sessions, PATIENCE, until=is_alone)
    assert by_name(state) == {"clean": RETIRED, "fertile": WAITING}
    retired_at = next(e.at for e in state.events if e.kind == "retired")
    later = [d for d in read_decisions(plan.folder, last=1000) if d.at > retired_at]
    assert len(later) > 5
    assert {d.target for d in later} == {"fertile"}


@pytest.mark.parametrize(
    ("epoch", "turns"), [(16.0, [2.0, 4.0, 8.0, 16.0, 16.0]), (4.0, [1.0, 1.0, 2.0, 4.0, 4.0])]
)
def test_first_turns_are_short_but_worth_the_start_of_a_target(tmp_path: Path, epoch, turns):
    plan = replace(plan_of(tmp_path, ["a"], cores=1, budget=1000.0), epoch=epoch)
    sessions = {"a": CLEAN(FERTILE, patience=0.001)}
    run(plan, sessions, 1000.0, until=lambda state: state.epochs >= len(turns))
    assert [seconds for seconds, _ in sessions["a"].turns[: len(turns)]] == turns


def test_every_decision_says_why(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b", "c"], cores=1)
    sessions = {n: CLEAN(FERTILE, bugs={500: n}) for n in ("a", "b", "c")}
    run(plan, sessions, PATIENCE, until=lambda state: state.epochs > 8)
    decisions = read_decisions(plan.folder, last=1000)
    assert [d.reason for d in decisions[:3]] == ["first turn"] * 3
    assert all(d.belief is None for d in decisions[:3])
    for decision in decisions[3:]:
        assert decision.reason == "expected most"
        assert decision.other != decision.target
        assert decision.belief is not None
        assert decision.other_belief is not None
        assert decision.belief >= decision.other_belief
    assert sum(d.new_bugs or 0 for d in decisions) == 3
    assert sum(d.inputs or 0 for d in decisions) == sum(s.n for s in sessions.values())


def test_results_may_come_in_any_order_and_all_of_them_count(tmp_path: Path):
    plan = plan_of(tmp_path, list("abcdefgh"), cores=4)
    sessions = {
        name: CLEAN(FERTILE, patience=0.2 + 0.3 * (i % 5)) for i, name in enumerate("abcdefgh")
    }

    def all_came_again(_: CampaignState) -> bool:
        return all(len(session.turns) > 2 for session in sessions.values())

    _, state = run(plan, sessions, PATIENCE, until=all_came_again)
    assert {t.name: t.inputs for t in state.targets} == {n: s.n for n, s in sessions.items()}
    assert max(s.most_busy for s in sessions.values()) == 1
    assert state.epochs == sum(len(s.turns) for s in sessions.values())


def test_a_target_with_several_jobs_uses_free_cores_but_no_more_than_it_may(tmp_path: Path):
    plan = plan_of(tmp_path, ["one", "two"], cores=4)
    one, two = plan.targets
    plan = replace(plan, targets=(one, replace(two, jobs=3)))
    sessions = {"one": CLEAN(FERTILE), "two": CLEAN(FERTILE)}
    run(plan, sessions, PATIENCE, until=lambda _: all(len(s.turns) > 1 for s in sessions.values()))
    assert {jobs for _, jobs in sessions["one"].turns} == {1}
    assert {jobs for _, jobs in sessions["two"].turns} == {3}
    assert sessions["two"].most_busy == 1


@pytest.mark.parametrize("scheduler", ["round-robin", "risk-rate"])
def test_a_high_share_gets_four_times_the_time_of_a_low_one(tmp_path: Path, scheduler: str):
    plan = plan_of(tmp_path, ["low", "high"], cores=1, scheduler=scheduler)
    low, high = plan.targets
    targets = (replace(low, share="low"), replace(high, share="high"))
    plan = replace(plan, targets=tuple(replace(t, accepted_risk=None) for t in targets))
    sessions = {"low": CLEAN(patience=0.1), "high": CLEAN(patience=0.1)}

    def have_had_some(_: CampaignState) -> bool:
        return sum(session.seconds for session in sessions.values()) > 3.0

    _, state = run(plan, sessions, PATIENCE, until=have_had_some)
    times = {target.name: target.seconds for target in state.targets}
    assert times["high"] / times["low"] == pytest.approx(4, rel=0.35)


def test_a_broken_target_is_said_once_and_the_others_go_on(tmp_path: Path):
    plan = plan_of(tmp_path, ["good", "bad", "worse"])
    sessions = {
        "good": CLEAN(FERTILE),
        "bad": CLEAN(problem="bad: does not start."),
        "worse": CLEAN(),
    }

    def went_on(state: CampaignState) -> bool:
        return "broken" in kinds(state, "bad") and len(sessions["good"].turns) > 3

    uncompiled = {"worse": "worse: does not compile."}
    stopped, state = run(plan, sessions, PATIENCE, uncompiled, went_on, clock=by_turns(sessions))
    assert stopped.reason == "interrupted"
    assert by_name(state) == {"good": WAITING, "bad": BROKEN, "worse": BROKEN}
    assert [e.detail for e in state.events if e.kind == "broken"] == [
        "worse: does not compile.",
        "bad: does not start.",
    ]
    assert sessions["good"].n > 0
    assert sessions["worse"].turns == []


@pytest.mark.parametrize("scheduler", ["risk-rate", "thompson"])
def test_turns_without_an_input_are_turns_and_three_in_a_row_are_a_broken_target(
    tmp_path: Path, scheduler: str
):
    plan = plan_of(tmp_path, ["empty", "a", "b"], cores=1, scheduler=scheduler)
    sessions = {"empty": Empty(), "a": CLEAN(FERTILE), "b": CLEAN(FERTILE)}
    clock = by_turns(sessions)
    _, state = run(plan, sessions, PATIENCE, until=lambda state: state.epochs > 25, clock=clock)
    decisions = read_decisions(plan.folder, last=1000)
    assert [d.target for d in decisions[:3]] == ["empty", "a", "b"]
    turns = [d.target for d in decisions].count("empty")
    assert turns <= EMPTY_TURNS
    assert (by_name(state)["empty"] == BROKEN) == (turns == EMPTY_TURNS)


def test_a_target_that_only_starts_is_not_broken_by_that(tmp_path: Path):
    plan = plan_of(tmp_path, ["slow"], cores=1)
    sessions = {"slow": Empty(doing=EXECUTING)}
    _, state = run(plan, sessions, PATIENCE, until=lambda state: state.epochs > 2 * EMPTY_TURNS)
    assert by_name(state) == {"slow": WAITING}


def test_tries_of_broken_targets_leave_the_time_to_the_others(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b", "c"], cores=2)
    with SqlStore.open(plan.folder) as store:
        store.begin_run(run_entry(plan, None))
        rng = np.random.default_rng(1)
        scheduler = Scheduler(policies()["round-robin"], 3, rng)
        roster = Roster(plan, scheduler, lambda write: write(store, 0.0))
        a, b, _ = roster.members
        assert roster.retry_at(a, 100.0, cost=0.1) == 100.0 + RETRY
        roster.broke(a, "it never starts", roster.retry_at(a, 100.0, cost=30.0))
        assert a.retry_at == 100.0 + 30.0 / (RETRIES_TAKE * 2)
        # Two that fail take turns of the same small share.
        assert roster.retry_at(b, 100.0, cost=30.0) == 100.0 + 2 * 30.0 / (RETRIES_TAKE * 2)


def test_what_was_covered_before_a_run_is_no_growth_of_its_first_epoch(tmp_path: Path):
    plan = plan_of(tmp_path, ["large", "small"])
    with SqlStore.open(plan.folder) as store:
        store.begin_run(run_entry(plan, None))
        known = store.memory()["large"]
        scheduler = Scheduler(policies()["risk-rate"], 2, np.random.default_rng(1))
        roster = Roster(plan, scheduler, lambda write: write(store, 0.0))
        same = replace(
            known, inputs=10_000, seconds=100.0, discovery_rate=1.0, corpus=50, finds_coverage=True
        )
        sizes = {"large": 20_000, "small": 200}
        roster.remember({name: replace(same, species=size) for name, size in sizes.items()})
        for arm, size in enumerate(sizes.values()):
            grown = EpochResult(
                *(1000, 10.0), kept=60, discovery_rate=1.0, recent_bugs=0, species=size + 10
            )
            scheduler.learn(arm, grown)
        assert scheduler.belief(0) == pytest.approx(scheduler.belief(1), rel=0.1)


def shown_so_far(crashes: int, stalls: int) -> Totals:
    """Totals with a crash and a hang that were shown so often."""
    bugs = (
        Bug("boom", "SEGV", "read", ("f",), crashes, (), 1, 0.0),
        Bug("hang", "timeout", RESOURCE, ("g",), stalls, (), 2, 0.0),
    )
    return replace(Totals.nothing(), bugs=bugs)


def test_a_scheduler_is_told_how_often_inputs_failed_in_an_epoch(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"])
    with SqlStore.open(plan.folder) as store:
        store.begin_run(run_entry(plan, None))
        scheduler = Scheduler(policies()["clusterfuzz"], 1, np.random.default_rng(1))
        roster = Roster(plan, scheduler, lambda write: write(store, 0.0))
        member = roster.by_name["a"]
        assert member.failed(shown_so_far(3, 1)) == Failures(crashes=4, stalls=1)
        assert member.failed(shown_so_far(3, 1)) == Failures()
        assert member.failed(shown_so_far(3, 3)) == Failures(crashes=2, stalls=2)
        assert member.failed(shown_so_far(1, 0)) == Failures()  # counts that began again
        # In the next run, what was shown before it is no failure of its first epoch.
        known = replace(store.memory()["a"], inputs=100, seconds=1.0)
        again = Roster(plan, scheduler, lambda write: write(store, 0.0))
        again.remember({"a": known})
        assert again.by_name["a"].failed(shown_so_far(9, 9)) == Failures()
        assert again.by_name["a"].failed(shown_so_far(10, 9)) == Failures(crashes=1, stalls=0)


def test_a_run_without_an_input_says_so(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], cores=1)
    stopped, _ = run(plan, {"a": Empty(doing=EXECUTING)}, 0.5)
    assert stopped.reason == "nothing-ran"
    assert "No target ran an input" in stopped.detail


def test_nothing_to_fuzz_is_no_success(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b"])
    problem = "it does not start."
    stopped, _ = run(plan, {n: CLEAN(problem=problem) for n in ("a", "b")}, PATIENCE)
    assert stopped.reason == "nothing-to-fuzz"


def test_a_broken_target_gets_another_try_in_the_next_run(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"])
    session = CLEAN(problem="a: is gone.")
    run(plan, {"a": session}, PATIENCE, until=lambda state: kinds(state, "a") == ["broken"])
    session.problem = ""
    stopped, state = run(plan, {"a": session})
    assert stopped.reason == "all-retired"
    assert kinds(state, "a") == ["broken", "retired"]


def test_a_broken_target_returns_when_its_program_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("fuzzwise.campaign.manager.LOOK_EVERY", 0.1)
    plan = plan_of(tmp_path, ["a", "b"])
    program = plan.targets[0].program
    program.unlink()
    session = CLEAN(FERTILE, problem="a: is gone.")

    def is_back(state: CampaignState) -> bool:
        if kinds(state, "a") == ["broken"] and not program.exists():
            session.problem = ""
            program.write_text("a new one")
        return session.n > 0

    _, state = run(plan, {"a": session, "b": CLEAN(FERTILE)}, PATIENCE, until=is_back)
    assert kinds(state, "a") == ["broken", "returned"]
    assert session.n > 0


def retired(tmp_path: Path) -> tuple[CampaignPlan, dict[str, SimulatedSession]]:
    plan = plan_of(tmp_path, ["a", "b"])
    sessions = {"a": CLEAN(), "b": CLEAN()}
    stopped, _ = run(plan, sessions)
    assert stopped.reason == "all-retired"
    return plan, sessions


def test_what_is_retired_stays_retired_in_the_next_run(tmp_path: Path):
    plan, sessions = retired(tmp_path)
    before = {name: session.n for name, session in sessions.items()}
    stopped, state = run(plan, sessions, PATIENCE)
    assert stopped.reason == "all-retired"
    assert {name: session.n for name, session in sessions.items()} == before
    assert kinds(state, "a") == ["retired"]


def test_a_new_seed_brings_a_target_back(tmp_path: Path):
    plan, sessions = retired(tmp_path)
    (plan.targets[0].corpus[0] / "seed").write_text("new")
    turns = len(sessions["a"].turns)
    _, state = run(plan, sessions, PATIENCE, until=lambda _: len(sessions["a"].turns) > turns)
    assert len(sessions["a"].turns) > turns
    assert kinds(state, "a")[:2] == ["retired", "returned"]
    assert kinds(state, "b") == ["retired"]


def test_a_seed_that_comes_while_it_runs_brings_a_target_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("fuzzwise.campaign.manager.LOOK_EVERY", 0.1)
    plan = plan_of(tmp_path, ["clean", "fertile"])
    seed = plan.targets[0].corpus[0] / "seed"

    def is_back(state: CampaignState) -> bool:
        if kinds(state, "clean") == ["retired"] and not seed.exists():
            seed.write_text("new")
        return "returned" in kinds(state, "clean")

    sessions = {"clean": CLEAN(), "fertile": CLEAN(FERTILE)}
    _, state = run(plan, sessions, PATIENCE, until=is_back)
    assert kinds(state, "clean")[:2] == ["retired", "returned"]


def test_a_new_build_brings_a_target_back_and_its_counts_begin_again(tmp_path: Path):
    plan, sessions = retired(tmp_path)
    plan.targets[0].program.write_text("another build")
    first = sessions["a"].n
    sessions["a"].build_anew()
    stopped, state = run(plan, sessions)
    assert stopped.reason == "all-retired"
    assert kinds(state, "a") == ["retired", "returned", "retired"]
    assert state.targets[0].inputs == first + sessions["a"].n  # all that was ever made
    assert state.targets[0].risk is not None
    assert state.targets[0].risk.n == sessions["a"].n  # but only these count for the risk


def test_a_lower_accepted_risk_brings_a_target_back_and_a_higher_one_does_not(tmp_path: Path):
    plan, sessions = retired(tmp_path)
    a, b = plan.targets
    lower = replace(a, accepted_risk=2e-4)
    plan = replace(plan, targets=(lower, replace(b, accepted_risk=0.5)))
    stopped, state = run(plan, sessions)
    assert stopped.reason == "all-retired"
    assert kinds(state, "a") == ["retired", "returned", "retired"]
    assert state.targets[0].risk is not None
    assert state.targets[0].risk.value < 2e-4
    assert kinds(state, "b") == ["retired"]


def test_a_run_goes_on_with_the_budget_that_is_left(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], budget=PATIENCE)
    session = CLEAN(FERTILE)
    _, state = run(plan, {"a": session}, until=lambda _: session.n > 0)
    first = session.n
    while session.n == first:  # where a busy machine has come to no turn
        budget = state.seconds + 0.5
        plan = replace(plan, budget=budget)
        stopped, state = run(plan, {"a": session})
        assert state.seconds >= budget
    assert stopped.reason == "time-budget"
    assert all(decision.at < budget for decision in read_decisions(plan.folder, last=1000))
    before = session.n
    stopped, _ = run(plan, {"a": session})
    assert stopped.reason == "nothing-ran"
    assert "Raise the budget" in stopped.detail
    assert session.n == before


def test_an_interrupted_campaign_keeps_what_it_has(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], epoch=30.0)
    session = CLEAN(FERTILE, patience=2 * PATIENCE)  # its turn ends when it is asked to, or never
    stopped, state = run(plan, {"a": session}, until=lambda _: session.busy > 0)
    assert stopped.reason == "interrupted"
    assert state.targets[0].inputs == session.n > 0
    assert len(session.turns) == 1


def test_it_ends_on_time_even_if_a_session_does_not(tmp_path: Path):
    plan = plan_of(tmp_path, ["deaf", "good"], budget=1.0)
    sessions = {"deaf": CLEAN(patience=400 * PATIENCE, deaf=True), "good": CLEAN(FERTILE)}
    began = time.monotonic()

    def clock() -> float:
        """It stands still until both are at work, however long a busy machine takes for that."""
        at_work = len(sessions["good"].turns) > 1 and sessions["deaf"].turns
        return time.monotonic() if at_work else began

    stopped, state = run(plan, sessions, clock=clock, last_words=0.5)
    assert sessions["deaf"].busy == 1  # it is not waited for
    assert stopped.reason == "time-budget"
    assert by_name(state)["deaf"] == WAITING  # nobody is fuzzing any more


def test_a_low_risk_that_is_not_settled_retires_nothing_until_it_is(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], cores=1)
    session = CLEAN()
    session.unsettled = "half of its seeds wait"
    low = 2 * AcceptedRisk(plan.targets[0].accepted_risk or 1.0).first_look
    _, state = run(plan, {"a": session}, PATIENCE, until=lambda _: session.n > low)
    assert by_name(state) == {"a": WAITING}
    said = [event.detail for event in state.events if event.kind == "warning"]
    assert said == ["half of its seeds wait"]
    assert left.of_target(state.targets[0]) is None
    told: Any = document(state, read_observations(plan.folder))["targets"]
    assert [told[0][key] for key in told[0] if key.endswith(("_left", "_to_stop"))] == [None] * 4
    session.unsettled = ""
    stopped, state = run(plan, {"a": session.after_restart()}, PATIENCE)
    assert (stopped.reason, by_name(state)) == ("all-retired", {"a": RETIRED})


def test_bugs_are_new_once_and_warnings_said_once(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b"])
    sessions = {n: CLEAN(FERTILE, bugs={500: "same", 900: f"own-{n}"}) for n in ("a", "b")}
    sessions["a"].warnings = ("3 inputs were slow",)

    def all_have(state: CampaignState) -> bool:
        return all(target.inputs > 900 for target in state.targets)

    _, state = run(plan, sessions, PATIENCE, until=all_have)
    sessions["a"].warnings = ("5 inputs were slow",)
    epochs = state.epochs
    _, state = run(plan, sessions, PATIENCE, until=lambda state: state.epochs > epochs + 2)
    assert sorted(bug.frames[0] for bug in state.bugs) == ["own-a", "own-b", "same"]
    same = next(bug for bug in state.bugs if bug.frames == ("same",))
    assert sorted(same.targets) == ["a", "b"]
    assert sum(event.kind == "bug" for event in state.events) == 3
    assert 1 <= sum(event.kind == "warning" for event in state.events) <= 2  # once a run


def test_what_a_killed_run_left_in_the_folders_is_taken_up(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], cores=1)
    session = CLEAN(FERTILE, bugs={3500: "late"})
    with SqlStore.open(plan.folder) as store:  # a run that is killed while an epoch is under way
        store.begin_run(run_entry(plan, None))
        store.start_epoch(0.1, "a", Choice("first turn"))
    session.n, session.seconds = 4000, 4000 / SPEED
    _, state = run(plan, {"a": session}, PATIENCE, until=lambda _: session.n > 4000)
    assert state.targets[0].inputs == session.n
    assert [bug.frames for bug in state.bugs] == [("late",)]
    decisions = read_decisions(plan.folder, last=1000)
    assert "recovered" in [d.reason for d in decisions]
    assert sum(d.inputs or 0 for d in decisions) == session.n


def test_looks_of_an_earlier_build_are_not_those_of_what_a_killed_run_left(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], cores=1)
    session = CLEAN(FERTILE)
    run(plan, {"a": session}, PATIENCE, until=lambda _: session.n > 10_000)
    with SqlStore.open(plan.folder) as store:
        assert store.memory()["a"].looked > 0
        store.begin_run(run_entry(plan, None))
        store.start_epoch(0.1, "a", Choice("first turn"))
    session.build_anew()
    session.n, session.seconds, session.problem = 50, 0.001, "a: is gone."
    run(plan, {"a": session}, PATIENCE, until=lambda state: "broken" in kinds(state, "a"))
    with SqlStore.open(plan.folder) as store:
        memory = store.memory()["a"]
        assert (memory.generation, memory.looked) == ("first+", 0)


def test_bugs_of_the_second_half_are_recent():
    session = CLEAN(bugs={100: "early", 600: "late", 990: "later"})
    session.n, session.seconds = 1000, 0.1
    totals = session.totals()
    assert totals is not None
    assert recent_bugs(totals) == 2


def test_after_a_rebuild_what_is_left_counts_the_inputs_of_this_build(tmp_path: Path):
    plan = plan_of(tmp_path, ["a"], cores=1)
    plan = replace(plan, targets=(replace(plan.targets[0], accepted_risk=1e-5),))
    session = CLEAN((3, 50))
    run(plan, {"a": session}, PATIENCE, until=lambda _: session.n > 0)
    session.build_anew()
    _, state = run(plan, {"a": session}, PATIENCE, until=lambda _: session.n > 0)
    (target,) = state.targets
    assert target.inputs > session.n  # those of both builds
    totals = session.totals()
    assert totals is not None
    due = AcceptedRisk(1e-5).earliest_stop(totals.observation)
    assert due is not None
    assert target.seconds_left is None, "of this build there are too few discoveries to tell"
    least = (due - session.n) * session.seconds / session.n
    assert target.seconds_to_decision == pytest.approx(least)


class Forgetful:
    """An executor that loses the first turn of each target, as where a machine is gone."""

    def __init__(self, inner: Threads) -> None:
        self._inner = inner
        self._lost: set[str] = set()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def wait(self, seconds: float) -> list[Result]:
        found = []
        for result in self._inner.wait(seconds):
            if result.turn.target not in self._lost:
                self._lost.add(result.turn.target)
                result = Result(result.turn, lost=True)
            found.append(result)
        return found


def test_a_turn_that_was_lost_says_nothing_about_its_target(tmp_path: Path):
    plan = plan_of(tmp_path, ["a", "b"])
    sessions = {"a": CLEAN(), "b": CLEAN()}
    with SqlStore.open(plan.folder) as store:
        executor = Forgetful(Threads(sessions, plan.cores))
        stopped = Manager(plan, store, executor).run(PATIENCE, lambda: None)  # type: ignore[arg-type]
    assert stopped.reason == "all-retired"
    state = read_state(plan.folder)
    assert by_name(state) == {"a": RETIRED, "b": RETIRED}
    assert "broken" not in [event.kind for event in state.events]
    assert {t.name: t.inputs for t in state.targets} == {n: s.n for n, s in sessions.items()}
    assert all(session.closed for session in sessions.values())
