"""Files that real fuzzers wrote, read and compared with what the target itself counted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from blackbox_target import processes_with
from fuzzer_files import build, check, run, start, watched
from fuzzwise.watch.recognise import open_sources, read


@pytest.fixture(scope="module")
def libfuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("libfuzzer"), "ini", "clang")


@pytest.fixture(scope="module")
def afl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    target = build(tmp_path_factory.mktemp("afl"), "ini", "afl-clang-fast")
    yield target
    for pid in processes_with(str(target)):  # a killed afl-fuzz leaves its target stopped
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    folder = tmp_path / "seeds"
    folder.mkdir()
    for name, content in {"a": "a=b\n", "b": "[x]\nk=v\n", "c": "hello"}.items():
        (folder / name).write_text(content)
    return folder


# ── libFuzzer ─────────────────────────────────────────────────────────────────────────────────


def test_a_plain_log_names_exactly_the_inputs_that_the_target_saw_something_new_on(
    libfuzzer: Path, tmp_path: Path
) -> None:
    for seconds in (2, 8, 32):  # until there are enough discoveries
        home = tmp_path / str(seconds)
        counts, log, corpus = home / "counts", home / "fuzz.log", home / "corpus"
        corpus.mkdir(parents=True)
        began = time.monotonic()
        run([libfuzzer, f"-max_total_time={seconds}", "-seed=1", corpus], counts, log)
        passed = time.monotonic() - began
        truth = watched(counts)
        if len(truth.discoveries) > 60:
            break
    reading = check(read([log])[0])
    loaded = truth.executions - reading.observation.n
    assert 1 <= loaded <= 3
    own = truth.discoveries[truth.discoveries > loaded] - loaded
    assert np.array_equal(reading.observation.discoveries, own)
    assert len(own) > 50
    assert reading.kind == "libFuzzer"
    assert reading.exact
    assert reading.crashes == 0
    assert reading.observation.seconds is not None
    assert 1 <= reading.observation.seconds <= passed + 1


def test_a_killed_process_and_its_successor_in_one_log_count_on(
    libfuzzer: Path, tmp_path: Path
) -> None:
    counts, log, corpus = tmp_path / "counts", tmp_path / "fuzz.log", tmp_path / "corpus"
    corpus.mkdir()
    source = None
    process = start([libfuzzer, "-seed=1", corpus], counts, log)
    try:
        _until(lambda: _has_status(log))
        source = open_sources([log])[0]
        _until(lambda: source.read().observation.n > 20_000)
        assert [p.pid for p in source.read().processes] == [process.pid]
    finally:
        process.kill()
        process.wait()
    first = check(source.read())
    assert first.processes == ()
    executed = watched(counts).executions
    run([libfuzzer, "-runs=100000", "-seed=2", corpus], counts, log)
    both = check(source.read())
    again = check(read([log])[0])
    assert again.observation.n == both.observation.n
    assert np.array_equal(again.observation.discoveries, both.observation.discoveries)
    # The second process executed 100,000 inputs, those of the corpus among them.
    assert executed + 100_000 == watched(counts).executions
    assert both.observation.n - first.observation.n >= 99_000
    assert both.observation.n < executed + 100_000
    assert any("restart" in note for note in both.notes)


def test_a_fuzzer_is_found_behind_tee(libfuzzer: Path, tmp_path: Path) -> None:
    counts, log = tmp_path / "counts", tmp_path / "fuzz.log"
    environment = {**os.environ, "WATCHED": str(counts)}
    fuzzer = subprocess.Popen(
        [libfuzzer, "-seed=1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    )
    tee = subprocess.Popen(["tee", log], stdin=fuzzer.stdout, stdout=subprocess.DEVNULL)
    assert fuzzer.stdout is not None
    fuzzer.stdout.close()
    try:
        _until(lambda: log.exists() and _has_status(log))
        (found,) = read([log])[0].processes
        assert found.pid == fuzzer.pid
        os.kill(found.pid, found.stop_signal)
        assert fuzzer.wait(timeout=600) == 72  # libFuzzer's status when it was interrupted
    finally:
        fuzzer.kill()
        fuzzer.wait()
        tee.wait(timeout=600)


def test_fork_mode_counts_every_job_but_the_latest(libfuzzer: Path, tmp_path: Path) -> None:
    for seconds in (4, 16, 64):  # until there are enough inputs
        home = tmp_path / str(seconds)
        counts, log, corpus = home / "counts", home / "fuzz.log", home / "corpus"
        corpus.mkdir(parents=True)
        words = [libfuzzer, "-fork=1", f"-max_total_time={seconds}", "-seed=1", corpus]
        run(words, counts, log)
        reading = check(read([log])[0])
        if reading.observation.n > 10_000:
            break
    o, truth = reading.observation, watched(counts)
    assert not reading.exact
    assert 10_000 < o.n < truth.executions
    by_then = int((truth.discoveries <= o.n).sum())
    assert o.discoveries is not None
    assert 0.7 * by_then <= len(o.discoveries) <= 1.3 * by_then


def test_the_logs_of_a_jobs_run_are_one_campaign(libfuzzer: Path, tmp_path: Path) -> None:
    counts, folder, corpus = tmp_path / "counts", tmp_path / "logs", tmp_path / "corpus"
    folder.mkdir()
    corpus.mkdir()
    words = [libfuzzer, "-jobs=2", "-workers=2", "-max_total_time=2", "-reload=0", corpus]
    run(words, counts, tmp_path / "main.log", folder)
    reading = check(read([folder])[0])
    apart = read([folder / "fuzz-0.log", folder / "fuzz-1.log"])
    assert reading.observation.n == sum(r.observation.n for r in apart)
    executions = watched(counts).executions
    assert executions - 300 <= reading.observation.n <= executions
    assert any("2 logs of jobs" in note for note in reading.notes)


# ── AFL++ ─────────────────────────────────────────────────────────────────────────────────────


def test_inputs_of_afl_are_its_executions_without_calibration(
    afl: Path, seeds: Path, tmp_path: Path
) -> None:
    counts, out = tmp_path / "counts", tmp_path / "out"
    words = ["-i", seeds, "-o", out, "--", afl]
    run(["afl-fuzz", "-s1", "-E20000", *words], counts, tmp_path / "log")
    reading = check(read([out])[0])
    stats, truth, o = _stats(out / "default"), watched(counts), reading.observation
    assert o.discoveries is not None
    assert len(o.discoveries) == int(stats["corpus_found"])
    assert reading.corpus == int(stats["corpus_count"])
    assert reading.version == stats["afl_version"]
    # Calibration executes an input again and again; the target sees that.
    fresh = truth.executions - truth.repeats
    assert fresh * 0.97 <= o.n <= fresh * _most(stats)
    assert reading.exact
    assert o.seconds == pytest.approx(int(stats["run_time"]), abs=1.5)
    assert read([out / "default"])[0].observation.n == o.n


def test_two_instances_are_one_campaign_and_imports_count_once(
    afl: Path, seeds: Path, tmp_path: Path
) -> None:
    counts, out = tmp_path / "counts", tmp_path / "out"
    words = ["-E15000", "-i", seeds, "-o", out, "--", afl]
    run(["afl-fuzz", "-s1", "-Ssecond", *words], counts, tmp_path / "second.log")
    time.sleep(1.1)  # AFL++ writes in whole seconds when an instance began
    # This one takes over what the other has found before it begins (AFL_IMPORT_FIRST).
    run(["afl-fuzz", "-s2", "-Mmain", *words], counts, tmp_path / "main.log")
    reading = check(read([out])[0])
    parts = [_stats(out / name) for name in ("main", "second")]
    o = reading.observation
    assert o.discoveries is not None
    assert len(o.discoveries) == sum(int(part["corpus_found"]) for part in parts)
    assert sum(int(part["corpus_imported"]) for part in parts) > 0
    truth = watched(counts)
    fresh = truth.executions - truth.repeats
    assert fresh * 0.95 <= o.n <= fresh * _most(parts[0])
    alone = [r.observation.n for r in read([out / "main", out / "second"])]
    assert o.n == sum(alone)
    assert any("2 instances" in note for note in reading.notes)
    # One after the other: the later one's discoveries come after all inputs of the first.
    after = sum(int(number) > alone[1] for number in o.discoveries)
    assert after == int(parts[0]["corpus_found"])


def test_a_campaign_killed_and_resumed_twice_is_stitched(
    afl: Path, seeds: Path, tmp_path: Path
) -> None:
    counts, out, log = tmp_path / "counts", tmp_path / "out", tmp_path / "log"
    run(["afl-fuzz", "-s1", "-E5000", "-i", seeds, "-o", out, "--", afl], counts, log)
    first = check(read([out])[0])
    source = open_sources([out])[0]
    process = start(["afl-fuzz", "-s2", "-i", "-", "-o", out, "--", afl], counts, log)
    try:
        _until(
            lambda: (
                len(source.read().observation.discoveries) > len(first.observation.discoveries) + 2
            )
        )
        assert [p.pid for p in check(source.read()).processes] == [process.pid]
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    second = check(source.read())
    before = watched(counts)
    run(["afl-fuzz", "-s3", "-V1", "-i", "-", "-o", out, "--", afl], counts, log)
    third = check(source.read())
    assert third.processes == ()
    # Every entry that was ever found is still one, in the order in which it was found.
    found = [r.observation.discoveries for r in (first, second, third)]
    assert len(found[0]) < len(found[1])
    assert len(found[1]) - 1 <= len(found[2])  # it may have been killed before it wrote the last
    assert np.array_equal(found[2][: len(found[0])], found[0])
    assert len(found[2]) == len(list((out / "default" / "queue").glob("id:*"))) - 3
    # What the killed process had not written down is lost: never too many inputs.
    truth = watched(counts)
    assert third.observation.n < truth.executions - truth.repeats * 0.9
    made = truth.executions - truth.repeats - (before.executions - before.repeats)
    assert third.observation.n - second.observation.n >= 0.5 * made - 100
    again = check(read([out])[0])
    assert np.array_equal(again.observation.discoveries, found[2])


def _stats(folder: Path) -> dict[str, str]:
    lines = (folder / "fuzzer_stats").read_text().splitlines()
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _most(stats: dict[str, str]) -> float:
    """Later versions have deterministic stages, which make some inputs twice in a row."""
    return 1.01 if stats["afl_version"].startswith("++4.0") else 1.1


def _has_status(log: Path) -> bool:
    """Whether libFuzzer has written a status line, up to its end: it writes them in pieces."""
    return re.search(rb"INITED[^\n]*\n", log.read_bytes()) is not None


def _until(condition, seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the fuzzer did not get so far"
        time.sleep(0.05)
