"""afl-fuzz, which is started once, paused, goes on, and is never left behind."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.aflplusplus.program import TO_STDERR
from fuzzwise.engines.process import FuzzingProcess, wait_for_any

END_WAIT = 1.0
"""Seconds that afl-fuzz has to write its statistics, before it is killed."""

_SEGMENTS = Path("/proc/sysvipc/shm")
_REMOVE = 0  # IPC_RMID
_ABORT = re.compile(r"(?:PROGRAM ABORT|SYSTEM ERROR) : (.+)")
_SYSTEM = re.compile(r"OS message : (.+)")
_SEED = re.compile(r"dry run with '([^']+)'")
_BAD_SEED = re.compile(r"Test case .*results in a (crash|timeout)")


class AflProcess(FuzzingProcess):
    """One afl-fuzz.

    Paused, it alone is stopped: its target ends its run and waits in the fork server, so that no
    run takes longer for it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        folder: Path,
        workplace: Path | None = None,
    ) -> None:
        super().__init__([*TO_STDERR, *command], environment, folder, workplace)
        self.is_paused = False

    def pause(self) -> None:
        """Stop it where it is."""
        self.is_paused = True
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        self.is_paused = False
        self._signal(signal.SIGCONT)

    def end(self) -> None:
        """Let it finish, by force after a while."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        deadline = time.monotonic() + END_WAIT
        while self.ending() is None and time.monotonic() < deadline:
            wait_for_any([self], 0.1)
        self.kill()

    def kill(self) -> None:
        """End it and everything it started, at once, with its shared memory."""
        super().kill()
        _remove_segments(self.pid)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def complaint(output: str) -> str:
    """Why afl-fuzz gave up, in its own words; "" where it did not say so."""
    found = _ABORT.findall(output)
    if not found:
        return ""
    system = _SYSTEM.findall(output)
    return " ".join(f"{found[-1]} {f'({system[-1]})' if system else ''}".split())[:300]


def tried(output: str) -> int:
    """Entries of the queue that it has begun to run."""
    return len(_SEED.findall(output))


def bad_seeds(output: str) -> dict[str, str]:
    """Entries of the queue that did not get through the dry run: "crash" or "timeout"."""
    found, name = {}, ""
    for line in output.splitlines():
        if tried := _SEED.search(line):
            name = tried[1]
        elif name and (bad := _BAD_SEED.search(line)):
            found[name] = bad[1]
    return found


def _remove_segments(pid: int) -> None:
    """Remove shared memory that a process, which is no more, has made and left.

    The observer sees to that from the first run on; this is for one that was killed before.
    """
    try:
        rows = [line.split() for line in _SEGMENTS.read_text().splitlines()[1:]]
    except OSError:
        return
    remove = ctypes.CDLL(None).shmctl
    for row in rows:
        if row[4] == str(pid):  # cpid
            remove(int(row[1]), _REMOVE, None)
