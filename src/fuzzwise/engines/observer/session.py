"""Turns of a fuzzer that keeps all counts in its folder: libFuzzer, stock, Go."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from fuzzwise.engines.contract import NothingYet, Totals
from fuzzwise.engines.observer.folder import AnotherBuild, CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import why_counts_began_again
from fuzzwise.engines.telling import Telling

TICK, LOOKS = 0.25, 8
"""Seconds between two looks at the counts, in a turn of at least so many of them."""


class TurnOfFuzzing(Protocol):
    """What fuzzes during one turn."""

    def run(self, seconds: float, watch: Callable[[], None]) -> None:
        """Fuzz for so long; ``watch`` is called at each look at the counts."""

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""


Fuzzing = TypeVar("Fuzzing", bound=TurnOfFuzzing)


class FolderSession(ABC, Generic[Fuzzing]):
    """Fuzzes for a turn; all counts are in the folder, between turns there is no process.

    Counts that belong to another build, or are damaged, are put aside, and the next ones begin
    with the corpus that there is.
    """

    def __init__(self, folder: CampaignFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # of the two below
        self._fuzzing: Fuzzing | None = None
        self._stop = False
        self._telling = Telling(self._read)
        self._said: tuple[str, ...] = ()
        """Why counts began again, for all later turns."""

    @abstractmethod
    def _read(self) -> Totals | None:
        """What the folder tells; None where there is nothing yet, or it is damaged."""

    @abstractmethod
    def _turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long with the counts of the folder, by ``_run``."""

    @abstractmethod
    def _told(self, fuzzing: Fuzzing) -> Totals:
        """How far a turn is."""

    def interrupt(self) -> None:
        """End the present turn at once, or the next one."""
        with self._lock:
            self._stop = True
            if self._fuzzing:
                self._fuzzing.interrupt()

    def close(self) -> None:
        """Between turns there is nothing to end."""

    def totals(self) -> Totals | None:
        """What is known: in the midst of a turn, how far it was a moment ago."""
        return self._telling.totals()

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        try:
            with self._telling.turn():
                try:
                    return self._turn(seconds, jobs)
                except (AnotherBuild, DamagedState) as problem:
                    self._said = (*self._said, why_counts_began_again(problem))
                self._begin_again()
                return self._turn(seconds, jobs)
        finally:
            with self._lock:
                self._fuzzing, self._stop = None, False

    def _begin_again(self) -> None:
        """Put the counts aside."""
        self._folder.begin_again()

    def _run(self, fuzzing: Fuzzing, seconds: float) -> Totals:
        """Fuzz, unless it is interrupted before, and tell on the way how far it is."""
        with self._lock:
            self._fuzzing = fuzzing
            if self._stop:
                fuzzing.interrupt()
        with suppress(NothingYet):
            fuzzing.run(seconds, lambda: self._telling.say(self._told(fuzzing)))
        return self._told(fuzzing)


def tick(seconds: float) -> float:
    """How long to wait between two looks in a turn of so many seconds."""
    return min(TICK, max(0.1, seconds / LOOKS))
