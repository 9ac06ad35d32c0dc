"""What fuzzing processes leave is ended, and waited for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fuzzwise.engines.leftovers import _children
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.triage.processes import ended

PROCESSES = 20


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def fuzzed(command: str, scratch: Path) -> None:
    process = FuzzingProcess(["/bin/sh", "-c", command], {}, scratch)
    while process.ending() is None:
        wait_for_any([process], 1.0)


def adopted() -> set[int]:
    """Processes that others have started, that have ended, and that nobody has waited for."""
    return {p.pid for p in ended(_children()) if p.session not in (os.getsid(0), p.pid)}


def test_what_ended_by_itself_does_not_fill_the_table_of_processes(scratch):
    for _ in range(PROCESSES):
        fuzzed("(exec true) & (exec true) & exit 77", scratch)
    assert len(adopted()) <= 2  # those of the last one, if they were still at it


@pytest.mark.parametrize("apart", [True, False])
def test_a_child_of_somebody_else_is_left_to_them(scratch, apart):
    child = subprocess.Popen(["/bin/sh", "-c", "exit 7"], start_new_session=apart)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    fuzzed("exit 0", scratch)
    assert child.wait() == 7
