"""Examinations of crashes within the time that a turn has for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Mapping
from concurrent.futures import CancelledError, Future, wait
from typing import TypeVar

from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.workers import Task, Workers

_POLL = 0.05

Key = TypeVar("Key", bound=Hashable)


class Examinations:
    """Asks workers for verdicts, but waits no longer than a turn allows, or until ``stop`` is set.

    An examination that takes longer goes on in the background; who asks again in a later turn gets
    its verdict then.
    """

    def __init__(self, workers: Workers, stop: threading.Event) -> None:
        self._workers = workers
        self._stop = stop
        self._under_way: dict[Hashable, Future[Verdict]] = {}
        self._left = 0.0
        self.problem = ""

    def begin(self, seconds: float) -> None:
        """Start a turn, with so much time for all of its examinations."""
        self._left = seconds
        self.problem = ""

    def forget(self) -> None:
        """Drop what is under way: it is of a program that is no more."""
        for future in self._under_way.values():
            future.cancel()
        self._under_way.clear()

    @property
    def possible(self) -> bool:
        """Whether there is time left, and nothing that keeps workers from examining."""
        return self._left > 0 and not self.problem and not self._stop.is_set()

    def verdicts(self, tasks: Mapping[Key, Task]) -> dict[Key, Verdict]:
        """The verdicts that are there in time."""
        start = time.monotonic()
        for key, task in tasks.items():
            if key not in self._under_way:
                self._under_way[key] = self._workers.start(task)
        futures = [self._under_way[key] for key in tasks]
        while not all(future.done() for future in futures):
            if self._stop.is_set() or time.monotonic() - start > self._left:
                break
            wait(futures, _POLL)
        found = {}
        for key in tasks:
            if self._under_way[key].done():
                try:
                    found[key] = self._under_way.pop(key).result()
                except BadInput as problem:
                    self.problem = str(problem)
                except CancelledError:  # the workers are ending
                    self._left = 0.0
        self._left -= time.monotonic() - start
        return found
