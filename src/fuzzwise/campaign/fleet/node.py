"""The processes of Dask as fuzzwise runs them: no page of Dask's, no work that moves by itself.

All that is called on a machine from elsewhere is a function of this module: both sides import it,
and so have to be of the same version.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import dask
from distributed import Scheduler, Worker, get_worker

from fuzzwise import __version__
from fuzzwise.campaign.fleet.messages import Answer, Machine, Order
from fuzzwise.campaign.fleet.station import Station
from fuzzwise.engines.contract import Totals

SILENT = 30.0
"""Seconds without a word from a machine after which Dask takes it for gone."""


def configure() -> None:
    """Settings of Dask for a process that is part of a fleet, whatever its user's files say."""
    dask.config.set(
        {
            "distributed.scheduler.work-stealing": False,
            "distributed.scheduler.allowed-failures": 0,
            "distributed.scheduler.worker-ttl": f"{SILENT:g}s",
            "distributed.scheduler.worker-saturation": "inf",
            "distributed.scheduler.active-memory-manager.start": False,
            "distributed.worker.memory.target": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.pause": False,
            "distributed.worker.memory.terminate": False,
            "distributed.worker.profile.enabled": False,
            "distributed.comm.timeouts.connect": "10s",
            "distributed.comm.timeouts.tcp": f"{SILENT:g}s",
            "distributed.admin.tick.limit": "60s",
        }
    )
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class FleetScheduler(Scheduler):
    """Dask's scheduler: who is there, and who gets which message."""

    def __init__(self, **words: Any) -> None:
        """It needs no folder, and Dask's own would stay in that for temporary files."""
        with (
            tempfile.TemporaryDirectory(prefix="fuzzwise-") as folder,
            dask.config.set({"temporary-directory": folder}),
        ):
            super().__init__(**words)
        if self.local_directory in sys.path:  # whoever makes it anew would have modules there
            sys.path.remove(self.local_directory)

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """No page: whoever reaches it would see what runs."""


class FleetWorker(Worker):
    """Dask's worker, with the station that does the work."""

    station: Station
    machine: Machine

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """No page, as above."""


async def carry_out(order: Order) -> Answer:
    """The task: a turn. Dask may call it twice; the station does it once."""
    worker = get_worker()
    assert isinstance(worker, FleetWorker)
    return await asyncio.wrap_future(worker.station.run(order))


def describe(campaign: str, run: str, dask_worker: FleetWorker) -> Machine | None:
    """Who a machine is; None where it is a worker of somebody else."""
    if not isinstance(dask_worker, FleetWorker):
        return None
    if campaign:
        dask_worker.station.greet(campaign, run)
    return dask_worker.machine


def look(run: str, dask_worker: FleetWorker) -> dict[int, tuple[float, Totals | None]]:
    """How far the turns of a run are, and for how long they have had cores."""
    return dask_worker.station.look(run)


def interrupt(run: str, epochs: Sequence[int], dask_worker: FleetWorker) -> None:
    """End turns now."""
    dask_worker.station.interrupt(run, epochs)


async def forget(run: str, target: str, seconds: float, dask_worker: FleetWorker) -> None:
    """Close the sessions of a run, or of one of its targets, which goes on elsewhere."""
    station = dask_worker.station
    await asyncio.to_thread(station.close_run, run, target, seconds)


def machine_of(station: Station, name: str, labels: Sequence[tuple[str, str]]) -> Machine:
    """A machine as it tells of itself; its address is known to who asks."""
    return Machine("", name, station.cores, __version__, tuple(sorted(labels)))
