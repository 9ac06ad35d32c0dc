"""Black-box targets in a campaign: real programs, real crashes, real kills."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blackbox_session_loop import MUTATION, SEED, plan
from blackbox_target import build, processes_with
from fuzzwise.engines.blackbox import Limits, Mutation, Runner, Target, make_input
from fuzzwise.engines.blackbox import session as sessions
from fuzzwise.engines.blackbox.lanes import lane_seed
from fuzzwise.engines.blackbox.session import BlackBoxSession
from fuzzwise.engines.blackbox.settings import BlackBoxSettings
from fuzzwise.engines.blackbox.tally import MOST_UNTRACED, load
from fuzzwise.engines.contract import Session, TargetPlan, Totals
from fuzzwise.errors import BadInput
from fuzzwise.triage.workers import Workers
from planted import EXAMPLES
from planted import build as build_example
from turns import turns_until
from waiting import PATIENCE, wait_until

RECORDS_SEED = EXAMPLES / "seeds" / "records-full.rb"
LIMITS = Limits(seconds=2.0, memory_mib=64, file_mib=1, processes=16)
"""More than a run takes that ends, also on a busy machine; few of the runs here do not end."""

SHORT = replace(LIMITS, seconds=1.0)
LETTERS = Mutation(ratio=(0.02, 0.2), kinds=("bits",))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as shared:
        yield shared


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_example("records", "symbols", tmp_path_factory.mktemp("programs"))


@pytest.fixture
def seed_file(tmp_path: Path) -> Path:
    path = tmp_path / "seed.txt"
    path.write_bytes(b"pqrstuvw" * 3)  # one flipped bit away from most letters that do harm
    return path


def parser(seed_file: Path, *flags: str, limits: Limits = LIMITS) -> TargetPlan:
    command = (str(build("parser", *flags)), "@@", str(seed_file))
    return TargetPlan(
        "parser", "black-box", command, (seed_file,), settings=BlackBoxSettings(limits, LETTERS)
    )


def discoveries(told: Totals) -> list[int]:
    assert told.observation.discoveries is not None
    return told.observation.discoveries.tolist()


def consistent(told: Totals) -> Totals:
    seen = told.observation
    found = discoveries(told)
    assert seen.species == len(found) <= len(told.bugs)
    assert found == sorted(set(found))
    assert all(1 <= n <= seen.n for n in found)
    assert seen.f is not None
    assert seen.k == seen.f[0]
    assert seen.seconds == told.seconds
    assert (seen.last_discovery_seconds is None) == (not found)
    assert all(bug.count > 0 for bug in told.bugs)
    return told


def until_found(session: BlackBoxSession, bugs: int, jobs: int = 1) -> Totals:
    def has_them(told: Totals) -> bool:
        return len(consistent(told).bugs) >= bugs

    return turns_until(session, has_them, f"{bugs} bugs", jobs=jobs)


def load_tally(session: BlackBoxSession) -> sessions.Tally:
    tally = load(session._folder / sessions.PROGRESS)
    assert tally is not None
    return tally


def test_planted_bugs_are_found_and_counted(tmp_path, records, workers):
    token = str(tmp_path)
    session = BlackBoxSession(plan(records, RECORDS_SEED, token), tmp_path / "t", SEED, workers)
    as_protocol: Session = session
    assert as_protocol.totals() is None
    assert not (tmp_path / "t").exists()
    until_found(session, 6)
    while load_tally(session).unchecked:
        session.turn(0.1, 1)
    told = consistent(session.turn(0.1, 1))
    shown = {next(f for f in bug.frames if f != "copy_bytes") for bug in told.bugs}
    assert len(shown) == len(told.bugs)  # one bug for each function
    assert shown <= {
        *("tidy_name", "add_note", "set_pixel", "lookup", "follow", "average", "check_format"),
        *("show", "forget", "read_comment", "read_street"),
    }
    assert told.corpus == 1
    assert told.crashes == sum(bug.count for bug in told.bugs)
    target = Target((str(records), "@@"), RECORDS_SEED.read_bytes(), suffix=".rb")
    for bug in told.bugs:
        assert not bug.flaky
        sizes = [(tmp_path / "t" / "crashes" / name).stat().st_size for name in bug.inputs]
        assert 1 <= len(sizes) <= 5 * 20
        data = make_input(target.seed, SEED, bug.found_at, MUTATION)
        assert len(data) > 0
    assert same(session.totals(), told)
    assert processes_with(token) == []


def same(one: Totals | None, other: Totals) -> bool:
    assert one is not None
    return (one.generation, discoveries(one), one.bugs, one.crashes, one.seconds) == (
        *(other.generation, discoveries(other), other.bugs, other.crashes, other.seconds),
    )


def reference(program: Path, token: str, runs: int) -> list[tuple[int, int]]:
    """Run and trace of each crash, by one runner that is left alone."""
    target = Target((str(program), "@@", token), RECORDS_SEED.read_bytes(), suffix=".rb")
    with Runner(target, SEED, MUTATION, Limits()) as runner:
        return [(e.run, e.trace) for e in runner.run(1, runs) if e.kind == "crash"]


def test_killed_at_any_moment_nothing_is_lost_or_counted_twice(tmp_path, records, workers):
    token, folder = str(tmp_path), tmp_path / "target"
    session = BlackBoxSession(plan(records, RECORDS_SEED, token), folder, SEED, workers)
    loop = [sys.executable, str(Path(__file__).parent / "blackbox_session_loop.py")]
    words = [str(records), str(RECORDS_SEED), token, str(folder)]
    rng = random.Random(11)
    bugs: set[str] = set()
    runs, generations, kills = 0, set(), 0
    while kills < 10 or len(bugs) < 2:
        # The variables that this process itself knows, and none that a library has set behind its
        # back: where an endless recursion ends depends on how much room they take.
        process = subprocess.Popen(
            [*loop, *words], stdout=subprocess.PIPE, text=True, env={**os.environ}
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # Every other one is killed in its first turn, which takes as long as it takes.
        said = process.stdout.readline() if kills % 2 else ""
        time.sleep(rng.uniform(0, 0.6))
        process.kill()
        process.wait()
        kills += 1
        for line in (said + process.stdout.read()).splitlines(keepends=True):
            if line.endswith("\n"):
                generation, runs, told_bugs = json.loads(line)
                bugs.update(told_bugs)
                generations.add(generation)
        process.stdout.close()
        if (told := session.totals()) is not None:
            consistent(told)
            assert bugs <= {bug.id for bug in told.bugs}
            assert told.observation.n >= runs
            bugs, runs = {bug.id for bug in told.bugs}, told.observation.n
            generations.add(told.generation)
    wait_until(lambda: not processes_with(token), "the end of what was killed")
    assert runs > 0
    assert len(bugs) > 1
    assert len(generations) == 1
    told = session.turn(0.3, 1)
    assert told.generation in generations
    tally = load_tally(session)
    crashes = reference(records, token, told.observation.n)
    assert told.crashes == len(crashes)
    assert {int(name, 16): trace.count for name, trace in tally.traces.items()} == {
        trace: sum(other == trace for _, other in crashes) for _, trace in crashes
    }
    first = {trace: run for run, trace in reversed(crashes)}
    bugs_first: dict[str, int] = {}
    for name, known in tally.traces.items():
        if known.bug:
            run = first[int(name, 16)]
            bugs_first[known.bug] = min(run, bugs_first.get(known.bug, run))
    assert discoveries(told) == sorted(bugs_first.values())


def test_a_run_that_never_ends_can_be_interrupted(tmp_path, seed_file, workers):
    token = str(seed_file)
    seed_file.write_bytes(b"h" * 9)
    limits = replace(LIMITS, seconds=600)
    session = BlackBoxSession(parser(seed_file, limits=limits), tmp_path / "t", 1, workers)
    found: list[Totals] = []
    thread = threading.Thread(target=lambda: found.append(session.turn(600, 2)))
    thread.start()
    wait_until(lambda: bool(processes_with(token)), "a run")
    time.sleep(1)
    session.interrupt()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    (told,) = found
    assert consistent(told).crashes == 0
    assert processes_with(token) == []
    session.interrupt()  # comes before the turn that it is for
    assert session.turn(600, 1).observation.n == told.observation.n


def test_crashes_that_an_interrupt_left_are_examined_in_the_next_turn(tmp_path, records, workers):
    session = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    session._examinations.begin = lambda seconds: None  # type: ignore[method-assign] # no time at all
    told = turns_until(session, lambda told: consistent(told).crashes > 0, "a crash")
    assert told.bugs == ()
    waiting = {n: t.first.n for n, t in load_tally(session).traces.items()}
    again = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    until_examined(again)
    known = load_tally(again).traces
    bugs = {known[name].bug for name in waiting}
    assert None not in bugs
    assert {min(waiting.values())} <= set(discoveries(again.totals()))  # type: ignore[arg-type]


def until_examined(session: BlackBoxSession) -> None:
    def has_all(_: Totals) -> bool:
        return all(trace.bug is not None for trace in load_tally(session).traces.values())

    turns_until(session, has_all, "the verdicts on all crashes", 0.1)


def test_two_lanes_make_different_inputs(tmp_path, records, workers):
    session = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    told = until_found(session, 3, jobs=2)
    one, two = load_tally(session).lanes
    assert min(one, two) > 0
    assert told.observation.n == one + two
    assert lane_seed(SEED, 0) == SEED
    assert len({lane_seed(s, lane) for s in range(9) for lane in range(9)}) == 9 * 8 + 9
    later = session.turn(0.2, 1)
    assert load_tally(session).lanes[1] == two
    assert later.observation.n > told.observation.n


def test_a_new_build_begins_new_counts_and_keeps_the_bugs(tmp_path, records, workers):
    program = tmp_path / "program"
    shutil.copy(records, program)
    session = BlackBoxSession(plan(program, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    first = until_found(session, 3)
    new = tmp_path / "new"
    new.write_bytes(records.read_bytes() + b"another build")
    new.chmod(0o755)
    new.replace(program)
    session.interrupt()  # so that the turn makes no input
    second = session.turn(0.3, 1)
    assert second.generation != first.generation
    assert second.observation.n == 0 < first.observation.n
    assert any("The program changed" in warning for warning in second.warnings)
    third = session.turn(0.3, 1)
    assert third.generation == second.generation
    assert third.observation.n > 0
    before = {bug.id: bug.count for bug in first.bugs}
    for later in (second, third):
        assert before.keys() <= {bug.id for bug in later.bugs}
        assert all(bug.count >= before.get(bug.id, 0) for bug in later.bugs)
    changed = tmp_path / "seed.rb"
    changed.write_bytes(RECORDS_SEED.read_bytes() + b"?")
    other = replace(plan(program, RECORDS_SEED, "x"), corpus=(changed,))
    told = BlackBoxSession(other, tmp_path / "t", SEED, workers).turn(0.1, 1)
    assert told.generation != third.generation
    assert any("The seed file changed" in warning for warning in told.warnings)


def test_a_truncated_tally_begins_new_counts_and_keeps_the_bugs(tmp_path, records, workers):
    session = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    first = until_found(session, 3)
    progress = tmp_path / "t" / sessions.PROGRESS
    os.truncate(progress, progress.stat().st_size // 2)
    assert session.totals() is None
    second = session.turn(0.2, 1)
    assert second.generation != first.generation
    assert {bug.id for bug in first.bugs} <= {bug.id for bug in second.bugs}
    assert any("damaged" in warning for warning in second.warnings)
    assert sum(shown.count for shown in load_tally(session).bugs.values()) <= second.crashes


def test_a_bug_whose_files_were_removed_is_looked_for_again(tmp_path, records, workers):
    session = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, workers)
    first = until_found(session, 1)
    shutil.rmtree(tmp_path / "t" / "crashes" / first.bugs[0].id)
    stray = tmp_path / "t" / "crashes" / "left-by-a-killed-process"
    stray.write_bytes(b"x")
    half = tmp_path / "t" / f"{sessions.PROGRESS}.123.part"
    half.write_bytes(b"{")
    second = session.turn(0.3, 1)
    assert second.generation != first.generation
    assert any("damaged or removed" in warning for warning in second.warnings)

    def is_back(told: Totals) -> bool:
        return first.bugs[0].id in {bug.id for bug in told.bugs}

    turns_until(session, is_back, "the bug whose files were removed")
    assert not stray.exists()
    assert not half.exists()


def test_hangs_are_counted_and_are_no_bugs(tmp_path, seed_file, workers, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_HANGS", 2)
    seed_file.write_bytes(b"hhhs" * 5)
    session = BlackBoxSession(parser(seed_file, limits=SHORT), tmp_path / "t", 3, workers)

    def has_both(told: Totals) -> bool:
        return load_tally(session).hangs > sessions.MOST_HANGS and bool(consistent(told).bugs)

    told = turns_until(session, has_both, "hangs and bugs", 1.0)
    tally = load_tally(session)
    assert any(f"{tally.hangs} runs were longer than 1 s" in w for w in told.warnings)
    kept = list((tmp_path / "t" / "hangs").iterdir())
    assert len(kept) == sessions.MOST_HANGS
    assert all(b"H" in path.read_bytes() for path in kept)
    assert {frame for bug in told.bugs for frame in bug.frames} <= {
        *("bad_pointer", "other_pointer", "divide", "recurse", "main"),
    }
    reports = [path.read_text() for path in (tmp_path / "t").glob("crashes/*/report.txt")]
    assert reports
    assert not any("\x1b" in report for report in reports)
    assert processes_with(str(seed_file)) == []


def test_runs_that_take_too_much_memory_are_counted_and_are_no_bugs(tmp_path, seed_file, workers):
    seed_file.write_bytes(b"m" * 9)
    program = build("parser", "-fsanitize=address", compiler="clang")
    limits = Limits(seconds=60, memory_mib=200)
    what = replace(parser(seed_file, limits=limits), command=(str(program), "@@", str(seed_file)))
    session = BlackBoxSession(what, tmp_path / "t", 1, workers)

    def has_come(told: Totals) -> bool:
        return consistent(told) is told and load_tally(session).out_of_memory > 0

    told = turns_until(session, has_come, "a run that takes too much memory")
    assert any("more than 200 MiB" in warning for warning in told.warnings)
    assert any(b"M" in path.read_bytes() for path in (tmp_path / "t" / "hangs").iterdir())
    assert processes_with(str(seed_file)) == []


@pytest.mark.parametrize("deed", ["daemons", "bomb", "escape"])
def test_what_a_program_starts_does_not_survive_a_turn(tmp_path, seed_file, workers, deed):
    command = (str(build("hostile")), deed, "@@", str(tmp_path))
    what = TargetPlan(
        "hostile", "black-box", command, (seed_file,), settings=BlackBoxSettings(LIMITS)
    )
    session = BlackBoxSession(what, tmp_path / "t", 1, workers)
    assert consistent(session.turn(0.3, 1)).bugs == ()
    assert processes_with(str(tmp_path)) == []


def test_without_traces_some_crashes_are_examined_and_the_rest_is_told(
    tmp_path, seed_file, workers
):
    session = BlackBoxSession(parser(seed_file, "-static"), tmp_path / "t", 1, workers)
    turns = []

    def has_come(told: Totals) -> bool:
        turns.append(consistent(told))
        return bool(told.bugs) and load_tally(session).not_examined > 0

    told = turns_until(session, has_come, "a bug, and crashes that are not examined", 1.5)
    tally = load_tally(session)
    assert tally.traces == {}
    examined = tally.silent + sum(bug.count for bug in told.bugs)
    assert tally.crashes == examined + tally.not_examined + len(tally.waiting)
    assert 0 < examined <= len(turns) * MOST_UNTRACED
    assert any(f"{tally.not_examined:,} crashes were not examined" in w for w in told.warnings)


def test_crashes_that_cannot_be_examined_are_told_and_wait(tmp_path, seed_file, workers):
    script = tmp_path / "script"
    script.write_text(
        '#!/bin/sh\nread line < "$1"\ncase "$line" in pqrst*) ;; *) kill -SEGV $$ ;; esac\n'
    )
    script.chmod(0o755)
    what = replace(
        parser(seed_file), command=(str(script), "@@"), settings=BlackBoxSettings(Limits(), LETTERS)
    )
    session = BlackBoxSession(what, tmp_path / "t", 1, workers)
    told = turns_until(session, lambda told: consistent(told).crashes > 0, "a crash")
    tally = load_tally(session)
    assert any("cannot be examined" in warning and "script" in warning for warning in told.warnings)
    assert tally.waiting or any(trace.waiting for trace in tally.traces.values())


def test_workers_that_are_killed_cost_no_bug(tmp_path, records):
    with Workers(1) as own:
        session = BlackBoxSession(plan(records, RECORDS_SEED, "x"), tmp_path / "t", SEED, own)
        killed = []

        def were_killed(told: Totals) -> bool:
            consistent(told)
            for pid in own.pids:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            return len(killed) > 2

        turns_until(session, were_killed, "workers", 0.1)
        until_found(session, 3)
        until_examined(session)
        told = consistent(session.turn(0.1, 1))
    assert not any("did not show again" in warning for warning in told.warnings)


def test_what_cannot_be_fuzzed_is_told(tmp_path, seed_file, workers):
    def problem(**changes: object) -> str:
        what = replace(parser(seed_file), **changes)  # type: ignore[arg-type]
        with pytest.raises(BadInput) as caught:
            BlackBoxSession(what, tmp_path / "t", 1, workers).turn(0.1, 1)
        return str(caught.value)

    crashing = tmp_path / "crashing"
    crashing.write_bytes(b"A")
    hanging = tmp_path / "hanging"
    hanging.write_bytes(b"H")
    assert "crashes on its unchanged seed" in problem(corpus=(crashing,))
    assert "runs longer than" in problem(
        corpus=(hanging,), settings=BlackBoxSettings(SHORT, LETTERS)
    )
    assert "never reads its input" in problem(command=("/bin/true", "@@"))
    assert "does not exist" in problem(command=("/missing/program", "@@"))
    assert "cannot be read" in problem(corpus=(tmp_path / "missing",))
    assert "one seed file" in problem(corpus=())
    assert "raise max_length" in problem(
        settings=BlackBoxSettings(LIMITS, replace(LETTERS, max_length=3))
    )
    (tmp_path / "t").rename(tmp_path / "u")
    (tmp_path / "t").touch()
    assert "free disk space" in problem()


def test_a_program_that_vanishes_is_told_and_may_come_back(tmp_path, seed_file, workers):
    program = tmp_path / "program"
    what = parser(seed_file)
    shutil.copy(what.program, program)
    what = replace(what, command=(str(program), *what.command[1:]))
    session = BlackBoxSession(what, tmp_path / "t", 1, workers)
    before = session.turn(0.2, 1)
    program.rename(tmp_path / "away")
    with pytest.raises(BadInput, match="does not exist"):
        session.turn(0.2, 1)
    assert same(session.totals(), before)
    (tmp_path / "away").rename(program)
    after = session.turn(0.2, 1)
    assert after.generation == before.generation
    assert after.observation.n > before.observation.n
