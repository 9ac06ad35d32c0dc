"""What is counted of stock targets: against what libFuzzer printed, and what the target saw."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import stock_target
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.stock.counts import StockFolder
from fuzzwise.engines.stock.lines import Lines
from fuzzwise.engines.stock.process import StockProcess
from fuzzwise.engines.stock.session import StockSession
from fuzzwise.engines.stock.settings import StockSettings
from observed_target import EXAMPLES, TARGETS
from waiting import PATIENCE, wait_until

KILLS = int(os.environ.get("FUZZWISE_KILLS", "20"))
"""`make fuzz-readers` has more of them."""

STATUS = re.compile(r"^#(\d+)\t(INITED|NEW|REDUCE|pulse|DONE) +cov: \d+ ft: (\d+) ", re.MULTILINE)
UNITS = re.compile(r"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stock_target.build(tmp_path_factory.mktemp("stock"), TARGETS / "stock_tally.c")


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> dict[int, bytearray]:
    """All that processes print, by their ids, in the order of their starts."""
    kept: dict[int, bytearray] = {}
    take = StockProcess._take

    def also_keep(self: StockProcess, chunk: bytes) -> None:
        kept.setdefault(id(self), bytearray()).extend(chunk)
        keep.append(self)
        take(self, chunk)

    keep: list[StockProcess] = []  # lest another one have the same id
    monkeypatch.setattr(StockProcess, "_take", also_keep)
    return kept


def session_of(program: Path, folder: Path, *corpus: Path, **settings: object) -> StockSession:
    known = StockSettings(**settings)  # type: ignore[arg-type]
    return StockSession(
        TargetPlan("t", "stock", (str(program),), corpus, settings=known), folder, 1
    )


def recount(logs: dict[int, bytearray]) -> tuple[int, list[int], int]:
    """Inputs, the numbers of discoveries, and executions of corpora, from the raw logs alone."""
    made, loaded, found = 0, 0, []
    for log in logs.values():
        text = log.decode(errors="replace").rpartition("\n")[0]  # of a line, or not at all
        start = features = None
        for n, event, ft in STATUS.findall(text):
            if event == "INITED":
                start, features = int(n), int(ft)
            elif start is not None:
                if int(ft) > features:
                    found.append(made + int(n) - start)
                features = int(ft)
        # Of one that was killed, what its last line said.
        units = UNITS.findall(text) or [n for n, *_ in STATUS.findall(text)] or [0]
        if start is None:
            loaded += int(units[-1])
        else:
            made += int(units[-1]) - start
            loaded += start
    return made, found, loaded


def test_counts_are_those_of_the_log_and_of_the_target_over_turns_and_crashes(
    tally, tmp_path, logs, monkeypatch
):
    monkeypatch.setenv("TALLY", str(tmp_path / "tally"))
    session = session_of(tally, tmp_path / "t")
    told = Totals.nothing()
    for _ in range(4):
        told = session.turn(1.0, 1)
    deadline = time.monotonic() + PATIENCE
    while (
        told.crashes < 2 or len(told.observation.discoveries) <= 10
    ) and time.monotonic() < deadline:
        told = session.turn(1.0, 1)
    made, found, loaded = recount(logs)
    assert told.observation.n == made
    assert told.observation.discoveries.tolist() == found
    assert len(found) > 10
    assert made + loaded == int(np.fromfile(tmp_path / "tally", np.uint64)[0])
    assert len(logs) >= 4
    assert told.crashes >= 2
    assert not told.warnings


def test_processes_that_are_killed_count_up_to_their_last_lines_and_that_is_told(
    tally, tmp_path, logs, monkeypatch
):
    monkeypatch.setenv("TALLY", str(tmp_path / "tally"))
    monkeypatch.setenv("CALM", "1")
    seen = [0]
    for number in range(0, KILLS, A_TURN):
        session = session_of(tally, tmp_path / "t")  # as after a kill of fuzzwise, from the folder
        kill_in_a_turn(session, min(A_TURN, KILLS - number), seen)
    told = session.totals()
    assert seen == sorted(seen)
    assert session._folder.record()["killed"] == KILLS
    made, found, loaded = recount(logs)
    assert told.observation.n == made
    assert told.observation.discoveries.tolist() == found
    assert len(found) > 10
    assert made + loaded <= int(np.fromfile(tmp_path / "tally", np.uint64)[0])
    assert any(f"{KILLS} of its processes were killed: about" in said for said in told.warnings)


A_TURN = 10
"""Kills in one turn."""


def kill_in_a_turn(session: StockSession, kills: int, seen: list[int]) -> None:
    """Kill so many processes in one turn, each once it fuzzes, or has said that it does."""
    turn = threading.Thread(target=session.turn, args=(500.0, 1))
    turn.start()
    try:
        for number in range(kills):
            process = fuzzing_process(session)
            if number % 2:
                wait_until(lambda lines=process.lines: lines.glance.made, "a line of it")
            os.kill(process.pid, signal.SIGKILL)
            wait_until(lambda killed=process: session._fuzzing._process is not killed, "its end")
            seen.append(session.totals().observation.n)
        fuzzing_process(session)
    finally:
        session.interrupt()
        turn.join()


def fuzzing_process(session: StockSession) -> StockProcess:
    """The present process, once it has begun to fuzz."""

    def has_begun() -> bool:
        process = session._fuzzing and session._fuzzing._process
        return bool(process and process.lines.glance.loaded)

    wait_until(has_begun, "a process that fuzzes")
    return session._fuzzing._process


@contextmanager
def ending(session: StockSession) -> Iterator[None]:
    """A long turn beside what is done in here, after which it is interrupted and must end."""
    turn = threading.Thread(target=session.turn, args=(6 * PATIENCE, 1))
    turn.start()
    try:
        yield
    finally:
        session.interrupt()
        turn.join(PATIENCE)
    assert not turn.is_alive()


def test_the_inputs_asked_for_are_made_and_hardly_more(tally, tmp_path):
    session = session_of(tally, tmp_path / "t", inputs=20_000)
    told = session.turn(PATIENCE, 1)
    assert 20_000 <= told.observation.n <= 20_020


def test_a_long_quiet_process_tells_its_count(tally, tmp_path, monkeypatch):
    from fuzzwise.engines.stock import fuzzing

    monkeypatch.setattr(fuzzing, "QUIET", 0.3)
    monkeypatch.setattr(fuzzing, "QUIET_SHARE", 0.0)
    monkeypatch.setattr(fuzzing, "CHEAP", 1.0)
    session = session_of(stock_target.build(tmp_path, TARGETS / "diary.c"), tmp_path / "t")
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    with ending(session):
        wait_until(lambda: (session._folder.record() or {}).get("starts", 0) > 2, "more processes")


def test_a_target_that_finds_nothing_more_is_settled_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    session = session_of(stock_target.build(tmp_path, TARGETS / "diary.c"), tmp_path / "t")
    session.turn(0.5, 1)
    for _ in range(3):
        told = session.turn(0.5, 1)
        assert (told.doing, told.unsettled) == ("", "")
    assert session.totals().unsettled == ""


def test_what_held_inputs_short_does_not_begin_anew_with_each_process(tmp_path, monkeypatch):
    """As long as one process would have made them by then, they are from the start."""
    commands: list[list[str]] = []
    start = StockProcess.__init__

    def also_keep(self: StockProcess, command: list[str], *more: object) -> None:
        commands.append(command)
        start(self, command, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(StockProcess, "__init__", also_keep)
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    program = stock_target.build(tmp_path, TARGETS / "diary.c")
    for inputs in (2_000, 4_000, 300_000, 302_000):
        session_of(program, tmp_path / "t", inputs=inputs).turn(500.0, 1)
    words = ["-len_control=0" in command for command in commands]
    assert words[:2] == [False, False]
    assert words[-1]
    session = session_of(program, tmp_path / "t", inputs=304_000, options=("-len_control=7",))
    session.turn(500.0, 1)
    assert "-len_control=0" not in commands[-1]


def test_a_script_is_another_target_with_another_program_behind_it(tmp_path):
    program = stock_target.build(tmp_path, EXAMPLES / "bad.c")
    session = session_of(stock_target.wrapper(program, "script"), tmp_path / "t")
    first = session.turn(0.5, 1)
    assert session.turn(0.3, 1).generation == first.generation
    stock_target.build(tmp_path, EXAMPLES / "bad.c", "-fsanitize=fuzzer", "-O0")
    assert session.turn(0.3, 1).generation != first.generation


def test_another_build_is_another_generation_with_the_corpus_so_far(tmp_path):
    program = stock_target.build(tmp_path, EXAMPLES / "url.c")
    session = session_of(program, tmp_path / "t")
    first = session.turn(1.5, 1)
    while first.corpus <= 10:
        first = session.turn(1.5, 1)
    stock_target.build(tmp_path, EXAMPLES / "url.c", "-fsanitize=fuzzer", "-O2")
    second = session.turn(0.5, 1)
    assert second.generation != first.generation
    assert any("built anew" in warning for warning in second.warnings)
    assert second.corpus > 10


@pytest.mark.parametrize("name", ["discoveries", "campaign.json"])
@pytest.mark.parametrize("damage", [b"", b"\xff\x00junk", "cut", "changed"])
def test_damaged_counts_begin_again(tally, tmp_path, name, damage):
    session = session_of(tally, tmp_path / "t")
    first = session.turn(0.5, 1)
    path = next((tmp_path / "t").rglob(name))
    content = path.read_bytes()
    if damage == "cut":
        damage = content[:-3]
    elif damage == "changed":  # the numbers still rise
        damage = bytes([content[0] ^ 1]) + content[1:]
    path.write_bytes(damage)
    again = session_of(tally, tmp_path / "t")
    assert again.totals() is None
    second = again.turn(0.3, 1)
    assert second.generation != first.generation
    assert any("were damaged" in warning for warning in second.warnings)


def test_a_corpus_of_the_user_is_only_read(tally, tmp_path):
    corpus = tmp_path / "théirs, @ once"
    corpus.mkdir()
    for name, data in (("a,b", b"fufu"), ("ü @@", b"fuzz" * 5), ("plain", b"0123")):
        (corpus / name).write_bytes(data)
        (corpus / name).chmod(0o444)
    corpus.chmod(0o555)
    alone = tmp_path / "a file"
    alone.write_bytes(b"fufufufu")
    before = {path: path.read_bytes() for path in corpus.iterdir()}
    session = session_of(tally, tmp_path / "t", corpus, alone)
    told = session.turn(1.0, 1)
    assert told.observation.n > 0
    assert session.turn(0.5, 1).observation.n > told.observation.n
    assert {path: path.read_bytes() for path in corpus.iterdir()} == before
    corpus.chmod(0o755)


def test_a_seed_that_crashes_is_a_bug_and_left_out(tally, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "bad").write_bytes(b"bug!")
    (corpus / "good").write_bytes(b"fufu")
    session = session_of(tally, tmp_path / "t", corpus)
    told = session.turn(2.0, 1)
    assert told.observation.n > 0
    assert [bug.kind for bug in told.bugs] == ["abort"]
    assert (corpus / "bad").exists()


@pytest.mark.parametrize("kind", ["leak", "timeout", "out-of-memory"])
def test_what_takes_too_much_is_a_bug(kind, tmp_path, monkeypatch):
    program = stock_target.build(tmp_path, TARGETS / "stock_greedy.c", "-fsanitize=fuzzer,address")
    monkeypatch.setenv("GREEDY", kind)
    memory = 256 if kind == "out-of-memory" else 2048
    seconds = 1.0 if kind == "timeout" else 60.0  # a busy machine is slow to fill memory
    session = session_of(program, tmp_path / "t", seconds=seconds, memory_mib=memory)
    deadline = time.monotonic() + PATIENCE
    bugs: list[str] = []
    while not bugs and time.monotonic() < deadline:
        bugs = [bug.kind for bug in session.turn(2.0, 1).bugs]
    assert bugs
    assert kind in bugs[0]


def test_an_interrupt_ends_a_turn_soon_and_counts_exactly(tally, tmp_path, logs):
    session = session_of(tally, tmp_path / "t")
    with ending(session):
        wait_until(lambda: (known := session.totals()) and known.observation.n, "inputs")
    assert session.totals().observation.n == recount(logs)[0]


def test_lines_that_are_no_status_change_nothing():
    lines = Lines()
    lines.take(b"INFO: Seed: 1\n#2\tINITED cov: 3 ft: 4 corp: 1/1b exec/s: 0 rss: 30Mb\n")
    lines.take(b"\xff#x\n#99999999999999999999\tNEW cov: 9 ft: 9 corp: 9/9b\n# 12 NEW\n")
    lines.take(b"#10\tNEW    cov: 4 ft: 5 corp: 2/3b lim: 4 exec/s: 0 rss: 30Mb L: 2/2")
    assert lines.said.made == 0  # not a whole line yet
    lines.take(b" MS: 1 X-\n#7\tNEW    cov: 4 ft: 9 corp: 2/3b lim: 4 exec/s: 0 rss: 30Mb\n")
    assert lines.said.made == 8
    assert lines.said.found == (8,)
    assert not lines.said.is_complete
    lines.take(b"stat::number_of_executed_units: 15\n")
    assert (lines.said.made, lines.said.is_complete) == (13, True)


def test_a_folder_in_which_nothing_was_counted_tells_nothing(tmp_path):
    assert StockFolder(tmp_path / "t").record() is None
    assert session_of(Path("/bin/true"), tmp_path / "t").totals() is None
