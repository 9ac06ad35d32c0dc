"""A fleet in this process, for tests: a scheduler and one machine of it, on the loopback."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Self

from fuzzwise.campaign.executor import Turn
from fuzzwise.campaign.fleet import node
from fuzzwise.campaign.fleet.executor import Fleet
from fuzzwise.campaign.fleet.link import Link
from fuzzwise.campaign.fleet.messages import Answer, Order
from fuzzwise.campaign.fleet.security import Door
from fuzzwise.campaign.fleet.station import Station
from fuzzwise.engines.contract import Session, Totals
from waiting import wait_until


class Given:
    """A source of sessions that are there already, of which nothing is stored."""

    def __init__(self) -> None:
        self.sessions: Mapping[str, Session] = {}

    def open(self, order: Order) -> Session:
        return self.sessions[order.turn.target]

    def keep(self, order: Order, totals: Totals | None) -> Answer:
        return Answer()

    def drop(self, order: Order) -> None:
        pass

    def leave(self, run: str, target: str, seconds: float) -> None:
        for name, session in self.sessions.items():
            if target in ("", name):
                threading.Thread(target=session.close, daemon=True).start()


class Remembered:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.totals: dict[str, Totals] = {}

    def errand(self, turn: Turn) -> Any:
        return None

    def take(self, turn: Turn, answer: Answer, then: Callable[[], None]) -> bool:
        if answer.totals:
            self.totals[turn.target] = answer.totals
        then()
        return True

    def close(self) -> None:
        pass

    def known(self, target: str) -> Totals | None:
        return self.totals.get(target)


class Cluster:
    """A scheduler and a machine with so many cores."""

    def __init__(self, cores: int) -> None:
        self.source = Given()
        self.cores = cores
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        self._call(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def executor(self, sessions: Mapping[str, Session]) -> Fleet:
        """An executor of some sessions."""
        self.source.sessions = sessions
        run = uuid.uuid4().hex
        fleet = Fleet(Link(Door(self.address), "on paper", run), Remembered(), "on paper")
        wait_until(lambda: fleet.cores == self.cores, "the machine of the fleet")
        return fleet

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _open(self) -> None:
        node.configure()
        self._scheduler = await node.FleetScheduler(host="tcp://127.0.0.1", port=0, dashboard=False)
        self.address = self._scheduler.address
        self._folder = tempfile.TemporaryDirectory(prefix="fleet-cluster-")
        self._worker = node.FleetWorker(
            *(self.address,),
            nthreads=4 * self.cores,
            name="here",
            local_directory=self._folder.name,
        )
        self._worker.station = Station(self.source, self.cores)
        self._worker.machine = node.machine_of(self._worker.station, "here", ())
        await self._worker

    async def _close(self) -> None:
        await self._worker.close(timeout=2)
        await self._scheduler.close()
        self._folder.cleanup()
