"""Fuzz tests of Go at work: what is counted, what is kept, and what ends them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import go_target
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.go.counts import GoFolder, counts_in
from fuzzwise.engines.go.problems import HOPELESS
from fuzzwise.engines.go.process import GoProcess
from fuzzwise.engines.go.session import GoSession
from fuzzwise.errors import BadInput
from fuzzwise.testing.traces import processes_in
from turns import inputs_after, turns_until
from waiting import PATIENCE, wait_until

KILLS = 3
EXECS = re.compile(r"^fuzz: .* execs: (\d+) .*new interesting: (\d+) ", re.MULTILINE)
SEEDS = re.compile(r"baseline coverage: (\d+)/\1 completed, now fuzzing")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_target.module(tmp_path_factory.mktemp("go")) / "ini"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> dict[int, bytearray]:
    """All that processes print, in the order of their starts."""
    kept: dict[int, bytearray] = {}
    take = GoProcess._take

    def also_keep(self: GoProcess, chunk: bytes) -> None:
        kept.setdefault(self.pid, bytearray()).extend(chunk)
        take(self, chunk)

    monkeypatch.setattr(GoProcess, "_take", also_keep)
    return kept


def session_of(package: Path, function: str, folder: Path, **settings: object) -> GoSession:
    return GoSession(go_target.plan(package, function, **settings), folder)


def recount(logs: dict[int, bytearray]) -> tuple[int, int]:
    """Inputs and discoveries, from the raw logs alone."""
    made = found = 0
    for log in logs.values():
        text = log.decode(errors="replace")
        if lines := EXECS.findall(text):
            seeds = SEEDS.findall(text)
            made += int(lines[-1][0]) - (int(seeds[-1]) if seeds else 0)
            found += int(lines[-1][1])
    return made, found


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def until_bugs(session: GoSession) -> Totals:
    """A turn that is interrupted when it has found something."""
    turn = threading.Thread(target=session.turn, args=(500.0, 1))
    turn.start()
    try:
        wait_until(lambda: (told := session.totals()) and told.bugs, "a bug")
    finally:
        session.interrupt()
        turn.join()
    return session.totals()


def test_counts_are_those_of_the_log_over_turns_and_failures(package, tmp_path, logs):
    before = content(package)
    session = session_of(package, "FuzzParse", tmp_path / "t")
    until_bugs(session)

    def is_much(told: Totals) -> bool:
        made, found = recount(logs)
        assert told.observation.n == made
        assert len(told.observation.discoveries) == found
        return len(logs) > 3 and found > 3

    told = turns_until(session, is_much, "discoveries of several processes", 1.0)
    assert told.observation.discoveries[-1] in told.observation.counted_at
    assert content(package) == before  # neither seeds nor failing inputs are written there
    (bug,) = told.bugs
    assert bug.kind == "panic: slice bounds out of range"
    assert bug.frames[:2] == ("ini.name", "ini.Parse")
    assert Path(bug.file) == package / "ini.go"
    assert "return line[1:" in (package / "ini.go").read_text().splitlines()[bug.line - 1]
    kept = (tmp_path / "t" / "crashes" / bug.inputs[0]).read_bytes()
    assert session.reproduce(kept).bug.id == bug.id
    assert session.reproduce(b"raw").bug is None


def test_a_failed_test_has_its_file_and_line(package, tmp_path):
    (bug,) = until_bugs(session_of(package, "FuzzSays", tmp_path / "t")).bugs
    assert bug.kind == "failed test"
    assert Path(bug.file) == package / "ini_test.go"
    assert "t.Errorf" in (package / "ini_test.go").read_text().splitlines()[bug.line - 1]


@pytest.mark.parametrize(
    ("how", "kind", "frame"),
    [
        ("hang", "timeout", None),
        ("deep", "stack-overflow", "ini.deep"),
        ("memory", "out-of-memory", "ini.FuzzEnds.func1"),
        ("goroutine", "panic: integer divide by zero", "ini.FuzzEnds.func1"),
    ],
)
def test_what_ends_a_worker_is_a_bug(package, tmp_path, monkeypatch, how, kind, frame):
    monkeypatch.setenv("ENDS", how)
    seconds = 2.0 if how == "hang" else 30.0
    session = session_of(package, "FuzzEnds", tmp_path / "t", seconds=seconds, memory_mib=1200)
    told = until_bugs(session)
    assert [bug.kind for bug in told.bugs] == [kind]
    if frame:
        assert frame in told.bugs[0].frames
    assert told.observation.n > 0


def test_a_hang_is_found_by_turns_that_are_shorter_than_its_time(package, tmp_path, monkeypatch):
    monkeypatch.setenv("ENDS", "hang")
    session = session_of(package, "FuzzEnds", tmp_path / "t", seconds=6.0)
    told = turns_until(session, lambda told: bool(told.bugs), "a bug", 5.0)
    assert [bug.kind for bug in told.bugs] == ["timeout"]


def test_a_seed_in_the_source_that_fails_is_told_with_its_place(package, tmp_path):
    session = session_of(package, "FuzzSeed", tmp_path / "t")
    with pytest.raises(BadInput, match=r"its own seed seed#0 \(panic: slice bounds.*ini.go"):
        session.turn(2.0, 1)
    assert [bug.kind for bug in session.totals().bugs] == ["panic: slice bounds out of range"]


def test_seeds_of_the_user_that_fail_are_bugs_and_left_out(tmp_path):
    package = go_target.module(tmp_path) / "ini"
    seeds = package / "testdata" / "fuzz" / "FuzzCalm"
    seeds.mkdir(parents=True)
    (seeds / "bad").write_bytes(go_target.entry('[]byte("bad!")', "int(7)"))
    (seeds / "good").write_bytes(go_target.entry('[]byte("good")', "int(7)"))
    before = content(package)
    session = session_of(package, "FuzzCalm", tmp_path / "t")
    told = inputs_after(session, 0, 2.0)
    assert [bug.kind for bug in told.bugs] == ["panic"]
    assert session.turn(1.0, 1).crashes == 1
    assert content(package) == before


def test_many_seeds_of_the_user_that_fail_do_not_make_a_target_broken(tmp_path):
    package = go_target.module(tmp_path) / "ini"
    seeds = package / "testdata" / "fuzz" / "FuzzCalm"
    seeds.mkdir(parents=True)
    for number in range(HOPELESS + 1):
        (seeds / f"bad-{number}").write_bytes(go_target.entry('[]byte("bad!")', "int(7)"))
    told = inputs_after(session_of(package, "FuzzCalm", tmp_path / "t"), 0, 2.0)
    assert [(bug.kind, bug.count) for bug in told.bugs] == [("panic", HOPELESS + 1)]


def test_a_corpus_is_taken_in_and_what_is_none_is_told(package, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "bad").write_bytes(go_target.entry('[]byte("bad!")', "int(7)"))
    (corpus / "good").write_bytes(go_target.entry('[]byte("x=y")', "int(1)"))
    (corpus / "raw").write_bytes(b"raw bytes")
    known = go_target.plan(package, "FuzzCalm")
    plan = TargetPlan("t", "go", known.command, (corpus,), settings=known.settings)
    session = GoSession(plan, tmp_path / "t")
    told = inputs_after(session, 0, 2.0)
    assert [bug.kind for bug in told.bugs] == ["panic"]
    assert any(words.startswith("1 files of its corpus were left out") for words in told.warnings)
    assert session.turn(1.0, 1).crashes == 1
    assert sorted(path.name for path in corpus.iterdir()) == ["bad", "good", "raw"]


def test_kills_lose_little_and_nothing_is_left(package, tmp_path):
    session = session_of(package, "FuzzCalm", tmp_path / "t")
    turn = threading.Thread(target=session.turn, args=(500.0, 1))
    turn.start()
    seen = [0]
    try:
        for _ in range(KILLS):
            process = fuzzing_process(session)
            os.kill(process.pid, signal.SIGKILL)
            wait_until(lambda killed=process: session._fuzzing._process is not killed, "its end")
            seen.append(session.totals().observation.n)
        fuzzing_process(session)
    finally:
        session.interrupt()
        turn.join()
    told = session.totals()
    assert seen == sorted(seen)
    assert session._fuzzing is None
    assert any(f"{KILLS} of its processes were killed" in words for words in told.warnings)
    assert not processes_in(tmp_path)


def fuzzing_process(session: GoSession) -> GoProcess:
    """The present process, once it has told of inputs."""

    def has_begun() -> bool:
        process = session._fuzzing and session._fuzzing._process
        return bool(process and process.lines.said.made)

    wait_until(has_begun, "a process that fuzzes")
    return session._fuzzing._process


def test_fuzzwise_itself_may_be_killed(package, tmp_path):
    out = tmp_path / "out"
    words = [sys.executable, "-m", "fuzzwise", "fuzz", str(package / "FuzzCalm"), "--quiet"]
    words += ["--out", str(out), "--time"]
    told = 0
    for _ in range(2):
        command = subprocess.Popen([*words, "500s"], stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda before=told: counted(out) > before, "inputs")
        finally:
            command.kill()
            command.wait()
        told = counted(out)
        wait_until(lambda: not processes_in(out), "the end of what it had started")

    def goes_on() -> bool:
        done = subprocess.run([*words, "2s", "--json"], capture_output=True, text=True, check=False)
        return int(json.loads(done.stdout)["inputs"]) > told

    wait_until(goes_on, f"more than {told} inputs")
    assert not processes_in(out)


def counted(out: Path) -> int:
    try:
        return counts_in(GoFolder(out)).n
    except BadInput:  # nothing yet
        return 0


def test_two_cores_are_two_workers(package, tmp_path):
    session = session_of(package, "FuzzCalm", tmp_path / "t")
    before = time.monotonic()
    told = session.turn(2.0, 2)
    took = time.monotonic() - before
    assert 2 * 2.0 <= told.seconds <= 2 * took
    inputs_after(session, 0)


def test_the_inputs_asked_for_are_made_and_hardly_more(package, tmp_path):
    told = session_of(package, "FuzzCalm", tmp_path / "t", inputs=5_000).turn(PATIENCE, 1)
    assert 5_000 <= told.observation.n <= 5_100


def test_another_source_is_another_generation_with_the_corpus_so_far(tmp_path):
    package = go_target.module(tmp_path) / "ini"
    session = session_of(package, "FuzzCalm", tmp_path / "t")

    def corpus() -> int:
        return sum(1 for _ in (tmp_path / "t" / "corpus").rglob("*"))

    first = turns_until(session, lambda _: corpus() > 5, "a corpus", 3.0)
    before = corpus()
    (package / "ini.go").write_text((package / "ini.go").read_text().replace("'#'", "'%'"))
    second = session.turn(1.0, 1)
    assert second.generation != first.generation
    assert any("built anew" in warning for warning in second.warnings)
    assert corpus() >= before


def test_what_cannot_be_compiled_is_told_with_the_compilers_words(tmp_path):
    package = go_target.module(tmp_path) / "ini"
    (package / "wrong.go").write_text("package ini\n\nfunc wrong() { return 3 }\n")
    with pytest.raises(BadInput, match=r"go cannot compile its tests.*wrong\.go:3"):
        session_of(package, "FuzzCalm", tmp_path / "t").turn(1.0, 1)
    (package / "wrong.go").unlink()
    shutil.rmtree(package)
    with pytest.raises(BadInput, match="there is no such folder"):
        session_of(package, "FuzzCalm", tmp_path / "t").turn(1.0, 1)


@pytest.mark.parametrize("damage", [b"", b"\xff\x00junk", "cut", "changed"])
@pytest.mark.parametrize("name", ["counts.json", "campaign.json"])
def test_damaged_counts_begin_again(package, tmp_path, name, damage):
    session = session_of(package, "FuzzCalm", tmp_path / "t")
    first = session.turn(1.0, 1)
    path = next((tmp_path / "t").rglob(name))
    good = path.read_bytes()
    if damage == "cut":
        damage = good[:-3]
    elif damage == "changed":
        if name == "campaign.json":
            pytest.skip("a record of other words is another campaign's")
        damage = re.sub(rb'"n": (\d)', lambda found: b'"n": 9' + found[1], good)
    path.write_bytes(damage)
    again = session_of(package, "FuzzCalm", tmp_path / "t")
    assert again.totals() is None
    second = again.turn(0.5, 1)
    assert second.generation != first.generation
    assert any("were damaged" in warning for warning in second.warnings)
