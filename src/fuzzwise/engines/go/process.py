"""One process of Go's fuzzer: what it says is read as it says it, and it ends in good order."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.go.lines import Lines
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.triage.processes import running

IN_ORDER = 0.8
"""Seconds to end with last words; workers look up every 0.1 s."""


class GoProcess(FuzzingProcess):
    """A compiled test that coordinates its workers, in one session with them."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], folder: Path) -> None:
        self.lines = Lines()
        self.began = time.monotonic()
        super().__init__(command, environment, folder)

    def end(self, seconds: float = IN_ORDER) -> None:
        """Let it end with last words, by force after a while."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGINT)
        self.wait(seconds)
        self.kill()
        self._reader.join(timeout=2)

    def abort_inputs(self) -> None:
        """End the workers in the midst of their inputs: the fuzzer takes these as failing."""
        for process in running():
            if process.session == self.pid and process.pid != self.pid:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGABRT)

    def wait(self, seconds: float) -> None:
        """Until it has ended, but not for longer."""
        deadline = time.monotonic() + seconds
        while self.ending() is None and (left := deadline - time.monotonic()) > 0:
            wait_for_any([self], min(0.1, left))

    def _take(self, chunk: bytes) -> None:
        self.lines.take(chunk)
