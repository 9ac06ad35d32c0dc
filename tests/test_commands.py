"""Commands that are forked are processes like any other: what tests see of them is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from builds import compiled
from commands import Started, fuzzwise


@pytest.mark.parametrize(
    "words", [("--version",), ("status", "nothing"), ("simulate", "--inputs", "none"), ("fuz",)]
)
def test_it_prints_and_ends_like_one_that_is_started(tmp_path: Path, words: tuple[str, ...]):
    started = subprocess.run(
        [sys.executable, "-m", "fuzzwise", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    forked = fuzzwise(*words, cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode, started.stdout, started.stderr,
    )  # fmt: skip


def test_it_has_its_own_folder_and_variables(tmp_path: Path):
    (tmp_path / "here.txt").write_text("")
    told = fuzzwise("estimate", "here.txt", cwd=tmp_path).stderr
    assert "here.txt" in told
    assert "no such file" not in told
    shown = [
        fuzzwise("status", "--help", env={**os.environ, "COLUMNS": columns}).stdout
        for columns in ("50", "100")
    ]
    assert [max(map(len, text.splitlines())) > 60 for text in shown] == [False, True]


def fuzzer_log(folder: Path) -> Path:
    """Of a campaign that goes on."""
    log = folder / "fuzz.log"
    log.write_text("INFO: Seed: 1\n#2\tINITED cov: 3 ft: 3 corp: 1/1b exec/s: 0 rss: 30Mb\n")
    return log


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_signal_is_for_the_command_itself(tmp_path: Path, number: int, code: int):
    log = fuzzer_log(tmp_path)
    with Started("watch", log, "--follow", "--every", "100ms") as process:
        assert process.poll() is None
        process.send_signal(number)
        process.communicate()
    assert process.returncode == code


def test_one_that_takes_too_long_is_killed(tmp_path: Path):
    log = fuzzer_log(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        fuzzwise("watch", log, "--follow", timeout=0.5)


def test_a_build_is_made_again_when_what_it_is_made_of_has_changed(tmp_path: Path):
    source, header, target = tmp_path / "a.c", tmp_path / "number.h", tmp_path / "a"
    source.write_text('#include "number.h"\nint main(void) { return NUMBER; }\n')
    ended = []
    for number, flags in ((3, ()), (4, ()), (4, ("-DMORE",)), (3, ())):
        header.write_text(f"#define NUMBER {number}\n")
        compiled(["cc", *flags, source], target)
        ended.append(subprocess.run([target], check=False).returncode)
    assert ended == [3, 4, 4, 3]
