"""Several runners of one target side by side, each with random numbers of its own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from fuzzwise.engines.blackbox.model import Event, Limits, Mutation, Target
from fuzzwise.engines.blackbox.runner import Runner
from fuzzwise.engines.blackbox.server import Server
from fuzzwise.errors import BadInput


@dataclass(frozen=True)
class Slice:
    """What happened in a short while: events of all lanes, each with its lane, by time.

    ``problem`` is what ended a lane early; the events before it count all the same.
    """

    events: tuple[tuple[int, Event], ...]
    problem: BadInput | None = None


def lane_seed(seed: int, lane: int) -> int:
    """The random seed of a lane; that of the first is the seed itself."""
    if lane == 0:
        return seed
    digest = hashlib.sha256(f"{seed} {lane}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


class Lanes:
    """Runs a target in so many threads; a context manager, at whose end nothing is left.

    ``stop`` is set to end everything: by ``interrupt``, from any thread, or before.
    """

    def __init__(
        self,
        target: Target,
        seed: int,
        mutation: Mutation,
        limits: Limits,
        count: int,
        stop: threading.Event,
    ) -> None:
        self._lanes = [
            _Lane(target, lane_seed(seed, lane), mutation, limits, stop) for lane in range(count)
        ]
        self._threads = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in self._threads.map(_Lane.close, self._lanes):
            pass
        self._threads.shutdown()

    def run(self, done: Sequence[int], seconds: float, most: Sequence[int] | None = None) -> Slice:
        """Run for so long; ``done`` are the runs that each lane has behind it.

        ``most``: how many further ones each may make.
        """
        rooms: Sequence[int | None] = most or [None] * len(done)
        work = {
            number: self._threads.submit(self._lanes[number].run, runs + 1, seconds, room)
            for number, (runs, room) in enumerate(zip(done, rooms, strict=True))
            if room is None or room > 0
        }
        results = {number: lane.result() for number, lane in work.items()}
        events = [(number, event) for number, (found, _) in results.items() for event in found]
        events.sort(key=lambda pair: pair[1].microseconds)
        problem = next((problem for _, problem in results.values() if problem), None)
        return Slice(tuple(events), problem)

    def interrupt(self) -> None:
        """End the runs that are under way; the stop event must have been set."""
        for lane in self._lanes:
            lane.interrupt()


class _Lane:
    """One runner, started when it is needed."""

    def __init__(
        self,
        target: Target,
        seed: int,
        mutation: Mutation,
        limits: Limits,
        stop: threading.Event,
    ) -> None:
        self._settings = (target, seed, mutation, limits)
        self._stop = stop
        self._runner: _StoppableRunner | None = None

    def run(
        self, first_run: int, seconds: float, most: int | None
    ) -> tuple[list[Event], BadInput | None]:
        """The events of a while, and what ended it early."""
        events: list[Event] = []
        try:
            if self._runner is None:
                self._runner = _StoppableRunner(self._stop, *self._settings)
            if not self._stop.is_set():
                for event in self._runner.run(first_run, most, seconds):
                    events.append(event)  # one by one: those before an error count
        except _Stopped:
            pass
        except BadInput as problem:
            return events, problem
        return events, None

    def interrupt(self) -> None:
        """End the run that is under way."""
        if self._runner is not None:
            self._runner.interrupt()

    def close(self) -> None:
        """End the runner."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None


class _Stopped(Exception):
    """A batch was ended from another thread."""


class _StoppableRunner(Runner):
    """A runner whose batch can be ended from another thread, even within a run that hangs.

    What was told before counts; the runs after the last word are not known to have ended.
    """

    def __init__(
        self,
        stop: threading.Event,
        target: Target,
        seed: int,
        mutation: Mutation,
        limits: Limits,
    ) -> None:
        self._stop = stop
        super().__init__(target, seed, mutation, limits)

    def interrupt(self) -> None:
        """Let the warden end all: it sees that nobody is there any more."""
        server = self._server
        if server is not None:
            stdin = server._process.stdin
            assert stdin is not None
            stdin.close()

    def _try_to_start(self, inject: bool) -> Server | None:
        # Known before the look at the event: whoever sets it ends a server that it sees.
        self._server = server = super()._try_to_start(inject)
        if self._stop.is_set():
            self.close()
            raise _Stopped
        return server

    def _restart(self, fruitless: int, run: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        super()._restart(fruitless, run)
