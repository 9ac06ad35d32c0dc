"""The cores of a machine: turns wait here until one is free, with everything made ready before.

Who comes first goes first. A turn that holds its cores long after its time was over is left out of
account: others do not wait for it for ever.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

HUNG = 30.0
"""Seconds after its end at which nobody waits any more for the cores of a turn."""

LOOK = 1.0
"""Seconds between two looks for turns that hang."""


@dataclass(eq=False)
class Place:
    """Cores that a turn has, from ``began`` on; 0 as long as it waits for them.

    ``idle``: seconds for which they had nothing to do before, since the last turn of the same run;
    None where there was none. ``called``: it has them, or is not to have them any more.
    """

    run: str
    cores: int
    seconds: float
    given_up: Callable[[], bool]
    began: float = 0.0
    idle: float | None = None
    called: threading.Event = field(default_factory=threading.Event)


class Gate:
    """Lets turns through to so many cores; its methods may be called from any thread.

    Nobody is woken but whose turn it is: hundreds may wait.
    """

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._lock = threading.Lock()  # of all below
        self._inside: list[Place] = []
        self._waiting: deque[Place] = deque()
        self._left: list[tuple[float, str]] = []
        """When cores were left, and by which run: of those that are free, the first ones first."""

    def enter(
        self, run: str, cores: int, seconds: float, given_up: Callable[[], bool]
    ) -> Place | None:
        """Wait for cores; None where the turn is given up meanwhile."""
        place = Place(run, min(cores, self._cores), seconds, given_up)
        with self._lock:
            self._waiting.append(place)
            self._call()
        while not place.called.wait(LOOK):
            with self._lock:
                self._call()
        return place if place.began else None

    def leave(self, place: Place) -> float:
        """Give cores back; the seconds for which they were taken."""
        now = time.monotonic()
        with self._lock:
            self._inside.remove(place)
            self._left = [*self._left, *[(now, place.run)] * place.cores][-self._cores :]
            self._call()
        return now - place.began

    def stir(self) -> None:
        """Look again who of those who wait is given up."""
        with self._lock:
            for place in [place for place in self._waiting if place.given_up()]:
                self._waiting.remove(place)
                place.called.set()
            self._call()

    def _call(self) -> None:
        """Let those in who are first, as cores allow."""
        while self._waiting:
            first = self._waiting[0]
            if not first.given_up():
                if first.cores > self._free():
                    return
                self._take(first)
            self._waiting.popleft()
            first.called.set()

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
