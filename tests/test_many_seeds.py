"""Very many seeds: found and executed once, read by nobody twice, and told of while it lasts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.engines.contract import Session, TargetPlan
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.observer.seed_marks import Fatal, mark_of, marks_before
from fuzzwise.engines.observer.seeds import MANY, unwritable
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.starting import EXECUTING, Start
from fuzzwise.engines.stock.session import StockSession
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.files import _hash, content_hash, files_of
from observed_target import EXAMPLES, TARGETS
from observed_target import build as build_observed
from stock_target import build as build_stock


def seeds_in(folder: Path, many: int = MANY) -> Path:
    """Files in two folders, one inside of the other."""
    (folder / "more, of them").mkdir(parents=True)
    for number in range(many):
        home = folder / "more, of them" if number % 2 else folder
        (home / f"seed{number}").write_text(f"[{number}]\nkey{number} = {number * 7}\n")
    return folder


def session_of(engine: str, folder: Path, source: Path, corpus: Path, inputs: int) -> Session:
    (folder / engine).mkdir(exist_ok=True)
    if engine == "stock":
        program = folder / engine / source.stem
        program = program if program.exists() else build_stock(folder / engine, source)
        stock = StockSettings(inputs=inputs)
        plan = TargetPlan("t", "stock", (str(program),), (corpus,), settings=stock)
        return StockSession(plan, folder / "out", 1)
    program = folder / engine / source.stem
    program = program if program.exists() else build_observed(folder / engine, source)
    observed = LibFuzzerSettings(inputs=inputs)
    plan = TargetPlan("t", "libfuzzer", (str(program),), (corpus,), settings=observed)
    return LibFuzzerSession(plan, folder / "out", 1)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files_of([folder])}


@pytest.mark.parametrize("engine", ["observed", "stock"])
def test_many_seeds_are_executed_and_not_read_by_fuzzwise(engine: str, tmp_path: Path) -> None:
    corpus = seeds_in(tmp_path / "seeds")
    before = contents(corpus)
    read = _hash.cache_info().misses
    told = session_of(engine, tmp_path, EXAMPLES / "ini.c", corpus, 50).turn(600.0, 1)
    again = session_of(engine, tmp_path, EXAMPLES / "ini.c", corpus, 100).turn(600.0, 1)
    assert told.observation.n >= 50
    assert again.observation.n >= 100
    assert not [w for w in (*told.warnings, *again.warnings) if "no input" in w]
    assert _hash.cache_info().misses - read < 100, "the program, and names with a comma"
    assert contents(corpus) == before, "what libFuzzer finds goes elsewhere"


def test_a_python_harness_with_many_seeds_is_fuzzed(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    corpus = seeds_in(tmp_path / "seeds")
    harness = tmp_path / "harness.py"
    harness.write_text(
        "def TestOneInput(data):\n    return data[:1] == b'[' and data.count(b'=')\n"
    )
    words = [sys.executable, "-m", "fuzzwise", "fuzz", str(harness), str(corpus), "--json"]
    words += ["--inputs", "500", "--out", str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"] >= 500


def test_the_observed_engine_executes_a_file_once(tmp_path: Path) -> None:
    corpus = seeds_in(tmp_path / "seeds")
    session_of("observed", tmp_path, EXAMPLES / "ini.c", corpus, 50).turn(600.0, 1)
    state = State(tmp_path / "out" / "state")
    first = int(state.head.executed)
    assert first >= MANY + 50
    assert list((tmp_path / "out" / "state" / "no-files").iterdir()) == []
    (corpus / "a new one").write_text("[new]\nnew=1\n")
    session_of("observed", tmp_path, EXAMPLES / "ini.c", corpus, 100).turn(600.0, 1)
    executed = int(State(tmp_path / "out" / "state").head.executed)
    assert executed - first < MANY / 2, "some known ones, and the new one"
    assert len((tmp_path / "out" / "state" / "given").read_text().split()) == MANY + 1


@pytest.mark.parametrize("engine", ["observed", "stock"])
def test_seeds_that_end_the_target_are_left_out_from_then_on(engine: str, tmp_path: Path) -> None:
    corpus = seeds_in(tmp_path / "seeds")
    for name, data in (("one", b"__ki"), ("other", b"\x00\x01\x07\x07\x07")):
        (corpus / name).write_bytes(data)
    told = session_of(engine, tmp_path, TARGETS / "fragile.c", corpus, 50).turn(600.0, 1)
    assert len(told.bugs) >= 2
    kept = (tmp_path / "out" / "state" / "fatal-files").read_text().splitlines()
    found = dict(line.split(" ") for line in kept)
    assert found[content_hash(corpus / "one", "sha1")] == mark_of(str(corpus / "one"))
    assert content_hash(corpus / "other", "sha1") in found


def test_files_are_known_by_their_marks(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "copy of a")]
    for path in paths:
        path.write_text(path.name[-1])
    names = [str(path) for path in paths]
    fatal = Fatal(tmp_path / "fatal")
    a = content_hash(paths[0], "sha1")
    assert fatal.without(set(), names) == names
    assert fatal.among({a}, {1}, names) == {a}
    assert fatal.among({a}, {2}, names) == set(), "of another size"
    assert fatal.without({a}, names) == [names[1]]
    paths[2].write_text("c")
    os.utime(paths[2], ns=(1, 1))
    assert fatal.without({a}, names) == names[1:], "it is another file now"


def test_files_that_end_the_target_are_found_again_without_their_marks(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    name = content_hash(tmp_path / "a", "sha1")
    paths = [str(tmp_path / "a"), str(tmp_path / "gone")]
    fatal = Fatal(tmp_path / "fatal")
    assert fatal.without({name, "f" * 40}, paths) == []
    read = _hash.cache_info()
    assert fatal.without({name, "f" * 40}, paths) == []
    assert _hash.cache_info() == read, "none is read again"


def test_a_file_that_changed_while_it_was_executed_is_executed_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a")
    changed = path.stat().st_ctime_ns
    assert marks_before([str(path), str(tmp_path / "gone")], changed) == [mark_of(str(path))]
    assert marks_before([str(path)], changed - 1) == []


def test_nothing_is_written_to_a_folder_by_its_longest_name(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "x"):
        folder.mkdir(exist_ok=True)
        name = unwritable(folder)
        assert os.stat(name).st_ino == folder.stat().st_ino  # noqa: PTH116
        with pytest.raises(OSError, match="too long"):
            os.open(f"{name}/{'0' * 40}", os.O_CREAT)


def test_it_is_told_how_many_files_are_executed() -> None:
    start = Start(30.0, files=20_000)
    start.look(1.0, 0, 0)
    assert start.doing.startswith("starting")
    start.through = 1_234
    start.look(1.0, 1, 0)
    assert start.doing == f"{EXECUTING}: 1,234 of 20,000 files"
    assert not start.warning
    start.look(1.0, 2, 1)
    assert start.doing == ""
