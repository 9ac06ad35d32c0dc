"""Sessions on paper for the check of executors: they make inputs by the clock, or misbehave."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np

from fuzzwise.engines.contract import Totals
from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.triage.examine import Verdict

SPEED = 1000
"""Inputs in a second of a turn."""

STEP = 0.01
"""Seconds between two looks at the clock."""


@dataclass
class PaperSession:
    """A target that exists only here; ``asked`` are its turns, ``ended`` how many are over.

    ``problem`` is what its turns raise. ``meeting``: none of its turns goes on before all have come
    there. ``unreadable``: it cannot tell its totals. ``may_close`` is waited for when it is closed.
    """

    problem: Exception | None = None
    meeting: threading.Barrier | None = None
    unreadable: bool = False
    may_close: threading.Event | None = None
    asked: list[tuple[float, int]] = field(default_factory=list)
    ended: int = 0
    closed: int = 0
    seconds: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Make inputs until the time is over."""
        self.asked.append((seconds, jobs))
        try:
            if self.problem:
                raise self.problem
            if self.meeting:
                self.meeting.wait()
            now = time.monotonic()
            deadline = now + seconds
            while now < deadline and not self._stop.is_set():
                self._stop.wait(min(STEP, deadline - now))
                before, now = now, time.monotonic()
                self.seconds += (now - before) * jobs
            return self._told()
        finally:
            self._stop.clear()
            self.ended += 1

    def totals(self) -> Totals | None:
        """What is known."""
        if self.unreadable:
            raise BadInput("The folder of this target cannot be read, as the check has it.")
        return self._told() if self.seconds else None

    def interrupt(self) -> None:
        """End the present turn, or the next one."""
        self._stop.set()

    def close(self) -> None:
        """Nothing has to be ended, but that may take its time."""
        if self.may_close:
            self.may_close.wait()
        self.closed += 1

    def reproduce(self, data: bytes) -> Verdict:  # noqa: ARG002
        """No input does harm."""
        return Verdict("none")

    def _told(self) -> Totals:
        n = round(SPEED * self.seconds)
        seen = Observation(n, self.seconds, discoveries=np.arange(1, min(n, 3) + 1))
        return Totals("on paper", seen, self.seconds, 1, (), 0)
