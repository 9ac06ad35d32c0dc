"""Engines, stores and executors keep to their contracts, and the checks see who does not.

Each of the broken ones is a sound one with one thing changed; what is said of it names the clause.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

import afl_target
import blackbox_target
import broken_executors
import broken_sessions
import broken_stores
import go_target
import observed_target
import stock_target
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.blackbox import Limits, Mutation
from fuzzwise.engines.blackbox.settings import BlackBoxSettings
from fuzzwise.engines.contract import Session, TargetPlan, Totals
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.registry import engine_named, engines
from fuzzwise.errors import BadInput
from fuzzwise.store import lock
from fuzzwise.store.contract import Store
from fuzzwise.store.places import open_reader, open_store
from fuzzwise.store.sqlite import FILE
from fuzzwise.testing import Broken, check_engine, check_executor, check_session, check_store
from fuzzwise.triage.workers import Workers
from paper_session import KeptSession
from python_targets import RAISING

SLACK = 30.0
"""Seconds that a busy machine may take; those who are found out only when it is over have less."""

# Engines.


def libfuzzer(folder: Path) -> tuple[TargetPlan, bytes]:
    program = observed_target.build(folder, observed_target.EXAMPLES / "bad.c")
    return TargetPlan("t", "libfuzzer", (str(program),)), b"bad!"


def stock(folder: Path) -> tuple[TargetPlan, bytes]:
    program = stock_target.build(folder, observed_target.EXAMPLES / "bad.c")
    return TargetPlan("t", "stock", (str(program),)), b"bad!"


def python(folder: Path) -> tuple[TargetPlan, bytes]:
    pytest.importorskip("atheris")
    return TargetPlan("t", "python", (str(RAISING),)), b"4"


def afl(folder: Path) -> tuple[TargetPlan, bytes]:
    program = afl_target.build(afl_target.TARGETS / "afl_parser.c")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "seed").write_bytes(b"aB")
    return TargetPlan("t", "afl++", (str(program), "@@"), (folder / "corpus",)), b"ab"


def black_box(folder: Path) -> tuple[TargetPlan, bytes]:
    (folder / "seed").write_bytes(b"pqrstuvw" * 3)
    command = (str(blackbox_target.build("parser")), "@@")
    mutation = Mutation(ratio=(0.02, 0.2), kinds=("bits",))
    limits = Limits(seconds=2, memory_mib=64, file_mib=1, processes=16)
    settings = BlackBoxSettings(limits, mutation)
    return TargetPlan("t", "black-box", command, (folder / "seed",), settings=settings), b"S"


def go(folder: Path) -> tuple[TargetPlan, bytes]:
    plan = go_target.plan(go_target.module(folder) / "ini", "FuzzCalm")
    return plan, go_target.entry('[]byte("bad!")', "int(7)")


TARGETS = (libfuzzer, stock, python, afl, black_box, go)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with Workers(1) as shared:
        yield shared
    end_all(tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_an_engine_keeps_to_its_contract(target, tmp_path, workers):
    plan, crashing = target(tmp_path)
    engine = engine_named(plan.engine)
    check_engine(engine, plan=plan)
    missing = replace(plan, command=(str(tmp_path / "missing"), *plan.command[1:]))
    check_session(
        lambda folder: engine.open_session(plan, folder, 1, workers),
        tmp_path / "checked",
        crashing_input=crashing,
        open_broken=lambda folder: engine.open_session(missing, folder, 1, workers),
    )


def test_every_engine_of_ours_is_checked():
    ours = {name for name, entry in engines().items() if entry.value.startswith("fuzzwise.")}
    assert ours == {"libfuzzer", "stock", "python", "afl++", "black-box", "go"}


@pytest.mark.parametrize(
    ("clause", "changes"),
    [
        ("keys", {"keys": ("program", "share")}),
        ("keys", {"keys": ("program", "program")}),
        ("claims", {"claims": lambda program, in_command: program.stat().st_size > 0}),
        ("read_target", {"read_target": lambda table, keys: []}),
        ("plan_fuzz", {"plan_fuzz": lambda request: TargetPlan("t", "x", (str(request.target),))}),
        ("one_input", {"one_input": lambda plan: ()}),
        ("made_of", {"made_of": lambda plan: (str(plan.program),)}),
        ("build_words", {"build_words": lambda words, cxx: ["cc"]}),
    ],
)
def test_a_broken_engine_is_found_out(clause, changes):
    engine = replace(engine_named("libfuzzer"), **changes)
    with pytest.raises(Broken, match=f"^An engine breaks the clause '{clause}': "):
        check_engine(engine, plan=TargetPlan("t", "libfuzzer", ("/bin/true",)))


# Sessions that break one clause each.


def sound(folder: Path) -> Session:
    return KeptSession(folder)


def unable(folder: Path) -> Session:
    class Unable(KeptSession):
        def turn(self, seconds: float, jobs: int) -> Totals:
            raise BadInput("This one has no program to run.")

    return Unable(folder)


def test_the_session_on_paper_keeps_to_the_contract(tmp_path):
    check_session(sound, tmp_path, crashing_input=b"bad", open_broken=unable, seconds=0.06)


@pytest.mark.parametrize(
    ("clause", "broken"),
    [
        ("errors", broken_sessions.Hasty),
        ("absolute", broken_sessions.Differences),
        ("durable", broken_sessions.Forgetful),
        ("generations", broken_sessions.Renaming),
        ("durable", broken_sessions.Falling),
        ("on time", broken_sessions.Endless),
        ("on time", broken_sessions.Deaf),
        ("interrupt", broken_sessions.Stuck),
        ("interrupt", broken_sessions.Missing),
        ("threads", broken_sessions.Silent),
        ("absolute", broken_sessions.Ahead),
        ("on time", broken_sessions.Stingy),
        ("close", broken_sessions.Littering),
        ("reproduce", broken_sessions.Counting),
        ("reproduce", broken_sessions.Blind),
        ("errors", broken_sessions.Abrupt),
        ("generations", broken_sessions.Trusting),
    ],
)
def test_a_broken_session_is_found_out(clause, broken, tmp_path):
    made: list[KeptSession] = []

    def open_session(folder: Path) -> Session:
        made.append(broken(folder))
        return made[-1]

    try:
        with pytest.raises(Broken, match=f"^A session breaks the clause '{clause}': ."):
            check_session(
                *(open_session, tmp_path),
                crashing_input=b"bad",
                open_broken=unable,
                seconds=getattr(broken, "seconds", 0.06),
                slack=getattr(broken, "slack", SLACK),
            )
    finally:
        for session in made:
            session.is_over = lambda start, seconds: True  # type: ignore[method-assign]
        end_all(tmp_path)


# Stores.


def test_the_store_keeps_to_its_contract(tmp_path):
    check_store(open_store, open_reader, tmp_path, files=(FILE,))


@pytest.mark.parametrize(
    ("clause", "broken"),
    [
        ("absolute", broken_stores.EndsTwice),
        ("absolute", broken_stores.Sums),
        ("absolute", broken_stores.Backwards),
        ("durable", broken_stores.OneByOne),
        ("absolute", broken_stores.Recovers),
        ("absolute", broken_stores.CountsBugsTwice),
        ("memory", broken_stores.Unlooking),
        ("memory", broken_stores.Careless),
        ("tick", broken_stores.TurnsBack),
        ("durable", broken_stores.Lazy),
    ],
)
def test_a_broken_store_is_found_out(clause, broken, tmp_path):
    @contextmanager
    def opened(folder: Path) -> Iterator[Any]:
        with open_store(folder) as store:
            yield broken(store, folder)

    with pytest.raises(Broken, match=f"^A store breaks the clause '{clause}': ."):
        check_store(opened, open_reader, tmp_path)


@pytest.mark.parametrize(
    ("clause", "broken"),
    [
        ("durable", broken_stores.Stale),
        ("readers", broken_stores.Torn),
        ("event", broken_stores.Sorted),
        ("stretch", broken_stores.Sampling),
    ],
)
def test_a_broken_reader_is_found_out(clause, broken, tmp_path):
    with pytest.raises(Broken, match=f"^A store breaks the clause '{clause}': ."):
        check_store(open_store, broken, tmp_path)


def test_a_store_that_lets_two_in_is_found_out(tmp_path, monkeypatch):
    hold = lock.hold

    def held(folder: Path) -> FileIO:
        try:
            return hold(folder)
        except BadInput:
            return FileIO(os.devnull)

    monkeypatch.setattr(lock, "hold", held)
    with pytest.raises(Broken, match=r"^A store breaks the clause 'one writer': ."):
        check_store(open_store, open_reader, tmp_path)


def test_a_store_that_removes_what_is_damaged_is_found_out(tmp_path):
    def opened(folder: Path) -> Store:
        if (folder / FILE).exists() and not (folder / FILE).read_bytes().startswith(b"SQLite"):
            (folder / FILE).unlink()
        return open_store(folder)

    with pytest.raises(Broken, match=r"^A store breaks the clause 'damage': ."):
        check_store(opened, open_reader, tmp_path, files=(FILE,))


# Executors.


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_the_executor_keeps_to_its_contract(cores):
    check_executor(lambda sessions: Threads(sessions, cores))


@pytest.mark.parametrize(
    ("clause", "broken"),
    [
        ("tokens", broken_executors.Twice),
        ("every turn has one result", broken_executors.Swallowing),
        ("every turn has one result", broken_executors.Speechless),
        ("capacity", broken_executors.Generous),
        ("capacity", broken_executors.OneByOne),
        ("every turn has one result", broken_executors.InOrder),
        ("on time", broken_executors.Unheeding),
        ("interrupt", broken_executors.Overeager),
        ("totals", broken_executors.Passive),
        ("close", broken_executors.Open),
        ("close", broken_executors.Patient),
        ("wait", broken_executors.Sleepy),
        ("news", broken_executors.Talkative),
        ("capacity", broken_executors.Timeless),
    ],
)
def test_a_broken_executor_is_found_out(clause, broken):
    with pytest.raises(Broken, match=f"^An executor breaks the clause '{clause}': ."):
        check_executor(lambda sessions: broken(sessions, 2), slack=getattr(broken, "slack", SLACK))
