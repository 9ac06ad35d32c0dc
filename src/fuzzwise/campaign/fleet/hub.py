"""The scheduler of a fleet as a process: who is there, and who gets which message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fuzzwise.campaign.fleet import node
from fuzzwise.campaign.fleet.security import Door
from fuzzwise.errors import BadInput
from fuzzwise.text import printable


@asynccontextmanager
async def hub(door: Door) -> AsyncIterator[str]:
    """A scheduler that listens, while in here; the address at which it is reached."""
    node.configure()
    scheme, _, place = door.address.partition("://")
    host, _, port = place.rpartition(":")
    scheduler = None
    try:
        scheduler = node.FleetScheduler(
            host=host.strip("[]"),
            port=int(port),
            protocol=scheme,
            security=door.security,
            dashboard=False,
        )
        await scheduler
    except (OSError, ValueError) as error:
        if scheduler is not None:
            with suppress(Exception):
                await scheduler.close()
        raise BadInput(
            f"{door.address}: nobody can be listened for there ({printable(str(error))}). Is there "
            "another scheduler already? Choose another --port."
        ) from error
    try:
        yield str(scheduler.address)
    finally:
        with suppress(Exception):
            await asyncio.wait_for(scheduler.close(), 5)
