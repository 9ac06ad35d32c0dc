"""Turns side by side: one thread a core, results in the order in which they come."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass

from fuzzwise.campaign.session import Session, Totals
from fuzzwise.errors import FuzzwiseError


@dataclass(frozen=True)
class Turn:
    """An epoch under way: which target, how long, on how many cores."""

    target: str
    session: Session
    epoch: int
    seconds: float
    cores: int


@dataclass(frozen=True)
class Result:
    """What came of it: totals, or a sentence about what went wrong."""

    turn: Turn
    totals: Totals | None
    problem: str = ""


class Lanes:
    """Threads that take turns; they are daemons, so that none of them can hold up the end.

    A thread lives as long as the campaign: the kernel ends the processes that a thread started
    when that thread ends.
    """

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._todo: queue.SimpleQueue[Turn] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self.running: dict[int, Turn] = {}
        for number in range(cores):
            threading.Thread(target=self._work, name=f"core-{number}", daemon=True).start()

    @property
    def free(self) -> int:
        """Cores without work."""
        return self._cores - sum(turn.cores for turn in self.running.values())

    def start(self, turn: Turn) -> None:
        """Begin a turn."""
        self.running[turn.epoch] = turn
        self._todo.put(turn)

    def wait(self, seconds: float) -> list[Result]:
        """The results that are there, or come within so many seconds."""
        found: list[Result] = []
        while True:
            try:
                result = self._done.get(timeout=0 if found else max(0.0, seconds))
            except queue.Empty:
                return found
            del self.running[result.turn.epoch]
            found.append(result)

    def interrupt(self) -> None:
        """Ask all turns to end."""
        for turn in self.running.values():
            turn.session.interrupt()

    def _work(self) -> None:
        while True:
            turn = self._todo.get()
            try:
                result = Result(turn, turn.session.turn(turn.seconds, turn.cores))
            except FuzzwiseError as error:
                result = Result(turn, None, str(error))
            except OSError as error:
                result = Result(turn, None, f"The system refused: {error}.")
            except Exception as error:
                # A mistake of ours must not silently cost a core for the rest of the campaign.
                result = Result(turn, None, f"Unexpected: {type(error).__name__}: {error}.")
            self._done.put(result)
