"""The machine's side: turns of sessions that live in this process, in threads of their own.

It keeps the time itself: nobody can take work back that has begun. An order is carried out once,
however often it comes. What makes a target ready, and what stores it, takes no core: the next turn
is ready when one ends, and begins while that is being stored.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from fuzzwise.campaign.fleet.gate import Gate, Place
from fuzzwise.campaign.fleet.messages import Answer, Order
from fuzzwise.engines.contract import Session, Totals
from fuzzwise.errors import BadInput, FuzzwiseError

LATE = 10.0
"""Seconds after its end at which a turn that goes on is interrupted."""

WATCH = 1.0
"""Seconds between two looks for such turns."""

PATIENCE = 30.0
"""Seconds to wait for the end of an earlier turn of the same target, which is interrupted."""


class Unfit(BadInput):
    """A target that cannot run on this machine; on another one it may."""


class Resting(BadInput):
    """Nothing can run on this machine for a while, whatever the target."""


class Refused(BadInput):
    """An order that is not to be carried out, because the target has gone on without it."""


class Source(Protocol):
    """Where the sessions of a machine come from, and where what they have found goes."""

    def open(self, order: Order) -> Session:
        """The session of a target, on what is stored of it; one of the above, or BadInput."""
        ...

    def keep(self, order: Order, totals: Totals | None) -> Answer:
        """Store what is new; Resting where that is not possible."""
        ...

    def drop(self, order: Order) -> None:
        """A target was opened for a turn that does not come about."""
        ...

    def leave(self, run: str, target: str, seconds: float) -> None:
        """Close the sessions of a run, or of one target of it, within so many seconds.

        "" stands for all runs, or all targets.
        """
        ...


@dataclass
class _Work:
    """A turn that was asked for."""

    order: Order
    session: Session | None = None
    place: Place | None = None
    stopped: bool = False
    over: threading.Event = field(default_factory=threading.Event)


class Station:
    """Carries out orders; its methods may be called from any thread."""

    def __init__(self, source: Source, cores: int) -> None:
        self.cores = cores
        self._source = source
        self._gate = Gate(cores)
        self._todo: queue.SimpleQueue[tuple[_Work, list[_Work], Future[Answer]]]
        self._todo = queue.SimpleQueue()
        # A thread lives as long as the station: the kernel ends the processes that a thread
        # started when that thread ends. Turns that nobody waits for any more may have some.
        for number in range(4 * cores + 2):
            threading.Thread(target=self._attend, name=f"core-{number}", daemon=True).start()
        self._lock = threading.Lock()  # of all below
        self._work: dict[tuple[str, int], _Work] = {}
        self._seen: set[tuple[str, int]] = set()
        self._stopped: set[tuple[str, int]] = set()
        self._leaving = False
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a turn is under way, or being stored."""
        with self._lock:
            return bool(self._work)

    def run(self, order: Order) -> Future[Answer]:
        """Carry out an order in a thread; at once refused where it was seen before."""
        key = (order.run, order.turn.epoch)
        answer: Future[Answer] = Future()
        with self._lock:
            if key in self._seen or self._leaving:
                answer.set_result(Answer())
                return answer
            self._seen.add(key)
            before = [work for work in self._work.values() if _same_target(work.order, order)]
            work = self._work[key] = _Work(order, stopped=key in self._stopped)
        self._todo.put((work, before, answer))
        return answer

    def look(self, run: str) -> dict[int, tuple[float, Totals | None]]:
        """What is known of the turns of a run that have cores, by epoch; and for how long."""
        with self._lock:
            found = [(w.order.turn.epoch, w.place, w.session) for w in self._work.values()]
            mine = [one for one in found if (one[1] and one[1].run) == run]
        now = time.monotonic()
        return {
            epoch: (now - place.began, _totals(session)) for epoch, place, session in mine if place
        }

    def interrupt(self, run: str, epochs: Iterable[int]) -> None:
        """End turns now; those that have not come yet end at their beginning."""
        for epoch in epochs:
            key = (run, epoch)
            with self._lock:
                self._stopped.add(key)
                if work := self._work.get(key):
                    self._stop(work)

    def greet(self, campaign: str, run: str) -> None:
        """A manager has come: end the turns that earlier runs of its campaign have left here."""
        with self._lock:
            for work in self._work.values():
                if work.order.campaign == campaign and work.order.run != run:
                    self._stop(work)

    def leave(self, seconds: float) -> None:
        """Take no order any more, end all turns and close all sessions."""
        deadline = time.monotonic() + seconds
        with self._lock:
            self._leaving = True
            under_way = list(self._work.values())
            for work in under_way:
                self._stop(work)
        for work in under_way:
            work.over.wait(max(0.0, deadline - time.monotonic()))
        self._source.leave("", "", max(0.5, deadline - time.monotonic()))

    def close_run(self, run: str, target: str, seconds: float) -> None:
        """A run has ended, or a target of it goes on elsewhere ("": all of them)."""
        self._source.leave(run, target, seconds)
        if not target:
            with self._lock:
                for known in (self._seen, self._stopped):
                    known -= {key for key in known if key[0] == run and key not in self._work}

    def _attend(self) -> None:
        while True:
            work, before, answer = self._todo.get()
            try:
                made = self._carry_out(work, before)
            except Exception as error:
                made = Answer(problem=f"Unexpected: {type(error).__name__}: {error}.")
            with suppress(InvalidStateError):  # Dask has given it up
                answer.set_result(made)

    def _carry_out(self, work: _Work, before: list[_Work]) -> Answer:
        key = (work.order.run, work.order.turn.epoch)
        try:
            for earlier in before:
                with self._lock:
                    self._stop(earlier)
                if not earlier.over.wait(PATIENCE):
                    return Answer()
            return self._turn(work)
        finally:
            with self._lock:
                del self._work[key]
            work.over.set()

    def _turn(self, work: _Work) -> Answer:
        """Open, fuzz, store: what goes wrong is a sentence about the target, or about here."""
        order, problem = work.order, ""
        told = Answer()
        try:
            session = self._source.open(order)
            place = self._enter(order, work)
            if place is None:
                self._source.drop(order)
                return Answer()
            try:
                told = replace(told, totals=self._fuzz(work, session, place), idle=place.idle)
            finally:
                told = replace(told, took=self._leave(work, place))
        except Unfit as error:
            return Answer(unfit=str(error))
        except Resting as error:
            return Answer(resting=str(error))
        except Refused:
            return Answer()
        except FuzzwiseError as error:
            problem = str(error)
        except OSError as error:
            problem = f"The system refused: {error}."
        except Exception as error:
            # A mistake of ours must not cost the machine.
            problem = f"Unexpected: {type(error).__name__}: {error}."
        over = time.monotonic()
        try:
            kept = self._source.keep(order, told.totals)
        except Resting as error:
            return Answer(resting=str(error))
        except Refused:
            return Answer()
        since = time.monotonic() - over
        return replace(told, problem=problem, kept=kept.kept, moved=kept.moved, since=since)

    def _enter(self, order: Order, work: _Work) -> Place | None:
        """Wait for cores; a turn that was stopped before it had any does not come about."""
        turn = order.turn
        return self._gate.enter(order.run, order.cores, turn.seconds, lambda: work.stopped)

    def _leave(self, work: _Work, place: Place) -> float:
        with self._lock:
            work.session = work.place = None
        return self._gate.leave(place)

    def _stop(self, work: _Work) -> None:
        work.stopped = True
        if work.session:
            work.session.interrupt()
        self._gate.stir()

    def _fuzz(self, work: _Work, session: Session, place: Place) -> Totals:
        turn = work.order.turn
        with self._lock:
            work.session, work.place = session, place
            if work.stopped:
                session.interrupt()
        return session.turn(turn.seconds, work.order.cores)

    def _watch(self) -> None:
        """Interrupt turns that go on after their end: one thread for all of them."""
        while True:
            time.sleep(WATCH)
            now = time.monotonic()
            with self._lock:
                late = [
                    work.session
                    for work in self._work.values()
                    if (place := work.place)
                    and work.session
                    and now > place.began + place.seconds + LATE
                ]
            for session in late:
                session.interrupt()


def _same_target(one: Order, other: Order) -> bool:
    return (one.campaign, one.turn.target) == (other.campaign, other.turn.target)


def _totals(session: Session | None) -> Totals | None:
    with suppress(FuzzwiseError, OSError):
        return session.totals() if session else None
    return None
