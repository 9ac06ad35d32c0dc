"""What a session tells of its target: what its files say, and during a turn what the turn says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzzwise.engines.contract import Totals


class Telling:
    """The totals of a session, for any thread.

    ``read`` makes them from the files, which hold together only while nothing fuzzes: counts that
    grow while they are read look like damaged ones. So it is called between turns and as one
    begins, never during it; until the turn has something to say, what was known is told.
    """

    def __init__(self, read: Callable[[], Totals | None]) -> None:
        self._read = read
        self._lock = threading.Lock()  # of the two below, and of the files
        self._is_turn = False
        self._latest: Totals | None = None

    def totals(self) -> Totals | None:
        """What is known; None where there is nothing yet."""
        with self._lock:
            return self._latest if self._is_turn else self._read()

    def say(self, totals: Totals) -> None:
        """How far the present turn is."""
        with self._lock:
            self._latest = totals

    @contextmanager
    def turn(self) -> Iterator[None]:
        """While this lasts, the files may change."""
        with self._lock:
            self._latest, self._is_turn = self._read(), True
        try:
            yield
        finally:
            with self._lock:
                self._latest, self._is_turn = None, False
