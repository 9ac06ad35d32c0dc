"""What fuzzing processes leave is ended, and waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzzwise.engines.leftovers import Guard, _children
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.triage.processes import children, ended, running
from waiting import wait_until

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


OWNER_THAT_FORKS = """
import os, sys, time
from pathlib import Path
from fuzzwise.engines.leftovers import Guard
from fuzzwise.engines.process import FuzzingProcess
out = Path(sys.argv[1])
with Guard(out):
    command = ["/bin/sh", "-c", "setsid sleep 600 & exec sleep 600"]
    process = FuzzingProcess(command, {}, out / "scratch")
    print(process.pid, flush=True)
    time.sleep(600)
"""


@contextmanager
def killed_owner(out: Path) -> Iterator[tuple[int, list[int]]]:
    """A fuzzwise that was killed at work: its guard, which has not begun yet, and what it left."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER_THAT_FORKS, out], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        first = int(owner.stdout.readline())
        wait_until(lambda: children(first), "what it has in another session")
        left = [first, *children(first)]
        (guard,) = set(children(owner.pid)) - {first}
        os.kill(guard, signal.SIGSTOP)
        try:
            owner.kill()
            owner.wait()
            yield guard, left
        finally:
            for pid in (guard, *left):
                if is_at_work(pid):
                    os.kill(pid, signal.SIGKILL)


def is_at_work(pid: int) -> bool:
    return any(process.pid == pid for process in running())


def test_a_guard_ends_what_its_owner_left_and_nothing_of_the_next_one(scratch):
    with killed_owner(scratch.parent) as (guard, left):
        next_one = FuzzingProcess(["/bin/sleep", "600"], {}, scratch)
        try:
            os.kill(guard, signal.SIGCONT)
            wait_until(lambda: not is_at_work(guard), "the end of the guard")
            assert not any(map(is_at_work, left))
            assert next_one.ending() is None
        finally:
            next_one.kill()


def test_what_a_killed_owner_left_without_a_guard_is_ended_by_the_next_one(scratch):
    with killed_owner(scratch.parent) as (guard, left):
        os.kill(guard, signal.SIGKILL)
        with Guard(scratch.parent):
            wait_until(lambda: not any(map(is_at_work, left)), "the end of what was left")
