"""One target with builds for several engines: its file, its turns, its sums and its judgement."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzwise.campaign.builds import NOT_SHARED, Builds
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.finished import judged
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_session
from fuzzwise.campaign.start import Running
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.contract import Session, TargetPlan, Totals
from fuzzwise.errors import BadInput
from fuzzwise.judge import Terms, judge_history, judge_together
from fuzzwise.model import Observation
from fuzzwise.report.campaign.as_json import document
from fuzzwise.report.campaign.status import status
from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.registry import policies
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.store.states import RETIRED
from fuzzwise.testing import check_session
from fuzzwise.triage.workers import Workers
from paper_session import KeptSession
from reading import read_state
from simulated_session import SPEED, SimulatedSession, plan_of

TERMS = Terms(1e-3)


def target_of(folder: Path, count: int = 2) -> TargetPlan:
    """A target with builds whose programs are small files."""
    plan = plan_of(folder, [f"t-{number}" for number in range(count)])
    builds = tuple(plan.targets)
    return replace(builds[0], name="t", engine="libfuzzer + libfuzzer", builds=builds)


def builds_of(
    target: TargetPlan, folder: Path, *sessions: SimulatedSession, policy: str = "risk-rate"
) -> Builds:
    """A session of the target; its builds have these sessions, in order."""
    by_name = {build.name: one for build, one in zip(target.builds, sessions, strict=True)}
    known = policies()[policy]
    return Builds(target, folder, known, 1, lambda plan, _: by_name[plan.name].after_restart())


def finding(*at: int, problem: str = "") -> SimulatedSession:
    return SimulatedSession(at, patience=0.0, problem=problem)


def keep(folder: Path, *contents: bytes) -> set[str]:
    """Seeds as a session keeps them; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {hashlib.sha1(content).hexdigest(): content for content in contents}
    for name, content in names.items():
        (folder / name).write_bytes(content)
    return set(names)


# ── the campaign file ─────────────────────────────────────────────────────────────────────────


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / name).write_text("#!/bin/sh\n# FUZZWISE_STATE\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "a.c").touch()
    (tmp_path / "seeds").mkdir()
    return tmp_path


def read(home: Path, text: str) -> CampaignPlan:
    (home / "c.toml").write_text(text)
    return read_plan(home / "c.toml")


def test_builds_of_a_target_have_its_keys_and_their_own(home: Path) -> None:
    plan = read(
        home,
        """[campaign]
accepted_risk = 1e-4
[[target]]
name = "png"
corpus = "seeds"
share = "high"
max_length = 64
[[target.build]]
program = "one"
[[target.build]]
engine = "afl++"
sources = "a.c"
max_length = 32
[[target.build]]
program = "two"
[[target]]
program = "one"
""",
    )
    png, other = plan.targets
    assert (png.name, png.engine) == ("png", "libfuzzer + afl++ + libfuzzer")
    assert (png.share, png.accepted_risk, png.build) == ("high", 1e-4, None)
    names = [build.name for build in png.builds]
    assert names == ["png-libfuzzer", "png-afl++", "png-libfuzzer-2"]
    assert [build.corpus for build in png.builds] == [(home / "seeds",)] * 3
    assert [build.settings.max_length for build in png.builds] == [64, 32, 64]
    assert png.builds[1].build is not None
    assert png.builds[1].build.program == plan.folder / "programs/png-afl++"
    assert png.parts == png.builds
    assert other.builds == ()
    assert other.parts == (other,)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ('name = "t"\nbuild = 3', r"target\[1\].build is 3; expected tables \[\[target.build\]\]"),
        ('name = "t"\n[[target.build]]\nprogram = "one"', "build is one alone"),
        ('[[target.build]]\nprogram = "one"\n[[target.build]]\nprogram = "two"', "name is missing"),
        (
            'name = "t"\n[[target.build]]\nprogram = "one"\n[[target.build]]\nprogram = "t*"',
            r"target\[1\].build\[2\].program is a pattern",
        ),
        (
            'name = "t"\ncorpus = "seeds"\n[[target.build]]\nprogram = "one"\n'
            '[[target.build]]\ncommand = "one @@"\nengine = "black-box"',
            "engine is 'black-box'; builds that share are of libfuzzer, stock, python, afl",
        ),
        (
            'name = "t"\n[[target.build]]\nprogram = "one"\n[[target.build]]\nprogramm = "two"',
            r"target\[1\].build\[2\].programm is not a known key; did you mean 'program'",
        ),
    ],
)
def test_mistakes_in_builds_are_told(home: Path, target: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read(home, f"[[target]]\n{target}\n")


def test_builds_do_not_go_to_a_fleet(home: Path) -> None:
    plan = read(
        home,
        '[fleet]\naddress = "localhost:1"\n[[target]]\nname = "t"\n'
        '[[target.build]]\nprogram = "one"\n[[target.build]]\nprogram = "two"\n',
    )
    with pytest.raises(BadInput, match=r"t has several builds: .* run on one machine"):
        Running(plan).run(1.0, lambda _: None, lambda *_: None)  # type: ignore[arg-type,return-value]


# ── turns ─────────────────────────────────────────────────────────────────────────────────────


def test_each_build_has_time_by_what_it_adds(tmp_path: Path) -> None:
    useful, idle = finding(*range(500, 10_000_000, 500)), finding()
    session = builds_of(target_of(tmp_path), tmp_path / "t", idle, useful)
    for _ in range(60):
        session.turn(1.0, 1)
    assert useful.seconds > 3 * idle.seconds
    assert idle.seconds >= 4.0  # and none is given up


def test_equal_turns_are_those_of_round_robin(tmp_path: Path) -> None:
    useful, idle = finding(*range(500, 1_000_000, 500)), finding()
    target = target_of(tmp_path)
    session = builds_of(target, tmp_path / "t", idle, useful, policy="round-robin")
    for _ in range(10):
        session.turn(1.0, 1)
    assert useful.seconds == idle.seconds == 5.0


def test_after_a_restart_the_time_goes_on_to_whom_it_went(tmp_path: Path) -> None:
    useful, idle = finding(*range(500, 20_000_000, 500)), finding()
    target = target_of(tmp_path)
    for _ in range(60):
        builds_of(target, tmp_path / "t", idle, useful).turn(1.0, 1)
    assert useful.seconds > 3 * idle.seconds
    assert idle.seconds >= 4.0


def test_seeds_of_one_are_given_to_the_others(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    first, second = (tmp_path / "t" / build.name / "corpus" for build in target.builds)
    shared = tmp_path / "t/shared"
    session = builds_of(target, tmp_path / "t", finding(), finding(), policy="round-robin")
    session.turn(1.0, 1)
    found = keep(first, b"a", b"b")
    keep(tmp_path / "t/corpus", b"from when it had one build")
    (first / "not a seed").touch()
    (first / ("0" * 40)).symlink_to("/etc/hostname")
    keep(second, b"b")
    told = session.totals()
    assert told is not None
    assert [build.imported for build in told.builds] == [0, 0]
    assert told.builds[1].totals.unsettled == NOT_SHARED
    told = session.turn(1.0, 1)
    given = {path.name for path in (shared / target.builds[1].name).iterdir()}
    assert len(given) == 2
    assert given & found == found - {path.name for path in second.iterdir()}
    assert [build.imported for build in told.builds] == [0, 2]
    assert told.builds[1].totals.unsettled == ""
    assert told.builds[0].totals.unsettled == NOT_SHARED  # the old one, until its next turn
    assert session.turn(1.0, 1).builds[0].totals.unsettled == ""


def test_a_build_that_was_given_seeds_is_opened_with_them(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    opened: list[tuple[str, tuple[Path, ...]]] = []
    sessions = {build.name: finding() for build in target.builds}

    def open_build(plan: TargetPlan, _: Path) -> Session:
        opened.append((plan.name, plan.corpus))
        return sessions[plan.name].after_restart()

    home = tmp_path / "t"
    session = Builds(target, home, policies()["round-robin"], 1, open_build)
    session.turn(1.0, 1)
    keep(home / "t-0/corpus", b"a")
    session.turn(1.0, 1)
    theirs = [(build.name, build.corpus) for build in target.builds]
    given = ("t-1", (*target.builds[1].corpus, home / "shared/t-1"))
    assert opened == [*theirs, given]
    assert sessions["t-1"].closed
    Builds(target, home, policies()["round-robin"], 1, open_build)
    assert opened[3:] == [theirs[0], given]


def test_a_build_that_cannot_be_fuzzed_leaves_the_others_at_work(tmp_path: Path) -> None:
    sick, well = finding(problem="no such library."), finding()
    target = target_of(tmp_path)
    session = builds_of(target, tmp_path / "t", sick, well)
    told = [session.turn(1.0, 1) for _ in range(6)][-1]
    assert well.seconds == 5.0
    assert told.builds[0].totals.unsettled == "no such library."
    assert told.warnings == ("libfuzzer: cannot be fuzzed: no such library.",)
    assert not judged(told, Terms(0.5), 0).reached

    sick.problem = ""
    target.builds[0].program.write_text("mended")
    told = session.turn(1.0, 1)
    assert sick.seconds == 1.0
    assert told.warnings == ()


def test_where_no_build_can_be_fuzzed_the_target_cannot(tmp_path: Path) -> None:
    both = [finding(problem="no such library."), finding(problem="no such file.")]
    session = builds_of(target_of(tmp_path), tmp_path / "t", *both)
    session.turn(1.0, 1)
    with pytest.raises(BadInput, match=r"^libfuzzer: no such file\.$"):
        session.turn(1.0, 1)
    both[0].problem = ""  # the next turns try both again
    assert any(session.turn(1.0, 1).observation.n for _ in range(2))


def test_it_is_a_session_like_any_other(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    policy = policies()["risk-rate"]

    def opened(folder: Path) -> Session:
        return Builds(target, folder, policy, 1, lambda _, home: KeptSession(home))

    check_session(opened, tmp_path / "checked", crashing_input=b"bad", seconds=0.06)


# ── sums ──────────────────────────────────────────────────────────────────────────────────────


def test_totals_are_sums_and_bugs_are_told_once(tmp_path: Path) -> None:
    first = SimulatedSession((10, 20), {5: "one", 6: "two"}, patience=0.0)
    second = SimulatedSession((30,), {7: "two"}, patience=0.0)
    target = target_of(tmp_path)
    session = builds_of(target, tmp_path / "t", first, second, policy="round-robin")
    assert session.totals() is None
    session.turn(1.0, 1)
    told = session.turn(1.0, 1)
    assert told.observation.n == first.n + second.n
    assert told.observation.discoveries is not None
    assert len(told.observation.discoveries) == 3
    assert told.seconds == 2.0
    assert told.observation.species == 12  # as the build counts them that has most
    assert [(bug.frames[0], bug.count) for bug in told.bugs] == [("one", 1), ("two", 2)]
    assert told.crashes == 3
    again = builds_of(target, tmp_path / "t", first, second).totals()
    assert again is not None
    assert (again.generation, again.observation.n) == (told.generation, told.observation.n)


def test_a_build_that_begins_again_counts_no_other_twice(tmp_path: Path) -> None:
    first, second = finding(10, 20), finding(30)
    target = target_of(tmp_path)
    session = builds_of(target, tmp_path / "t", first, second, policy="round-robin")
    generations = {session.turn(1.0, 1).generation for _ in range(4)}
    assert len(generations) == 1
    first.build_anew()
    told = session.turn(1.0, 1)
    assert told.generation not in generations
    assert told.observation.n == first.n
    assert told.observation.discoveries is not None
    assert len(told.observation.discoveries) == 2
    assert told.seconds == 1.0
    after = session.turn(1.0, 1)
    assert after.generation == told.generation
    assert after.observation.n == 2 * first.n
    kept = builds_of(target, tmp_path / "t", first, second).totals()
    assert kept is not None
    assert (kept.generation, kept.seconds) == (told.generation, 2.0)


def test_a_bug_that_stays_while_counts_begin_again_has_not_failed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[EpochResult] = []
    monkeypatch.setattr(Scheduler, "learn", lambda _, __, epoch: learned.append(epoch))
    first = SimulatedSession((10,), {5: "one"}, patience=0.0)
    target = target_of(tmp_path, 1)
    session = builds_of(target, tmp_path / "t", first)
    session.turn(1.0, 1)
    first.build_anew()
    session.turn(1.0, 1)
    assert [(epoch.runs, epoch.crashes) for epoch in learned] == [(SPEED, 1), (SPEED, 0)]


# ── the judgement ─────────────────────────────────────────────────────────────────────────────


def seen(n: int, *discoveries: int) -> Observation:
    return Observation(n, seconds=n / 1000, discoveries=np.array(discoveries, np.int64))


def test_the_risk_of_a_target_is_the_highest_of_its_builds() -> None:
    low = judge_history(seen(100_000, 5, 10, 20), TERMS)
    high = judge_history(seen(1_000, 300, 600, 900), TERMS)
    for builds in ([low, high], [high, low]):
        both = judge_together(builds, [100.0, 1.0])
        assert both.risk == high.risk
        assert both.builds == tuple(builds)
        assert not both.reached
    unknown = judge_history(seen(0), TERMS)
    assert judge_together([low, unknown], [100.0, 0.0]).risk is None
    assert not judge_together([low, unknown], [100.0, 0.0]).reached


def test_it_may_stop_where_each_of_its_builds_may() -> None:
    low = judge_history(seen(100_000, 5, 10, 20), TERMS)
    lower = judge_history(seen(200_000, 5, 10, 20), TERMS)
    assert low.reached
    both = judge_together([lower, low], [1.0, 1.0])
    assert both.reached
    assert both.looked
    assert both.decision is not None
    assert both.decision.n == lower.decision.n + low.decision.n  # type: ignore[union-attr]
    assert both.decision.estimate == low.decision.estimate  # type: ignore[union-attr]
    assert both.decision.detail.startswith("Of each of its 2 builds: The probability")
    assert both.seconds_to_decision == 0
    waiting = judge_history(seen(200_000, 5, 10, 20), TERMS, unsettled="not yet")
    held = judge_together([waiting, low], [1.0, 1.0])
    assert not held.reached
    assert held.held_back == "not yet"
    assert not held.looked


def test_a_campaign_retires_it_when_each_build_is_done_and_shows_one_target(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    sooner, later = finding(10, 20), finding(*range(100, 400_000, 100))
    target = replace(target, accepted_risk=1e-4)
    plan = CampaignPlan("c", tmp_path / "out", (target,), 600.0, 1, "risk-rate", 1.0)
    session = builds_of(target, plan.folder / "targets/t", sooner, later)
    with SqlStore.open(plan.folder) as store:
        stopped = Manager(plan, store, Threads({"t": session}, 1)).run(None, lambda: None)
    assert stopped.reason == "all-retired"
    (told,) = read_state(plan.folder).targets
    assert told.state == RETIRED
    assert later.n > 400_000
    assert told.inputs == sooner.n + later.n
    assert told.engine == "libfuzzer + libfuzzer"
    assert told.risk is not None
    assert told.risk.value == max(build.risk.value for build in told.builds if build.risk)
    assert [build.inputs for build in told.builds] == [sooner.n, later.n]
    assert [build.discoveries for build in told.builds] == [2, 3999]

    state = read_state(plan.folder)
    (row,) = document(state, {})["targets"]  # type: ignore[misc]
    assert [build["discoveries"] for build in row["builds"]] == [2, 3999]
    assert json.dumps(row)
    lines = [line.plain for line in status(state, None)]
    assert "Builds of one target" in lines
    assert sum(line.startswith("t, libfuzzer: ") for line in lines) == 2


def test_a_session_of_a_campaign_is_one_of_builds(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    plan = CampaignPlan("c", tmp_path / "out", (target,), None, 1, "risk-rate", 1.0)
    with Workers(1) as workers:
        session = open_session(plan, target, workers)
        assert isinstance(session, Builds)
        assert session.totals() is None
        assert not Totals.nothing().builds
