"""The cores of a machine: turns wait here until one is free, with everything made ready before.

Who comes first goes first. A turn that holds its cores long after its time was over is left out of
account: others do not wait for it for ever.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

HUNG = 30.0
"""Seconds after its end at which nobody waits any more for the cores of a turn."""

LOOK = 1.0
"""Seconds between two looks for turns that hang."""


@dataclass(eq=False)
class Place:
    """Cores that a turn has, from ``began`` on.

    ``idle``: seconds for which they had nothing to do before, since the last turn of the same run;
    None where there was none.
    """

    run: str
    cores: int
    seconds: float
    began: float = 0.0
    idle: float | None = None


class Gate:
    """Lets turns through to so many cores; its methods may be called from any thread."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._changed = threading.Condition()
        self._inside: list[Place] = []
        self._waiting: list[Place] = []
        self._left: list[tuple[float, str]] = []
        """When cores were left, and by which run: of those that are free, the first ones first."""

    def enter(
        self, run: str, cores: int, seconds: float, given_up: Callable[[], bool]
    ) -> Place | None:
        """Wait for cores; None where the turn is given up meanwhile."""
        place = Place(run, min(cores, self._cores), seconds)
        with self._changed:
            self._waiting.append(place)
            try:
                while not given_up():
                    if place is self._waiting[0] and place.cores <= self._free():
                        self._take(place)
                        return place
                    self._changed.wait(LOOK)
            finally:
                self._waiting.remove(place)
                self._changed.notify_all()
        return None

    def leave(self, place: Place) -> float:
        """Give cores back; the seconds for which they were taken."""
        now = time.monotonic()
        with self._changed:
            self._inside.remove(place)
            self._left = [*self._left, *[(now, place.run)] * place.cores][-self._cores :]
            self._changed.notify_all()
        return now - place.began

    def stir(self) -> None:
        """Have those who wait look again whether they are given up."""
        with self._changed:
            self._changed.notify_all()

    def _free(self) -> int:
        long_ago = time.monotonic() - HUNG
        taken = (place.cores for place in self._inside if place.began + place.seconds > long_ago)
        return self._cores - sum(taken)

    def _take(self, place: Place) -> None:
        now = time.monotonic()
        left, self._left = self._left[: place.cores], self._left[place.cores :]
        place.began = now
        place.idle = max((now - at for at, run in left if run == place.run), default=None)
        self._inside.append(place)
