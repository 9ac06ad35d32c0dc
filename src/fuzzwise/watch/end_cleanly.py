"""Ending other people's fuzzers in the way they expect, and never by force."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Collection
from dataclasses import dataclass

from fuzzwise.errors import BadInput
from fuzzwise.watch.reading import Process
from fuzzwise.watch.source import Source

PATIENCE = 10.0
"""Seconds that a fuzzer has to end; some finish the input at hand and write their files."""
ROUND = 0.5
"""Seconds after which it is asked again who writes the files: jobs come and go."""


@dataclass(frozen=True)
class Ending:
    """What became of the processes: a sentence each, and whether all have ended."""

    sentences: tuple[str, ...]
    clean: bool


def end_cleanly(source: Source, spare: Collection[int] = (), patience: float = PATIENCE) -> Ending:
    """Send each process that writes the source's files its stop signal, and wait for its end.

    Each gets it once, also one that was started meanwhile. ``spare``: processes that also work for
    a campaign that is to go on.
    """
    deadline = time.monotonic() + patience
    asked = _Asked()
    try:
        while True:
            asked.ask(source, {*spare, os.getpid(), 0, 1})
            left = deadline - time.monotonic()
            if not asked.wait(min(ROUND, left)) or left <= 0:
                break
        return asked.ending(patience)
    finally:
        asked.close()


class _Asked:
    """Processes that were sent their signal, each with a handle (pidfd) on it."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[Process, int]] = {}
        self._ended: list[str] = []
        self._refused: dict[int, str] = {}

    def ask(self, source: Source, spare: Collection[int]) -> None:
        """Send the signal to those that did not get it yet.

        The handles are opened before the source is asked again who writes the files. So what is
        still named then is the process of the handle, and a number that was given to another
        process cannot be hit.
        """
        known = {*spare, *self._running, *self._refused}
        handles = {}
        for process in _processes(source):
            if process.pid not in known and process.pid not in handles:
                try:
                    handles[process.pid] = os.pidfd_open(process.pid)
                except ProcessLookupError:
                    pass
                except OSError as error:
                    self._refuse(process, error)
        for process in _processes(source) if handles else ():
            handle = handles.pop(process.pid, None)
            if handle is None:
                continue
            try:
                signal.pidfd_send_signal(handle, process.stop_signal)
                self._running[process.pid] = (process, handle)
            except OSError as error:
                os.close(handle)
                if not isinstance(error, ProcessLookupError):
                    self._refuse(process, error)
        for handle in handles.values():
            os.close(handle)

    def wait(self, seconds: float) -> bool:
        """Wait until all have ended, at most so long; whether one still runs."""
        end = time.monotonic() + seconds
        while self._running:
            poll = select.poll()
            for _, handle in self._running.values():
                poll.register(handle, select.POLLIN)  # readable when its process has ended
            ready = {handle for handle, _ in poll.poll(max(0.0, end - time.monotonic()) * 1000)}
            if not ready:
                return True
            for pid, (process, handle) in list(self._running.items()):
                if handle in ready:
                    os.close(handle)
                    del self._running[pid]
                    name = process.stop_signal.name
                    self._ended.append(f"Sent {name} to process {pid}; it has ended.")
        return False

    def ending(self, patience: float) -> Ending:
        """What there is to say."""
        said = [*self._ended, *self._refused.values()]
        said += [
            f"Sent {process.stop_signal.name} to process {pid}, but it still runs after "
            f"{patience:g} s. End it yourself."
            for pid, (process, _) in self._running.items()
        ]
        if not said:
            none = "No process that writes these files was found, so none was stopped."
            return Ending((none,), clean=False)
        return Ending(tuple(said), clean=not (self._running or self._refused))

    def close(self) -> None:
        """Let go of the processes."""
        for _, handle in self._running.values():
            os.close(handle)

    def _refuse(self, process: Process, error: OSError) -> None:
        name = process.stop_signal.name
        self._refused[process.pid] = (
            f"Process {process.pid} could not be sent {name} ({error.strerror}). "
            f"Its owner can: kill -{name.removeprefix('SIG')} {process.pid}"
        )


def _processes(source: Source) -> tuple[Process, ...]:
    try:
        return source.read().processes
    except BadInput:
        return ()
