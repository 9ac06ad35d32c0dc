"""One process of stock libFuzzer: what it says is read as it says it, and it ends in good order."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.engines.stock.lines import Lines
from fuzzwise.triage.processes import running

AFTER_INPUT = 0.6
"""Seconds to end after the present input, where one that takes longer is not to be found."""

AT_ONCE = 0.4
"""Seconds to end in the midst of an input, before it is killed."""

_BLOCKED = re.compile(r"^SigBlk:\s*([0-9a-f]+)$", re.MULTILINE)
_CAUGHT = re.compile(r"^SigCgt:\s*([0-9a-f]+)$", re.MULTILINE)


class StockProcess(FuzzingProcess):
    """A program with libFuzzer in it, or a script that starts one."""

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        folder: Path,
        workplace: Path | None = None,
    ) -> None:
        self.lines = Lines()
        self.began = time.monotonic()
        super().__init__(command, environment, folder, workplace)

    @property
    def is_mute(self) -> bool:
        """Whether nothing that it says can be heard any more: nobody has its stderr open."""
        return not self._reader.is_alive() and self._process.poll() is None

    @property
    def is_deaf(self) -> bool:
        """Whether it blocks the signal by which it is asked to end."""
        return _is_among(self.pid, _BLOCKED)

    def ask_to_end(self) -> None:
        """Let it end after its present input, with last words; see ``ending``."""
        self._tell_fuzzers(signal.SIGUSR1)

    def end(self, patience: Callable[[], float]) -> None:
        """Let it end with last words, by force after so many seconds for its present input."""
        for request, seconds in ((signal.SIGUSR1, patience), (signal.SIGINT, lambda: AT_ONCE)):
            if not self._tell_fuzzers(request):
                break  # still before libFuzzer's main: there are no last words
            asked = time.monotonic()
            while self.ending() is None and (left := asked + seconds() - time.monotonic()) > 0:
                wait_for_any([self], min(0.1, left))
        self.kill()
        self._reader.join(timeout=2)

    def _tell_fuzzers(self, request: signal.Signals) -> bool:
        """Send a signal to whom of the session knows it, not to shells and the like."""
        if self._process.poll() is not None:
            return False
        found = [self.pid] if _catches(self.pid) else self._others()
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, request)
        return bool(found)

    def _others(self) -> list[int]:
        members = [process.pid for process in running() if process.session == self.pid]
        return [pid for pid in members if _catches(pid)]

    def _take(self, chunk: bytes) -> None:
        self.lines.take(chunk)


def _catches(pid: int) -> bool:
    """Whether a process has a handler for SIGUSR1, as libFuzzer has once it is at work."""
    return _is_among(pid, _CAUGHT)


def _is_among(pid: int, signals: re.Pattern[str]) -> bool:
    """Whether SIGUSR1 is among these signals of a process."""
    try:
        found = signals.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return False
    return found is not None and bool(int(found[1], 16) >> (signal.SIGUSR1 - 1) & 1)
