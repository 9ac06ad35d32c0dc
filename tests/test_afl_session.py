"""A target of AFL++ that is fuzzed a turn at a time."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from afl_target import EXAMPLES, HARNESS, TARGETS, build, fuzzers_of, name_of_process
from fuzzwise.campaign.places import bug_found
from fuzzwise.engines.aflplusplus.session import AflSession
from fuzzwise.engines.aflplusplus.settings import AflSettings
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.observer.seeds import name_of
from fuzzwise.engines.observer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.triage.workers import Workers
from turns import inputs_after, turns_until
from waiting import PATIENCE, wait_until


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with Workers(1) as some:
        yield some
    end_all(tmp_path)


def session_of(
    folder: Path, workers: Workers, *command: object, **more: object
) -> tuple[AflSession, TargetPlan]:
    plan = TargetPlan("t", "afl++", tuple(map(str, command)), **more)  # type: ignore[arg-type]
    return AflSession(plan, folder, 1, workers), plan


def seeds(folder: Path, *contents: bytes) -> Path:
    folder.mkdir()
    for number, content in enumerate(contents):
        (folder / str(number)).write_bytes(content)
    return folder


def afl_fuzz(folder: Path) -> int:
    (pid,) = [pid for pid in fuzzers_of(folder) if name_of_process(pid) == "afl-fuzz"]
    return pid


def found_something(told: Totals) -> bool:
    return told.observation.discoveries is not None and len(told.observation.discoveries) > 0


def test_between_turns_it_waits_and_then_goes_on_where_it_was(tmp_path, markup, workers):
    session, _ = session_of(tmp_path / "t", workers, markup)
    first = turns_until(session, found_something, "a discovery")
    pid = afl_fuzz(tmp_path)
    state = State(tmp_path / "t/state")
    stat = Path(f"/proc/{pid}/stat")
    wait_until(lambda: stat.read_text().split()[2] == "T", "the kernel, which stops it")
    before = int(state.head.executed)
    time.sleep(0.5)
    assert int(state.head.executed) == before
    start = time.monotonic()
    second = session.turn(1.0, 1)
    took = time.monotonic() - start
    assert 0.999 <= second.seconds - first.seconds <= took + 0.001
    second = inputs_after(session, first.observation.n)
    assert afl_fuzz(tmp_path) == pid
    assert second.generation == first.generation
    # The half second in between is not in the times of discoveries, or of the log.
    latest = int(state.discoveries()["milliseconds"][-1]) / 1000
    assert latest <= second.seconds
    assert second.corpus == int(state.head.seeds) > 1
    assert len(list((tmp_path / "t/corpus").iterdir())) == second.corpus
    session.close()
    assert not fuzzers_of(tmp_path)

    again, _ = session_of(tmp_path / "t", workers, markup)
    known = again.totals()
    assert known is not None
    assert known.observation.n == second.observation.n
    assert known.seconds == pytest.approx(second.seconds)
    third = inputs_after(again, second.observation.n)
    assert third.generation == first.generation
    again.close()


def test_two_bugs_and_a_hang_are_three_bugs(tmp_path, parser, workers):
    corpus = seeds(tmp_path / "corpus", b"aB", b"aP", b"a!")
    session, plan = session_of(tmp_path / "t", workers, parser, "@@", corpus=(corpus,))
    totals = turns_until(session, lambda told: len(told.bugs) > 2, "three bugs", 1.0)
    session.close()
    bugs = {bug.frames[0] if bug.frames else bug.kind: bug for bug in totals.bugs}
    assert set(bugs) == {"first_bug", "second_bug", "timeout"}
    assert bugs["timeout"].severity == "resource"
    for name in ("first_bug", "second_bug"):
        path = tmp_path / "t/crashes" / bugs[name].inputs[0]
        letter = path.read_bytes()[1:2]
        assert b"a" <= letter < b"m" if name == "first_bug" else b"m" <= letter <= b"z"
    # An examined file is gone from AFL++'s folder: nobody examines it again.
    assert not list((tmp_path / "t/afl/default/crashes").glob("id:*"))
    told = bug_found(tmp_path, tmp_path / "t", plan, bugs["first_bug"])
    assert told.command.startswith(str(parser))
    assert bugs["first_bug"].inputs[0] in told.command


def test_unsigned_arithmetic_that_wraps_is_no_crash(tmp_path, workers):
    wrapping = build(TARGETS / "wraps.c", HARNESS, "-fsanitize=unsigned-integer-overflow")
    session, _ = session_of(tmp_path / "t", workers, wrapping)
    totals = session.turn(0.5, 1)
    assert totals.observation.n > 0
    assert not totals.crashes
    assert session.reproduce(b"an input that wraps").ending == "none"
    session.close()


def test_crashes_of_a_harness_are_shown_again_by_the_command(tmp_path, workers):
    harness = build(TARGETS / "afl_hostile.c", HARNESS)
    _, plan = session_of(tmp_path / "t", workers, harness)
    session, _ = session_of(tmp_path / "t", workers, harness, corpus=(tmp_path / "corpus",))
    seeds(tmp_path / "corpus", b"ka", b"k")
    totals = turns_until(session, lambda told: bool(told.bugs), "a bug", 1.0)
    session.close()
    bug = totals.bugs[0]
    assert "\x1b" not in (tmp_path / "t/crashes" / bug.id / "report.txt").read_text()
    assert not any("\x1b" in frame for frame in bug.frames)
    told = bug_found(tmp_path, tmp_path / "t", plan, bug)
    assert told.command.split()[0] == str(harness)
    assert " < " not in told.command
    # What it left in sessions of its own is gone with it.
    assert not fuzzers_of(tmp_path)


@pytest.mark.parametrize("contents", [(b"ab", b"hello"), (b"ab",), ()])
def test_a_seed_that_crashes_is_a_bug_and_fuzzing_goes_on(tmp_path, parser, workers, contents):
    corpus = seeds(tmp_path / "corpus", *contents)
    session, _ = session_of(tmp_path / "t", workers, parser, corpus=(corpus,))

    def has_come(told: Totals) -> bool:
        return told.observation.n > 0 and (bool(told.bugs) or not contents)

    totals = turns_until(session, has_come, "inputs, and the bug of the seed")
    session.close()
    if contents:
        assert "first_bug" in [bug.frames[0] for bug in totals.bugs]


@pytest.mark.parametrize("whole", [True, False])
def test_a_killed_afl_fuzz_or_target_is_started_again(tmp_path, markup, workers, whole):
    session, _ = session_of(tmp_path / "t", workers, markup)
    first = inputs_after(session, 0)
    killed = [afl_fuzz(tmp_path)] if whole else set(fuzzers_of(tmp_path)) - {afl_fuzz(tmp_path)}
    assert killed
    for pid in killed:
        with suppress(ProcessLookupError):  # the fork server takes its child along
            os.kill(pid, signal.SIGKILL)
    second = inputs_after(session, first.observation.n)
    assert second.generation == first.generation
    assert len(second.observation.discoveries) >= len(first.observation.discoveries)
    assert len(fuzzers_of(tmp_path)) >= 1
    session.close()


@pytest.mark.parametrize(
    "kept", [b"", b"start_time        : 16", b"start_time        : 1600000000\n"]
)
def test_it_goes_on_behind_statistics_that_a_kill_cut_off(tmp_path, markup, workers, kept):
    session, _ = session_of(tmp_path / "t", workers, markup)
    first = inputs_after(session, 0)
    session.close()
    (tmp_path / "t/afl/default/fuzzer_stats").write_bytes(kept)
    again, _ = session_of(tmp_path / "t", workers, markup)
    second = inputs_after(again, first.observation.n)
    again.close()
    assert second.generation == first.generation
    assert len(second.observation.discoveries) >= len(first.observation.discoveries)


def test_it_can_go_on_twice_within_a_second(tmp_path, markup, workers):
    session, _ = session_of(tmp_path / "t", workers, markup)
    first = inputs_after(session, 0)
    session.close()
    # As after a crash: afl-fuzz puts the folder aside under the present second, and gives up where
    # there is one already. Nobody knows how fast this machine is.
    now = datetime.now()  # local, as afl-fuzz has it
    for seconds in range(300):
        second = f"{now + timedelta(seconds=seconds):%Y-%m-%d-%H:%M:%S}"
        for name in ("crashes", f"crashes.{second}"):
            place = tmp_path / "t/afl/default" / name
            place.mkdir(exist_ok=True)
            (place / "README.txt").touch()
    again, _ = session_of(tmp_path / "t", workers, markup)
    inputs_after(again, first.observation.n)
    again.close()


@pytest.mark.parametrize("paused", [True, False])
def test_a_new_seed_reaches_it_in_the_next_turn(tmp_path, parser, workers, paused):
    corpus = seeds(tmp_path / "corpus", b"hello", b"xx")
    session, _ = session_of(tmp_path / "t", workers, parser, "@@", corpus=(corpus,))
    first = inputs_after(session, 0)
    pid = afl_fuzz(tmp_path)
    second = session.turn(0.3, 1)
    assert afl_fuzz(tmp_path) == pid
    initial = int(State(tmp_path / "t/state").head.initial)
    if not paused:
        session.close()
        session, _ = session_of(tmp_path / "t", workers, parser, "@@", corpus=(corpus,))
    (corpus / "below").mkdir()
    new = corpus / "below/new"
    new.write_bytes(b"open sesame")
    third = inputs_after(session, second.observation.n)
    pid = afl_fuzz(tmp_path)
    fourth = inputs_after(session, third.observation.n)
    assert afl_fuzz(tmp_path) == pid  # it has had the new one
    session.close()
    kept = [path.read_bytes() for path in (tmp_path / "t/corpus").iterdir()]
    assert kept.count(b"open sesame") == 1
    state = State(tmp_path / "t/state")
    assert int(state.head.initial) == initial + 1  # executed, not discovered
    assert len(list((tmp_path / "t/afl/default/queue").glob(f"*,orig:{name_of(new)}"))) == 1
    assert fourth.generation == first.generation


def test_a_new_dictionary_starts_it_again(tmp_path, parser, workers):
    words = tmp_path / "words"
    words.write_text('"one"\n')
    session, _ = session_of(tmp_path / "t", workers, parser, "@@", dictionary=words)
    first = session.turn(0.3, 1)
    pid = afl_fuzz(tmp_path)
    words.write_text('"one"\n"two"\n')
    second = session.turn(0.3, 1)
    assert afl_fuzz(tmp_path) != pid
    assert second.generation == first.generation
    session.close()


def test_an_interrupt_ends_a_turn_at_once(tmp_path, markup, workers):
    session, _ = session_of(tmp_path / "t", workers, markup)
    before = inputs_after(session, 0)
    with ThreadPoolExecutor() as pool:
        turn = pool.submit(session.turn, 2 * PATIENCE, 1)

        def is_under_way() -> bool:
            told = session.totals()
            return told is not None and told.observation.n > before.observation.n

        wait_until(is_under_way, "inputs in the midst of a turn")
        session.interrupt()
        turn.result(PATIENCE)
    session.close()


def test_a_new_build_begins_again_from_the_corpus_so_far(tmp_path, markup, workers):
    program = tmp_path / "program"
    shutil.copy(markup, program)
    session, _ = session_of(tmp_path / "t", workers, program)
    first = inputs_after(session, 0)
    shutil.copy(build(EXAMPLES / "lz.c", HARNESS), tmp_path / "new")
    (tmp_path / "new").replace(program)
    second = session.turn(0.5, 1)
    assert second.generation != first.generation
    assert "built anew" in second.warnings[0]
    assert (tmp_path / "t/old-1/state/head").exists()
    assert (tmp_path / "t/old-1/afl/default/queue").is_dir()
    assert len(list((tmp_path / "t/seeds").iterdir())) == first.corpus
    session.close()


def test_a_target_that_does_not_answer_keeps_its_counts(tmp_path, workers, monkeypatch):
    program = Path(shutil.copy(build(TARGETS / "slow_start.c"), tmp_path / "program"))
    session, _ = session_of(tmp_path / "t", workers, program)
    first = session.turn(0.5, 1)
    session.close()
    assert State(tmp_path / "t/state").map_size < 65536
    monkeypatch.setenv("SLOW_KILLED", "1")
    os.utime(program)  # the same bytes, but it is asked again
    again, _ = session_of(tmp_path / "t", workers, program)
    second = again.turn(0.5, 1)
    again.close()
    assert second.generation == first.generation
    assert second.observation.n > first.observation.n > 0
    assert not any("began again" in warning for warning in second.warnings)


def test_a_slow_start_is_no_hang_and_hides_no_crash(tmp_path, workers, monkeypatch):
    """AFL++ starts its fork server once, an examination the whole target each time."""
    monkeypatch.setenv("SLOW_START", "1500")
    monkeypatch.setattr("fuzzwise.engines.aflplusplus.finds.EXAMINING", 0.1)
    settings = AflSettings(hang=0.5)
    program = build(TARGETS / "slow_start.c")
    session, _ = session_of(tmp_path / "t", workers, program, settings=settings)
    for kind, text in (("crashes", "crash"), ("hangs", "sleep"), ("hangs", "wait not")):
        place = tmp_path / "t/to-examine" / kind
        place.mkdir(parents=True, exist_ok=True)
        (place / f"id:kept,{text}").write_text(f"{text}, please")
    totals = session.turn(0.5, 1)
    deadline = time.monotonic() + 600
    while any((tmp_path / "t/to-examine").glob("*/id:*")) and time.monotonic() < deadline:
        totals = session.turn(0.5, 1)
    assert session.reproduce(b"crash, please").ending == "crash"
    session.close()
    assert {bug.frames[0] if bug.frames else bug.kind for bug in totals.bugs} == {"bug", "timeout"}
    (harmless,) = (tmp_path / "t/not-shown").iterdir()
    assert harmless.read_text() == "wait not, please"


@pytest.mark.parametrize("name", ["head", "features", "seeds"])
def test_damaged_counts_begin_again(tmp_path, markup, workers, name):
    session, _ = session_of(tmp_path / "t", workers, markup)
    first = inputs_after(session, 0)
    session.close()
    with (tmp_path / "t/state" / name).open("r+b") as file:
        file.truncate(0 if name == "head" else 10)
    again, _ = session_of(tmp_path / "t", workers, markup)
    second = inputs_after(again, 0)
    again.close()
    assert second.generation != first.generation
    assert "damaged" in second.warnings[0]


def test_what_afl_fuzz_says_is_passed_on_in_one_clean_line(tmp_path, markup, workers):
    session, _ = session_of(
        tmp_path / "t", workers, markup, settings=AflSettings(options=("-p", "nonsense"))
    )
    with pytest.raises(BadInput, match=r"afl-fuzz cannot fuzz .*markup: Unknown -p power") as told:
        session.turn(0.5, 1)
    assert "\x1b" not in str(told.value)
    assert "\n" not in str(told.value)


def test_more_cores_than_one_are_refused(tmp_path, markup, workers):
    session, _ = session_of(tmp_path / "t", workers, markup)
    with pytest.raises(BadInput, match="jobs = 1"):
        session.turn(1.0, 2)
