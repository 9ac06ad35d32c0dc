"""A machine that takes part in a fleet, from the first contact until it leaves.

Dask's worker ends when it has lost its scheduler, or was taken for gone: another one then takes
its place, with the same station and the same folder.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from distributed import Status

from fuzzwise.campaign.fleet import node
from fuzzwise.campaign.fleet.lodging import Lodging
from fuzzwise.campaign.fleet.security import Door, why_not
from fuzzwise.campaign.fleet.station import Station
from fuzzwise.engines.leftovers import Guard
from fuzzwise.errors import BadInput
from fuzzwise.files import InUse, locked_file, make_folders, refuse_links
from fuzzwise.text import printable
from fuzzwise.triage.workers import Workers

FAREWELL = 8.0
"""Seconds that turns have to end and be stored when a machine leaves."""

AGAIN = 1.0
"""Seconds between two tries to reach the scheduler."""

SWEEP = 10.0

Say = Callable[[str], None]


class Member:
    """A machine with a folder and some cores; a context, so that nothing stays behind."""

    def __init__(self, work: Path, cores: int, labels: Sequence[tuple[str, str]]) -> None:
        self._work = work.absolute()
        self._cores = cores
        self._labels = labels
        self.name = f"{socket.gethostname()}-{work.absolute().name}"
        self._stack = ExitStack()

    def __enter__(self) -> Member:
        """Take the folder."""
        try:
            make_folders(self._work)
            refuse_links(self._work, but_in=("campaigns", "programs"))
            self._stack.enter_context(locked_file(self._work / "lock"))
        except InUse as error:
            raise BadInput(
                f"{self._work}: another worker uses this folder. Give each its own --work DIR."
            ) from error
        except OSError as error:
            raise BadInput(f"{self._work}: cannot be used ({error.strerror}).") from error
        self._stack.enter_context(Guard(self._work))
        workers = self._stack.enter_context(Workers(self._cores))
        self._lodging = Lodging(self._work, workers)
        self._station = Station(self._lodging, self._cores)
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of it; the guard ends what is left."""
        self._stack.close()

    async def stay(self, door: Door, stop: asyncio.Event, say: Say) -> None:
        """Take part until ``stop``, however often the scheduler goes and comes."""
        sweeping = asyncio.ensure_future(self._sweep())
        said = ""
        try:
            while not stop.is_set():
                try:
                    worker = await self._joined(door)
                except Exception as error:
                    problem = why_not(door, error)
                    if problem != said:
                        said = problem
                        say(f"{problem} It is tried again every second.")
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), AGAIN)
                    continue
                said = ""
                say(f"{printable(self.name)} has joined {door.address}.")
                await self._serve(worker, stop, say)
        finally:
            sweeping.cancel()

    async def _joined(self, door: Door) -> node.FleetWorker:
        node.configure()
        worker = node.FleetWorker(
            door.address,
            nthreads=4 * self._cores + 8,  # of tasks, which only wait; cores are counted by us
            name=f"{self.name}-{uuid.uuid4().hex[:8]}",
            security=door.security,
            memory_limit=0,
            local_directory=str(self._work / "dask"),
            death_timeout=15,
        )
        worker.station = self._station
        worker.machine = node.machine_of(self._station, self.name, self._labels)
        try:
            await asyncio.wait_for(worker, 20)
        except BaseException:
            with suppress(Exception):
                await asyncio.wait_for(worker.close(timeout=1), 3)
            raise
        return worker

    async def _serve(self, worker: node.FleetWorker, stop: asyncio.Event, say: Say) -> None:
        while worker.status not in (Status.closed, Status.failed, Status.closing):
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.25)
            if stop.is_set():
                await self._leave(worker)
                return
        say(f"{printable(self.name)} has lost the scheduler.")
        with suppress(Exception):
            await asyncio.wait_for(worker.close(timeout=1), 3)

    async def _leave(self, worker: node.FleetWorker) -> None:
        """End turns, let their results go out, and go."""
        await asyncio.to_thread(self._station.leave, FAREWELL)
        await asyncio.sleep(0.3)
        with suppress(Exception):
            await asyncio.wait_for(worker.close(timeout=2), 5)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            await asyncio.to_thread(self._lodging.sweep)


def cores_here() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_until_signal(main: Callable[[asyncio.Event], object]) -> None:
    """Run a coroutine function with an event that SIGINT, SIGTERM and SIGHUP set."""

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                loop.add_signal_handler(number, stop.set)
        await main(stop)  # type: ignore[misc]

    asyncio.run(run())
