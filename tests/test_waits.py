"""Waits of tests that are hopeless end at once, with the words of the command that ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commands import Started
from waiting import wait_until


def test_a_command_that_has_ended_is_waited_for_no_more(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with Started("run", missing) as process, pytest.raises(AssertionError) as failure:
        wait_until(lambda: False, "inputs", by=process)
    told = " ".join(str(failure.value).split())
    assert told.startswith("waited in vain for inputs: the command ended with 2, and said:")
    assert "missing.toml" in told


def test_a_process_that_has_ended_after_its_work_has_done_it(tmp_path: Path) -> None:
    words = [sys.executable, "-c", f"open({str(tmp_path / 'made')!r}, 'w')"]
    with subprocess.Popen(words, text=True) as process:
        wait_until((tmp_path / "made").exists, "the file", by=process)
        process.wait()
        wait_until((tmp_path / "made").exists, "the file", by=process)
