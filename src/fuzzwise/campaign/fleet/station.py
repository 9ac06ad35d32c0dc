"""The machine's side: turns of sessions that live in this process, in threads of their own.

It keeps the time itself: nobody can take work back that has begun. An order is carried out once,
however often it comes.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from fuzzwise.campaign.fleet.messages import Answer, Order
from fuzzwise.engines.contract import Session, Totals
from fuzzwise.errors import BadInput, FuzzwiseError

LATE = 10.0
"""Seconds after its end at which a turn that goes on is interrupted."""

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
    stopped: bool = False
    over: threading.Event = field(default_factory=threading.Event)


class Station:
    """Carries out orders; its methods may be called from any thread."""

    def __init__(self, source: Source, cores: int) -> None:
        self.cores = cores
        self._source = source
        self._todo: queue.SimpleQueue[tuple[_Work, list[_Work], Future[Answer]]]
        self._todo = queue.SimpleQueue()
        # A thread lives as long as the station: the kernel ends the processes that a thread
        # started when that thread ends. Turns that nobody waits for any more may have some.
        for number in range(2 * cores + 2):
            threading.Thread(target=self._attend, name=f"core-{number}", daemon=True).start()
        self._lock = threading.Lock()  # of all below
        self._work: dict[tuple[str, int], _Work] = {}
        self._seen: set[tuple[str, int]] = set()
        self._stopped: set[tuple[str, int]] = set()
        self._leaving = False

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

    def totals(self, run: str) -> dict[int, Totals | None]:
        """What is known of the turns of a run that are under way, by epoch."""
        with self._lock:
            open_now = [w for w in self._work.values() if w.order.run == run]
        return {work.order.turn.epoch: _totals(work.session) for work in open_now}

    def interrupt(self, run: str, epochs: Iterable[int]) -> None:
        """End turns now; those that have not come yet end at their beginning."""
        for epoch in epochs:
            key = (run, epoch)
            with self._lock:
                self._stopped.add(key)
                if work := self._work.get(key):
                    _stop(work)

    def greet(self, campaign: str, run: str) -> None:
        """A manager has come: end the turns that earlier runs of its campaign have left here."""
        with self._lock:
            for work in self._work.values():
                if work.order.campaign == campaign and work.order.run != run:
                    _stop(work)

    def leave(self, seconds: float) -> None:
        """Take no order any more, end all turns and close all sessions."""
        deadline = time.monotonic() + seconds
        with self._lock:
            self._leaving = True
            under_way = list(self._work.values())
            for work in under_way:
                _stop(work)
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
                    _stop(earlier)
                if not earlier.over.wait(PATIENCE):
                    return Answer()
            return self._turn(work)
        finally:
            with self._lock:
                del self._work[key]
            work.over.set()

    def _turn(self, work: _Work) -> Answer:
        """Open, fuzz, store: what goes wrong is a sentence about the target, or about here."""
        order, totals, problem = work.order, None, ""
        try:
            session = self._source.open(order)
            totals = self._fuzz(work, session)
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
        finally:
            with self._lock:
                work.session = None
        try:
            kept = self._source.keep(order, totals)
        except Resting as error:
            return Answer(resting=str(error))
        except Refused:
            return Answer()
        return Answer(None if problem else totals, problem, kept=kept.kept, moved=kept.moved)

    def _fuzz(self, work: _Work, session: Session) -> Totals:
        turn = work.order.turn
        with self._lock:
            work.session = session
            if work.stopped:
                session.interrupt()
        late = threading.Timer(turn.seconds + LATE, session.interrupt)
        late.daemon = True
        late.start()
        try:
            return session.turn(turn.seconds, work.order.cores)
        finally:
            late.cancel()


def _same_target(one: Order, other: Order) -> bool:
    return (one.campaign, one.turn.target) == (other.campaign, other.turn.target)


def _stop(work: _Work) -> None:
    work.stopped = True
    if work.session:
        work.session.interrupt()


def _totals(session: Session | None) -> Totals | None:
    with suppress(FuzzwiseError, OSError):
        return session.totals() if session else None
    return None
