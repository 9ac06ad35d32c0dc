"""The executor of a fleet: turns on machines that come and go.

A target is at one machine at a time and stays there as long as a core is free for it; else it goes
on where one is. What a machine cannot run goes to another. Where a machine is gone its turns are
lost, and their targets go on elsewhere from what was stored. Cores are given out again a moment
before they are free: the next turn is made ready while the last one ends.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from fuzzwise.campaign.executor import Result, Turn
from fuzzwise.campaign.fleet import node
from fuzzwise.campaign.fleet.costs import Costs
from fuzzwise.campaign.fleet.link import PACE, Link, Lost
from fuzzwise.campaign.fleet.messages import Answer, Machine, Order
from fuzzwise.campaign.fleet.timetable import AHEAD, Timetable
from fuzzwise.engines.contract import Totals
from fuzzwise.errors import FuzzwiseError
from fuzzwise.text import printable

REST = 30.0
"""Seconds for which a machine that can run nothing gets no work."""

HURRY = 1.0
"""Seconds that machines have to close sessions once the time for it is over."""

BUSY_LOOKS = 50
TURN_LOOKS = 250
"""Machines, and turns at them, that are looked at in a second; all of them within a few seconds."""

SELDOM = 4.0
"""Seconds between two looks at a machine, at most."""


class Ledger(Protocol):
    """What the manager's side knows of the targets: where each one is in what was stored."""

    def errand(self, turn: Turn) -> Any:
        """What a machine needs for a turn; it may take its time."""
        ...

    def take(self, turn: Turn, answer: Answer, then: Callable[[], None]) -> bool:
        """Write down what a machine has stored, and call ``then``; False where it is refused.

        It may take its time. After ``close``, everything is refused.
        """
        ...

    def known(self, target: str) -> Totals | None:
        """The totals that were written down last."""
        ...

    def close(self) -> None:
        """Write down nothing any more."""
        ...


@dataclass
class _Placed:
    """A turn under way; ``address`` is "" as long as no machine has a core for it."""

    turn: Turn
    address: str = ""
    cores: int = 0
    interrupted: bool = False
    latest: Totals | None = None
    began: float | None = None
    over: bool = False


class Fleet:
    """See the module's text; what holds is in ``campaign.executor``."""

    def __init__(self, link: Link, ledger: Ledger, campaign: str) -> None:
        self._link = link
        self._ledger = ledger
        self._campaign = campaign
        self._lock = threading.Lock()  # of all below, up to the queue
        self._running: dict[int, _Placed] = {}
        self._by_target: dict[str, _Placed] = {}
        self._timetable = Timetable()
        self._unplaced = 0
        self._known: Mapping[str, Machine] = {}
        self._homes: dict[str, str] = {}
        self._unfit: dict[tuple[str, str], str] = {}
        self._resting: dict[str, float] = {}
        self._looking: set[str] = set()
        self._done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._closing = False
        self._costs = Costs()
        link.start(self._look())

    @property
    def ahead(self) -> float:
        """Seconds before its end at which the cores of a turn count as free."""
        return AHEAD

    @property
    def cores(self) -> int:
        """Cores that there are now."""
        return sum(machine.cores for machine in self._link.machines.values())

    @property
    def free(self) -> int:
        """Cores without work, or about to be; less than 0 where turns wait for some."""
        now = time.monotonic()
        with self._lock:
            machines = self._here(now)
            resting = [name for name, until in self._resting.items() if until > now]
            free = self._timetable.free(now) - self._unplaced
            if resting:
                down = (at for at, machine in machines.items() if machine.name in resting)
                free -= sum(self._timetable.free_at(at, now) for at in down)
            return free

    @property
    def running(self) -> Sequence[Turn]:
        """Turns whose results were not handed out yet."""
        with self._lock:
            return tuple(placed.turn for placed in self._running.values())

    def news(self) -> list[str]:
        """What has happened to the fleet since the last call, in sentences."""
        return self._link.news()

    def start(self, turn: Turn) -> None:
        """Begin a turn."""
        with self._lock:
            placed = self._running[turn.epoch] = self._by_target[turn.target] = _Placed(turn)
            self._unplaced += turn.cores
        self._link.start(self._see_through(placed))

    def wait(self, seconds: float) -> list[Result]:
        """The results that are there, or the first that come within so many seconds."""
        seconds = min(seconds, self._until_free())
        found: list[Result] = []
        while True:
            try:
                result = self._done.get(timeout=0 if found else max(0.0, seconds))
            except queue.Empty:
                return found
            with self._lock:
                if self._running.pop(result.turn.epoch, None) is None:
                    continue
            found.append(result)

    def under_way(self, turn: Turn) -> float:
        """For how many seconds a turn has had its cores, as of the latest look; 0: it waits."""
        with self._lock:
            placed = self._running.get(turn.epoch)
            began = placed.began if placed else None
        return 0.0 if began is None else time.monotonic() - began

    def totals(self, target: str) -> Totals | None:
        """What is known of a target; in the midst of a turn, as of the latest look."""
        with self._lock:
            placed = self._by_target.get(target)
            latest = placed.latest if placed else None
        return latest or self._ledger.known(target)

    def interrupt(self) -> None:
        """Ask all turns to end."""
        with self._lock:
            under_way: dict[str, list[int]] = {}
            for epoch, placed in self._running.items():
                placed.interrupted = True
                if placed.address:
                    under_way.setdefault(placed.address, []).append(epoch)
        for address, epochs in under_way.items():
            self._link.start(self._say(address, node.interrupt, self._link.run, tuple(epochs)))

    def close(self, seconds: float) -> None:
        """End what is under way, have all sessions closed, and leave."""
        self.interrupt()
        self._closing = True
        closed = threading.Event()
        self._link.start(self._close(seconds, closed))
        closed.wait(seconds + HURRY)
        self._ledger.close()
        if told := self._costs.told():
            self._link.tell(told)
        self._link.close(HURRY)

    # ── in the line's thread ──────────────────────────────────────────────────────────────────

    async def _see_through(self, placed: _Placed) -> None:
        """A turn from its start to its result, on whichever machine can run it."""
        turn = placed.turn
        try:
            answer = await self._answer(placed)
            if answer is None:
                self._hand_out(placed, Result(turn, problem=self._why_nowhere(turn.target)))
            else:
                await self._take(placed, answer)
        except Lost:
            self._hand_out(placed, Result(turn, lost=True))
        except FuzzwiseError as error:
            self._hand_out(placed, Result(turn, problem=str(error)))
        except Exception as error:
            # A mistake of ours must not cost a core for the rest of the campaign.
            problem = f"Unexpected: {type(error).__name__}: {error}."
            self._hand_out(placed, Result(turn, problem=problem))

    def _hand_out(self, placed: _Placed, result: Result) -> None:
        with self._lock:
            placed.over, placed.latest = True, None
            if not placed.address:
                self._unplaced -= placed.turn.cores
        self._done.put(result)

    def _why_nowhere(self, target: str) -> str:
        """Why no machine can run a target; the next time, all are asked again."""
        with self._lock:
            why = [said for (name, _), said in self._unfit.items() if name == target]
            self._unfit = {key: said for key, said in self._unfit.items() if key[0] != target}
        return f"No machine can run it. {why[-1] if why else ''}".strip()

    async def _answer(self, placed: _Placed) -> Answer | None:
        """What came of a turn; None where no machine can run it."""
        turn = placed.turn
        while True:
            machine = await self._place(placed)
            if machine is None:
                return None
            since = 0.0
            try:
                errand = await self._errand(turn)
                order = Order(self._campaign, self._link.run, turn, placed.cores, errand)
                answer = await self._link.ask(machine.address, order)
                since = answer.since
            finally:
                self._left(placed, since)
            if answer.unfit:
                with self._lock:
                    self._unfit[turn.target, machine.name] = f"{machine.name}: {answer.unfit}"
                    placed.address = ""
                    self._unplaced += turn.cores
                continue
            if answer.resting:
                self._rest(machine, answer.resting)
                raise Lost
            return answer

    async def _errand(self, turn: Turn) -> Any:
        try:
            return await asyncio.to_thread(self._ledger.errand, turn)
        except OSError as error:
            self._link.tell(f"The storage cannot be used: {printable(str(error))}.")
            await asyncio.sleep(PACE)
            raise Lost from error

    async def _take(self, placed: _Placed, answer: Answer) -> None:
        """Have it written down; its result is there as soon as that is, and not otherwise."""
        turn = placed.turn
        if answer.totals is None and not answer.problem:
            raise Lost
        self._costs.add(answer)
        totals = None if answer.problem else answer.totals
        result = Result(turn, totals, answer.problem, took=answer.took)
        then = partial(self._hand_out, placed, result)
        if not await asyncio.to_thread(self._ledger.take, turn, answer, then):
            raise Lost

    async def _place(self, placed: _Placed) -> Machine | None:
        """The machine for a turn, as soon as one has a core for it; None where none ever will."""
        while True:
            machines = self._link.machines
            if not machines or placed.interrupted or self._closing:
                raise Lost
            target = placed.turn.target
            with self._lock:
                if machine := self._choose(target, time.monotonic()):
                    self._put(placed, machine, time.monotonic())
                    before, self._homes[target] = self._homes.get(target), machine.name
                elif all((target, m.name) in self._unfit for m in machines.values()):
                    return None
            if machine:
                self._take_leave(machines, target, before, machine)
                return machine
            await asyncio.sleep(0.02)

    def _put(self, placed: _Placed, machine: Machine, now: float) -> None:
        turn = placed.turn
        placed.address = machine.address
        placed.cores = min(turn.cores, self._timetable.free_at(machine.address, now))
        self._unplaced -= turn.cores
        self._timetable.add(machine.address, turn.epoch, placed.cores, turn.seconds, now)

    def _left(self, placed: _Placed, since: float) -> None:
        """A turn has given its cores back, so many seconds ago."""
        now = time.monotonic()
        with self._lock:
            self._timetable.remove(placed.address, placed.turn.epoch, now - since, now)

    def _choose(self, target: str, now: float) -> Machine | None:
        """Its home where a core is free there; else the machine that is ready first."""
        machines = self._here(now)
        able = [
            machine
            for address in self._timetable.open(now)
            if self._is_up(machine := machines[address], now)
            and (target, machine.name) not in self._unfit
        ]
        home, times = self._homes.get(target), self._timetable
        return max(
            able,
            key=lambda m: (
                m.name == home,
                -times.ready(m.address, now),
                times.free_at(m.address, now),
                m.name,
            ),
            default=None,
        )

    def _here(self, now: float) -> Mapping[str, Machine]:
        """The machines that are there, as the timetable has them."""
        machines = self._link.machines
        if machines is not self._known:
            self._known = machines
            self._timetable.there({at: m.cores for at, m in machines.items()}, now)
        return machines

    def _until_free(self) -> float:
        """Seconds until there may be more cores to be given out, if time alone brings them."""
        now = time.monotonic()
        with self._lock:
            change = self._timetable.next_change(now)
        return float("inf") if change is None else change - now

    def _is_up(self, machine: Machine, now: float) -> bool:
        return self._resting.get(machine.name, 0.0) <= now

    def _rest(self, machine: Machine, why: str) -> None:
        with self._lock:
            self._resting[machine.name] = time.monotonic() + REST
        self._link.tell(f"{machine.name} gets no work for {REST:.0f} s. {printable(why)}")

    def _take_leave(
        self, machines: Mapping[str, Machine], target: str, before: str | None, now: Machine
    ) -> None:
        """Have the machine at which a target was close its session."""
        for machine in machines.values():
            if machine.name == before and machine is not now:
                words = (self._link.run, target, HURRY)
                self._link.start(self._say(machine.address, node.forget, *words))

    async def _say(self, address: str, function: Any, *words: Any) -> None:
        with suppress(Lost):
            await self._link.send(address, function, *words)

    async def _look(self) -> None:
        """See from time to time how far turns are, and so whether their machines answer."""
        while not self._closing:
            with self._lock:
                busy = {placed.address for placed in self._running.values() if placed.address}
                pace = max(PACE, len(busy) / BUSY_LOOKS, len(self._running) / TURN_LOOKS)
            for address in busy - self._looking:
                self._looking.add(address)
                self._link.start(self._look_at(address))
            await asyncio.sleep(min(pace, max(SELDOM, len(busy) / BUSY_LOOKS)))

    async def _look_at(self, address: str) -> None:
        try:
            found = await self._link.send(address, node.look, self._link.run)
        except Lost:
            return
        finally:
            self._looking.discard(address)
        now = time.monotonic()
        with self._lock:
            for epoch, (seconds, totals) in found.items():
                placed = self._running.get(epoch)
                if placed and not placed.over:
                    placed.began = now - seconds
                    placed.latest = totals or placed.latest

    async def _close(self, seconds: float, closed: threading.Event) -> None:
        words = (self._link.run, "", seconds)
        with suppress(Exception):
            everyone = [self._say(at, node.forget, *words) for at in self._link.machines]
            await asyncio.wait_for(asyncio.gather(*everyone), seconds + HURRY)
        closed.set()
