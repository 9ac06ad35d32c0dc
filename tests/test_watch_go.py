"""Logs of ``go test -fuzz``: groups of discoveries, restarts, damage, and a real one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import go_target
from campaign_files import wait_until
from fuzzwise.errors import BadInput
from fuzzwise.validation import problems
from fuzzwise.watch.recognise import open_sources, read

START = """\
fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed
fuzz: elapsed: 0s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers
"""
LOG = f"""{START}\
fuzz: elapsed: 3s, execs: 1012 (337/sec), new interesting: 4 (total: 16)
fuzz: elapsed: 6s, execs: 2012 (333/sec), new interesting: 4 (total: 16)
fuzz: elapsed: 9s, execs: 4012 (666/sec), new interesting: 5 (total: 17)
"""
FAILED = """\
--- FAIL: FuzzX (9.01s)
    --- FAIL: FuzzX (0.00s)
        x_test.go:13: no

    Failing input written to testdata/fuzz/FuzzX/acf5e27b9fcea4d3
    To re-run:
    go test -run=FuzzX/acf5e27b9fcea4d3
FAIL
exit status 1
FAIL	example.org/x	9.02s
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "go.log"
    path.write_text(text)
    return path


def test_discoveries_lie_between_two_lines(tmp_path):
    (seen,) = read([written(tmp_path, LOG)])
    now = seen.observation
    assert (seen.kind, seen.corpus, seen.crashes, seen.said_the_end) == ("go test", 17, 0, False)
    assert (now.n, now.seconds, now.last_discovery_seconds) == (4000, 9.0, 9.0)
    assert now.discoveries.tolist() == [250, 500, 750, 1000, 4000]
    assert now.counted_at.tolist() == [0, 1000, 2000, 4000]
    assert not seen.exact
    assert not list(problems(now))


def test_no_command_is_promised_that_would_count_more(tmp_path):
    words = [sys.executable, "-m", "fuzzwise", "watch", str(written(tmp_path, LOG))]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "which Go's fuzzer does not tell" in " ".join(shown.split())
    assert "`fuzzwise fuzz" not in shown


def test_a_restart_counts_on_and_its_seeds_do_not_count(tmp_path):
    again = START.replace("12/12", "17/17").replace("0/12", "0/17")
    again += "fuzz: elapsed: 1m3s, execs: 517 (8/sec), new interesting: 2 (total: 19)\n"
    (seen,) = read([written(tmp_path, LOG + FAILED + again)])
    assert seen.observation.n == 4500
    assert seen.observation.seconds == 72.0
    assert seen.observation.discoveries.tolist()[-2:] == [4250, 4500]
    assert (seen.crashes, seen.corpus, seen.said_the_end) == (1, 19, False)
    assert any(note.startswith("1 restarts") for note in seen.notes)


def test_an_empty_corpus_has_no_baseline(tmp_path):
    text = (
        "warning: starting with empty corpus\n"
        "fuzz: elapsed: 0s, execs: 0 (0/sec), new interesting: 0 (total: 0)\n"
        "fuzz: elapsed: 1s, execs: 300 (300/sec), new interesting: 3 (total: 3)\n"
    )
    (seen,) = read([written(tmp_path, text + FAILED)])
    assert seen.observation.n == 300
    assert seen.observation.discoveries.tolist() == [100, 200, 300]
    assert (seen.crashes, seen.said_the_end) == (1, True)


def test_without_coverage_nobody_knows_what_is_new(tmp_path):
    text = "fuzz: elapsed: 3s, execs: 900 (300/sec)\n"
    (seen,) = read([written(tmp_path, text)])
    assert seen.observation.n == 900
    assert seen.observation.discoveries is None
    assert "without coverage" in seen.notes[0]


def test_a_log_that_grows_is_read_on(tmp_path):
    path = written(tmp_path, START)
    (source,) = open_sources([path])
    with pytest.raises(BadInput, match="no line with counts"):
        source.read()
    for end in range(len(START), len(LOG), 37):
        path.write_text(LOG[:end])
        try:
            assert source.read().observation.n <= 4000
        except BadInput:
            continue
    path.write_text(LOG)
    assert source.read().observation.discoveries.tolist() == [250, 500, 750, 1000, 4000]


def test_numbers_that_nobody_counts_to_are_left_out(tmp_path):
    huge = "9" * 16
    lines = f"fuzz: elapsed: 3s, execs: {huge} (1/sec), new interesting: {huge} (total: 1)\n"
    (seen,) = read([written(tmp_path, LOG + lines * 50)])
    assert not list(problems(seen.observation))


def test_a_log_of_more_discoveries_than_any_corpus_is_damage(tmp_path):
    text = START + "".join(
        f"fuzz: elapsed: 3s, execs: {100_012 * i} (1/sec), new interesting: {100_000 * i} "
        "(total: 1)\n"
        for i in range(1, 40)
    )
    with pytest.raises(BadInput, match="is damaged"):
        read([written(tmp_path, text)])


STATUS = re.compile(r"^fuzz: .* execs: (\d+) .*new interesting: (\d+)", re.MULTILINE)


def test_a_real_log_against_a_recount_and_its_fuzzer_is_found_and_ended(tmp_path):
    go = go_target.need_go()
    package = go_target.module(tmp_path) / "ini"
    log = tmp_path / "go.log"
    words = [str(go), "test", "-run=^$", "-fuzz=^FuzzCalm$", "-fuzztime=1h", "."]
    with log.open("wb") as file:
        fuzzer = subprocess.Popen(words, cwd=package, stdout=file, stderr=file)
    try:
        wait_until(lambda: len(STATUS.findall(log.read_text())) >= 2, "two lines")
        (source,) = open_sources([log])
        (process,) = source.read().processes
        os.kill(process.pid, signal.SIGINT)
        assert fuzzer.wait(600) == 0
    finally:
        fuzzer.kill()
        fuzzer.wait()
    seen = source.read()
    text = log.read_text()
    seeds = int(re.findall(r"baseline coverage: (\d+)/\1 completed, now", text)[-1])
    execs, new = map(int, STATUS.findall(text)[-1])
    assert seen.observation.n == execs - seeds
    assert len(seen.observation.discoveries) == new > 0
    assert seen.said_the_end
    assert not seen.processes
