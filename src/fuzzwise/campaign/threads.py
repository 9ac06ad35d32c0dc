"""The executor of one machine: turns side by side, one thread a core."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from fuzzwise.campaign.executor import Result, Turn
from fuzzwise.engines.contract import Session, Totals
from fuzzwise.errors import FuzzwiseError

HURRY = 0.5
"""Seconds that sessions have to close once they are told to hurry."""


class Threads:
    """Threads that take turns; they are daemons, so that none of them can hold up the end.

    A thread lives as long as the campaign: the kernel ends the processes that a thread started
    when that thread ends.
    """

    ahead = 0.0

    def __init__(self, sessions: Mapping[str, Session], cores: int) -> None:
        self.cores = cores
        self._sessions = sessions
        self._todo: queue.SimpleQueue[Turn] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._running: dict[int, Turn] = {}
        self._began: dict[int, float] = {}
        for number in range(cores):
            threading.Thread(target=self._work, name=f"core-{number}", daemon=True).start()

    @property
    def running(self) -> Sequence[Turn]:
        """Turns whose results were not handed out yet."""
        return tuple(self._running.values())

    @property
    def free(self) -> int:
        """Cores without work."""
        return self.cores - sum(turn.cores for turn in self._running.values())

    def start(self, turn: Turn) -> None:
        """Begin a turn."""
        self._running[turn.epoch] = turn
        self._began[turn.epoch] = time.monotonic()
        self._todo.put(turn)

    def wait(self, seconds: float) -> list[Result]:
        """The results that are there, or the first that come within so many seconds."""
        found: list[Result] = []
        while True:
            try:
                result = self._done.get(timeout=0 if found else max(0.0, seconds))
            except queue.Empty:
                return found
            del self._running[result.turn.epoch]
            took = time.monotonic() - self._began.pop(result.turn.epoch)
            found.append(replace(result, took=took))

    def under_way(self, turn: Turn) -> float:
        """For how many seconds a turn has had its cores."""
        return time.monotonic() - self._began.get(turn.epoch, time.monotonic())

    def totals(self, target: str) -> Totals | None:
        """What is known of a target; a folder that cannot be read knows nothing."""
        try:
            return self._sessions[target].totals()
        except (FuzzwiseError, OSError):
            return None

    def news(self) -> list[str]:
        """Nothing happens to this machine."""
        return []

    def interrupt(self) -> None:
        """Ask all turns to end."""
        for turn in self._running.values():
            self._sessions[turn.target].interrupt()

    def close(self, seconds: float) -> None:
        """End the sessions that have no turn under way; who still has one is left to the guard."""
        busy = {turn.target for turn in self._running.values()}
        idle = [session for name, session in self._sessions.items() if name not in busy]
        # All at once, and in threads that nobody waits for longer: each may take a moment.
        threads = [
            threading.Thread(target=_close, args=(session,), daemon=True) for session in idle
        ]
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        late = [one for one, thread in zip(idle, threads, strict=True) if thread.is_alive()]
        for session in late:
            session.interrupt()
        deadline = time.monotonic() + HURRY
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while True:
            turn = self._todo.get()
            try:
                session = self._sessions[turn.target]
                result = Result(turn, session.turn(turn.seconds, turn.cores))
            except FuzzwiseError as error:
                result = Result(turn, problem=str(error))
            except OSError as error:
                result = Result(turn, problem=f"The system refused: {error}.")
            except Exception as error:
                # A mistake of ours must not silently cost a core for the rest of the campaign.
                result = Result(turn, problem=f"Unexpected: {type(error).__name__}: {error}.")
            self._done.put(result)


def _close(session: Session) -> None:
    with suppress(FuzzwiseError, OSError):
        session.close()
