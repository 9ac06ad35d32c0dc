"""The manager's line to the fleet: who is there, and messages to them, in a thread of its own.

Dask's scheduler keeps nothing over its own end, and neither does this: where the line breaks, all
turns are lost, and it is joined again as soon as somebody answers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from distributed import Client

from fuzzwise import __version__
from fuzzwise.campaign.fleet import node
from fuzzwise.campaign.fleet.messages import Answer, Machine, Order
from fuzzwise.campaign.fleet.security import Door, why_not
from fuzzwise.text import many, printable

PACE = 1.0
"""Seconds between two looks at what there is."""

ANSWER = 10.0
"""Seconds that a machine has to answer a short message."""

QUIET = 15.0
"""Seconds without an answer after which a machine gets no work, and what it has is lost."""

OVERDUE = 90.0
"""Seconds after the end of a turn at which nobody waits for its result any more."""


class Lost(Exception):
    """Where a turn ran is gone, or does not answer any more."""


class Link:
    """The line; its coroutines are for its own thread, all else for any."""

    def __init__(self, door: Door, campaign: str, run: str) -> None:
        self.run = run
        self.problem = ""
        """Why there is no line, in a sentence; "" where there is one."""
        self._door = door
        self._campaign = campaign
        self._machines: dict[str, Machine] = {}
        self._asked: dict[str, float] = {}
        """Since when a machine owes an answer."""
        self._waiters: dict[str, set[asyncio.Future[Answer]]] = {}
        """Turns that are waited for, by the machine at which they are."""
        self._strangers: set[str] = set()
        self._there: set[str] | None = None
        self._new: set[str] = set()
        self._news: list[str] = []
        self._client: Client | None = None
        self._closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._work, name="fleet", daemon=True)
        self._thread.start()
        self._started.wait()

    @property
    def machines(self) -> Mapping[str, Machine]:
        """Those that are there and answer, by address; another object when that changes."""
        return self._machines

    @property
    def knows_all(self) -> bool:
        """Whether all that the scheduler knows have said who they are."""
        there = self._there
        return there is not None and there <= self._machines.keys() | self._strangers

    def news(self) -> list[str]:
        """What has happened since the last call, in sentences."""
        found, self._news = self._news, []
        return found

    def tell(self, sentence: str) -> None:
        """Something that the campaign's views show."""
        self._news.append(sentence)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin something in the line's thread; nothing where that has ended."""
        if not self._in_thread(lambda: asyncio.ensure_future(work)):
            work.close()

    async def ask(self, address: str, order: Order) -> Answer:
        """Have a turn carried out at a machine; Lost where no answer will come."""
        client = self._client
        if client is None or address not in self._machines:
            raise Lost
        future = client.submit(
            *(node.carry_out, order),
            # In one group: Dask's scheduler goes through all groups at each task.
            key=(f"turn-{order.run}", order.turn.epoch),
            workers=[address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        waiting = asyncio.ensure_future(_result(future))
        waiters = self._waiters.setdefault(address, set())
        waiters.add(waiting)
        try:
            return await asyncio.wait_for(waiting, order.turn.seconds + OVERDUE)
        except asyncio.CancelledError:
            if not waiting.cancelled():  # it is this task that is to end
                raise
            raise Lost from None  # the machine is gone, or Dask has given the turn up
        except Exception as error:
            raise Lost from error
        finally:
            waiters.discard(waiting)
            with suppress(Exception):
                future.release()

    async def send(self, address: str, function: Callable[..., Any], *words: Any) -> Any:
        """Call a function at a machine: what it returns, or Lost."""
        client = self._client
        if client is None:
            raise Lost
        self._asked.setdefault(address, time.monotonic())
        try:
            found = await asyncio.wait_for(
                client.run(function, *words, workers=[address]), timeout=ANSWER
            )
        except Exception as error:  # whatever goes wrong there, it did not answer
            raise Lost from error
        if address not in found:
            raise Lost
        self._asked.pop(address, None)
        return found[address]

    def close(self, seconds: float) -> None:
        """Leave, within so many seconds."""
        self._closing = True
        if self._in_thread(self._wake.set):
            self._thread.join(seconds)

    def _in_thread(self, call: Callable[[], object]) -> bool:
        assert self._loop
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # closed
            return False
        return True

    # ── in the line's thread ──────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started.set()
        while not self._closing:
            try:
                client = await self._connected()
            except Exception as error:
                self.problem = why_not(self._door, error)
                await self._pause(PACE)
                continue
            self.problem = ""
            self._client = client
            try:
                await self._stay(client)
            finally:
                self._client = None
                self._set_machines({})
                with suppress(Exception):
                    await asyncio.wait_for(client.close(timeout=1), 2)

    async def _connected(self) -> Client:
        node.configure()
        client = Client(
            self._door.address,
            security=self._door.security,
            asynchronous=True,
            timeout=ANSWER,
            set_as_default=False,
            heartbeat_interval="2s",
        )
        try:
            return cast(Client, await client)
        except BaseException:
            with suppress(Exception):
                await asyncio.wait_for(client.close(timeout=1), 2)
            raise

    async def _stay(self, client: Client) -> None:
        """Look who is there, until the line breaks or is to end."""
        with suppress(Exception):
            client.subscribe_topic("all", self._happened)
        while not self._closing and client.status == "running":
            try:
                scheduler: Any = client.scheduler
                known = await asyncio.wait_for(scheduler.identity(), ANSWER)
            except Exception:
                return
            self._meet(set(known["workers"]))
            await self._pause(PACE)

    def _happened(self, event: tuple[float, Any]) -> None:
        """Dask says that somebody has come or gone: look at once."""
        if isinstance(event[1], dict) and event[1].get("action") in ("add-worker", "remove-worker"):
            self._wake.set()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)
        self._wake.clear()

    def _meet(self, there: set[str]) -> None:
        """Go on with those that are there and answer, and ask the others who they are."""
        self._strangers &= there
        self._asked = {at: since for at, since in self._asked.items() if at in there}
        owing = time.monotonic() - QUIET
        known = {
            at: machine
            for at, machine in self._machines.items()
            if at in there and self._asked.get(at, owing) >= owing
        }
        self._set_machines(known)
        self._there = there
        for address in there - known.keys() - self._strangers - self._new:
            self._new.add(address)
            asyncio.ensure_future(self._describe(address))  # noqa: RUF006  # kept by its result

    async def _describe(self, address: str) -> None:
        try:
            machine: Machine | None = await self.send(
                *(address, node.describe, self._campaign, self.run)
            )
        except Lost:
            return
        finally:
            self._new.discard(address)
        if machine is not None and machine.version == __version__:
            here = replace(machine, address=address)
            self._set_machines({**self._machines, address: here})
            return
        self._strangers.add(address)
        version = f"fuzzwise {machine.version}" if machine else "a worker of another kind"
        self.tell(
            f"The machine at {printable(address)} gets no work: there is {printable(version)}, "
            f"and the manager is fuzzwise {__version__}. Start the same fuzzwise there."
        )

    def _set_machines(self, known: dict[str, Machine]) -> None:
        before = self._machines
        if known == before:
            return
        self._machines = known
        for address in before.keys() - known.keys():
            for waiting in self._waiters.pop(address, ()):
                waiting.cancel()
        cores = sum(machine.cores for machine in known.values())
        for address in known.keys() - before.keys():
            self.tell(f"{known[address].name} has joined: {_there(known, cores)}.")
        for address in before.keys() - known.keys():
            self.tell(f"{before[address].name} is gone: {_there(known, cores)}.")


async def _result(future: Any) -> Answer:
    answer: Answer = await future
    return answer


def _there(machines: dict[str, Machine], cores: int) -> str:
    return f"{many(len(machines), 'machine')} with {many(cores, 'core')}"
