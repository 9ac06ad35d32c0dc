"""How often something is done again, so that it never takes more than a share of a core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Pace:
    """Waits as long as the work was expensive: a hundred targets are read often, a million seldom.

    ``share`` is the part of one core that it may take, ``least`` and ``most`` bound the seconds
    between two times. Of the latest two times, the cheaper one counts: the first loads modules, and
    any may have to clean up behind others.
    """

    def __init__(self, share: float, least: float, most: float = 300.0) -> None:
        self._share, self._least, self._most = share, least, most
        self._wait = least
        self._work, self._more = _Cost(), _Cost()
        self._done = float("-inf")

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around the work, in the thread that does it; whatever becomes of it."""
        try:
            with self._work.measured():
                yield
        finally:
            self._wait = min(self._most, max(self._least, self._work.usual / self._share))
            self._done = time.monotonic()

    @contextmanager
    def charged(self) -> Iterator[None]:
        """Around other work that comes of it: the next time is later by what that costs."""
        try:
            with self._more.measured():
                yield
        finally:
            self._wait = min(self._most, self._wait + self._more.usual / self._share)

    def seconds_left(self) -> float:
        """Seconds until it is time again; 0 where it is."""
        return max(0.0, self._done + self._wait - time.monotonic())

    def is_due(self) -> bool:
        """Whether it is time again."""
        return self.seconds_left() == 0.0


class _Cost:
    """Seconds of a core that something usually takes: the least of the latest two times."""

    def __init__(self) -> None:
        self.usual = 0.0
        self._before: float | None = None

    @contextmanager
    def measured(self) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - began
            self.usual = 0.0 if self._before is None else min(spent, self._before)
            self._before = spent
