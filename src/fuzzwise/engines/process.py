"""One fuzzing process: started with limits, watched, and never left behind."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzzwise.engines.leftovers import become_heir, end_adopted, marks
from fuzzwise.text import clean

TAIL = 1 << 18
"""Bytes of output that are kept: its end, where the crash report is."""

EXITS = {77: "crash", 70: "timeout", 71: "out-of-memory", 72: "interrupted", 73: "state", 0: "done"}

_ALIVE: set[int] = set()
"""Fuzzing processes that have not been waited for."""


@dataclass(frozen=True)
class Ending:
    """How a fuzzing process ended: what it was, its exit status and the end of its output."""

    kind: str
    status: int
    output: str


class FuzzingProcess:
    """A target under libFuzzer, in a session of its own."""

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        folder: Path,
        workplace: Path | None = None,
    ) -> None:
        """``folder`` is what it may fill; it runs there, or in its ``workplace``."""
        self._tail = bytearray()
        self.printed = 0
        """Bytes that it has printed so far."""
        self._folder = folder
        become_heir()
        _limit()
        self._process = subprocess.Popen(  # noqa: S603
            command,
            cwd=workplace or folder,
            env={**os.environ, **environment, **marks(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # SIGPIPE stays ignored, as it is in Python: a symbolizer that is killed must not take
            # the process, with the crash that it tells of, along.
            restore_signals=False,
        )
        _ALIVE.add(self.pid)
        self._kept_waiting = 0.0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self._process.pid

    @property
    def output(self) -> str:
        """What it has said lately, safe to print."""
        return clean(bytes(self._tail).decode(errors="replace"))

    def kept_waiting(self) -> float:
        """Seconds since this was last asked that it could have run, and had to wait for a core.

        Of its first thread, which is the one that runs inputs; 0 where the kernel does not count.
        """
        try:
            text = Path(f"/proc/{self.pid}/schedstat").read_text()
            in_all = int(text.split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0
        before, self._kept_waiting = self._kept_waiting, in_all
        return max(0.0, in_all - before)

    def ending(self) -> Ending | None:
        """How it ended; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        self._sweep()
        self._clear_up()
        self._reader.join(timeout=2)
        kind = EXITS.get(status, "killed" if status < 0 else "exit")
        if status == -signal.SIGKILL:
            kind = "killed"
        elif status < 0:
            kind = "crash"
        return Ending(kind, status, bytes(self._tail).decode(errors="replace"))

    def kill(self) -> None:
        """End it and everything it started, at once."""
        self._sweep()
        self._process.wait()
        self._clear_up()

    def _clear_up(self) -> None:
        """End what it has left in other sessions, once."""
        if self.pid in _ALIVE:
            _ALIVE.discard(self.pid)
            end_adopted(self._folder.parent, set(_ALIVE))

    def _sweep(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    def _read(self) -> None:
        """Keep the end of what it prints; a target that prints without end fills no memory."""
        stream = self._process.stderr
        assert stream is not None
        with stream:
            while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
                self.printed += len(chunk)
                self._take(chunk)
                self._tail += chunk
                if len(self._tail) > 2 * TAIL:
                    del self._tail[:-TAIL]

    def _take(self, chunk: bytes) -> None:
        """For who reads along, in the thread that reads."""


def wait_for_any(processes: Sequence[FuzzingProcess], seconds: float) -> None:
    """Sleep for so long, or until one of the processes ends."""
    waiting = select.poll()
    handles: list[int] = []
    try:
        for process in processes:
            handles.append(os.pidfd_open(process.pid))
            waiting.register(handles[-1], select.POLLIN)
        waiting.poll(seconds * 1000)
    except ProcessLookupError:
        return  # it has ended, and was waited for
    finally:
        for handle in handles:
            os.close(handle)


@cache
def _limit() -> None:
    """Set limits for what this process starts, once and here.

    Code between fork and exec would make every start copy the tables of this process. That targets
    end with it is seen to by the observer.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = 1 << 40  # no single file beyond 1 TiB: the address space of the state is sparse
    if most == resource.RLIM_INFINITY or most > limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
