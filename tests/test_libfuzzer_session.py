"""A libFuzzer target that is fuzzed a turn at a time."""

from __future__ import annotations

import hashlib
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import stock_target
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.libfuzzer.fuzzing import Fuzzing
from fuzzwise.engines.libfuzzer.lives import Lives
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.observed import CorpusFiles
from fuzzwise.engines.observer.state import State
from observed_target import EXAMPLES, TARGETS, build
from test_stock_counts import session_of as stock_session
from turns import inputs_after, turns_until
from waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("diary"), TARGETS / "diary.c")


def session_of(program: Path, folder: Path, **more: object) -> LibFuzzerSession:
    plan = TargetPlan("t", "libfuzzer", (str(program),), **more)  # type: ignore[arg-type]
    return LibFuzzerSession(plan, folder, 1)


def test_a_turn_makes_other_inputs_than_the_one_before(tmp_path, diary, monkeypatch):
    # Inputs that were made before and count as new would make the risk look lower than it is.
    said = []
    session = session_of(diary, tmp_path / "t")
    for turn in range(3):
        monkeypatch.setenv("DIARY", str(tmp_path / f"diary-{turn}"))
        mine = tmp_path / f"diary-{turn}"
        turns_until(session, lambda _, diary=mine: diary.stat().st_size > 8 * 105, "100 inputs")
        said.append(np.fromfile(mine, np.uint64)[5:500])
    for one, other in ((0, 1), (0, 2), (1, 2)):
        length = min(len(said[one]), len(said[other]))
        assert length > 100
        assert (said[one][:length] == said[other][:length]).mean() < 0.5


@pytest.mark.parametrize("engine", ["libfuzzer", "stock"])
def test_what_we_take_of_memory_ourselves_is_no_bug_of_a_target(tmp_path, engine):
    """libFuzzer looks once a second, at a peak that begins with ours."""
    source = EXAMPLES / "ini.c"
    if engine == "stock":
        program = stock_target.build(tmp_path, source, "-fsanitize=fuzzer")
        session = stock_session(program, tmp_path / "t", memory_mib=16)
    else:
        settings = LibFuzzerSettings(memory_mib=16)
        session = session_of(build(tmp_path, source), tmp_path / "t", settings=settings)
    told = turns_until(session, lambda told: told.seconds > 5, "five seconds", 2.5)
    assert told.observation.n > 0
    assert told.bugs == ()


@pytest.mark.parametrize("flags", [(), ("-DLATE",), ("-fsanitize=address",)])
def test_bugs_of_a_target_that_silences_its_standard_error_are_told_apart(tmp_path, flags):
    session = session_of(build(tmp_path, TARGETS / "silent.c", *flags), tmp_path / "t")
    told = turns_until(session, lambda told: len(told.bugs) >= 3, "three bugs")
    assert {bug.frames[0] for bug in told.bugs} == {"writes_to_nowhere", "gives_up", "traps"}


@pytest.mark.parametrize("engine", ["libfuzzer", "stock"])
def test_a_target_that_prints_with_every_input_is_told(tmp_path, engine):
    if engine == "stock":
        program = stock_target.build(tmp_path, TARGETS / "loud.c", "-fsanitize=fuzzer")
        session = stock_session(program, tmp_path / "t")
    else:
        session = session_of(build(tmp_path, TARGETS / "loud.c"), tmp_path / "t")

    def is_told(told: Totals) -> bool:
        return any("prints on its standard error" in warning for warning in told.warnings)

    told = turns_until(session, is_told, "a warning", 2.0)
    assert any("-close_fd_mask=2" in warning for warning in told.warnings)


@pytest.mark.parametrize("options", ["", "halt_on_error=0"])
def test_what_ubsan_sees_is_a_bug_unless_the_user_says_otherwise(tmp_path, monkeypatch, options):
    """The program would print it and go on."""
    monkeypatch.setenv("UBSAN_OPTIONS", options)
    (tmp_path / "seed").write_bytes(b"!? overflows, and its hash wraps, which is none")
    sanitizers = "-fsanitize=undefined,unsigned-integer-overflow"
    program = build(tmp_path, TARGETS / "wraps.c", sanitizers)
    session = session_of(program, tmp_path / "t", corpus=(tmp_path / "seed",))
    told = inputs_after(session, 0)
    assert [(bug.kind, bug.frames[0]) for bug in told.bugs] == (
        [] if options else [("undefined-behavior: signed integer overflow", "overflow")]
    )


@pytest.mark.parametrize("engine", ["libfuzzer", "stock"])
def test_a_data_race_is_a_bug_with_its_input(tmp_path, engine):
    if engine == "stock":
        program = stock_target.build(tmp_path, TARGETS / "races.c", "-fsanitize=fuzzer,thread")
        session = stock_session(program, tmp_path / "t")
    else:
        program = build(tmp_path, TARGETS / "races.c", "-fsanitize=thread")
        session = session_of(program, tmp_path / "t")
    told = turns_until(session, lambda told: told.bugs != (), "a race")
    assert [(bug.kind, bug.frames[0]) for bug in told.bugs] == [("data-race", "counts")]
    assert told.bugs[0].inputs


def test_what_is_heard_of_a_quiet_target_is_no_warning():
    lives = Lives()
    lives.heard(printed=50_000_000, inputs=1_000_000)  # a line with one of four inputs
    lives.heard(printed=100_000, inputs=10)  # a report
    assert lives.warnings == ()
    lives.heard(printed=50_000_000, inputs=100_000)
    assert len(lives.warnings) == 1


def test_counts_add_up_over_turns(tmp_path, diary, monkeypatch):
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    session = session_of(diary, tmp_path / "t")
    first = session.turn(0.3, 1)
    second = session.turn(0.3, 1)
    assert second.generation == first.generation
    assert second.observation.n > first.observation.n > 0
    assert second.seconds > first.seconds
    again = session_of(diary, tmp_path / "t").totals()
    assert again is not None
    assert again.observation.n == second.observation.n
    assert again.seconds == pytest.approx(second.seconds)
    executed = (tmp_path / "diary").stat().st_size // 8
    again = int(State(tmp_path / "t" / "state").head.reruns)
    initial = executed - second.observation.n - again
    assert 0 <= initial < 20  # the empty input and known seeds, at each start


def test_a_new_build_begins_again_from_the_corpus_so_far(tmp_path):
    program = build(tmp_path, EXAMPLES / "url.c")
    session = session_of(program, tmp_path / "t")
    first = turns_until(session, lambda told: told.corpus > 10, "a corpus", 1.0)
    other = build(tmp_path, EXAMPLES / "url.c", "-O1")
    assert other == program
    second = session.turn(1.0, 1)
    assert second.generation != first.generation
    assert any("built anew" in warning for warning in second.warnings)
    assert second.corpus > 10
    assert int(State(tmp_path / "t" / "state").head.initial) > 10  # executed, not found again


def test_a_new_seed_is_executed_in_the_next_turn_and_known_ones_are_not(
    tmp_path, diary, monkeypatch
):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(200):
        (corpus / str(number)).write_bytes(b"%d" % number)
    session = session_of(diary, tmp_path / "t", corpus=(corpus,))
    executed = []
    n = 0
    for turn in range(3):
        monkeypatch.setenv("DIARY", str(tmp_path / f"diary-{turn}"))
        if turn == 2:
            (corpus / "new").write_bytes(b"something else")
        before = n
        n = session.turn(0.3, 1).observation.n
        executed.append((tmp_path / f"diary-{turn}").stat().st_size // 8 - (n - before))
    assert executed[0] >= 200
    assert executed[1] < 100
    assert executed[2] < 100
    given = (tmp_path / "t" / "state" / "given").read_text().splitlines()
    assert len(given) == 201


def test_an_interrupt_ends_a_turn_and_keeps_its_counts(tmp_path):
    program = build(tmp_path, EXAMPLES / "base64.c")
    session = session_of(program, tmp_path / "t")
    session.interrupt()
    told = session.turn(2 * PATIENCE, 1)
    assert told.seconds < PATIENCE
    shutil.rmtree(tmp_path / "t")


def test_what_a_process_did_before_anybody_looked_is_kept_when_the_turn_is_interrupted(tmp_path):
    # As on a busy machine: it has made all its inputs at the first look, and who sees that in the
    # folder ends the turn.
    program = build(tmp_path, EXAMPLES / "base64.c")
    settings = LibFuzzerSettings(inputs=2000)
    plan = TargetPlan("t", "libfuzzer", (str(program),), settings=settings)
    folder = CampaignFolder(tmp_path / "t")
    known = {
        "corpus": CorpusFiles(folder),
        "lives": Lives(),
        "launch": None,
        "began": time.monotonic(),
    }
    turn = Fuzzing(plan, folder, seed=1, jobs=1, tick=600.0, **known)  # type: ignore[arg-type]

    def interrupt() -> None:
        wait_until(lambda: folder.state_exists() and State(folder.state).head.inputs == 2000, "all")
        turn.interrupt()

    with ThreadPoolExecutor() as pool:
        looker = pool.submit(interrupt)
        turn.run(600.0, lambda: None)
        looker.result()
    assert turn.state is not None
    assert turn.state.head.inputs == 2000
    seeds = list(turn.state.seed_bytes(0))
    assert len(seeds) == turn.state.head.seeds > 5
    # Two seeds may be the same bytes, and are one file then.
    names = {hashlib.sha1(data).hexdigest() for data in seeds}
    assert {path.name for path in folder.corpus.iterdir()} == names


def test_a_corpus_that_outlasts_its_turns_is_executed_in_portions(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzwise.engines.libfuzzer.fuzzing.LOADING", 2.0)
    program = build(tmp_path, TARGETS / "does_not_run.c").rename(tmp_path / "slow")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(30):  # a tenth of a second each
        (corpus / str(number)).write_bytes(bytes([number]) * 5)
    session = session_of(program, tmp_path / "t", corpus=(corpus,))

    def is_at_it(told: Totals) -> bool:
        assert told.observation.n == 0
        return told.doing.startswith("executing its corpus: ")

    turns_until(session, is_at_it, "a turn that comes to its corpus", 0.2)
    told = turns_until(session, lambda told: not told.unsettled, "the end of the corpus", 0.2)
    assert told.observation.n > 0
    given = (tmp_path / "t" / "state" / "given").read_text().split()
    assert len(given) == len(set(given)) == 30
