"""A campaign joins a fleet: line, storage and executor, from the plan to the end of the run."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzzwise.campaign.fleet.executor import Fleet
from fuzzwise.campaign.fleet.ledger import StoredLedger
from fuzzwise.campaign.fleet.link import Link
from fuzzwise.campaign.fleet.security import door
from fuzzwise.campaign.plan import CampaignPlan, FleetPlan
from fuzzwise.errors import BadInput

PATIENCE = 60.0
"""Seconds to wait for the first machine."""

SOON = 3.0
"""Seconds after which it is said that one is waited for."""


@contextmanager
def joined(
    plan: CampaignPlan,
    fleet: FleetPlan,
    say: Callable[[str], None],
    interrupted: Callable[[], bool],
) -> Iterator[Fleet]:
    """The executor of a campaign on a fleet; BadInput where no machine is there."""
    entrance = door(fleet.address, fleet.certificates, "manager")
    ledger = StoredLedger(plan, fleet.storage)
    link = Link(entrance, ledger.campaign, uuid.uuid4().hex)
    executor = Fleet(link, ledger, ledger.campaign)
    try:
        _wait_for_machines(executor, link, entrance.address, say, interrupted)
        yield executor
    finally:
        ledger.close()
        executor.close(1.0)


def _wait_for_machines(
    executor: Fleet,
    link: Link,
    address: str,
    say: Callable[[str], None],
    interrupted: Callable[[], bool],
) -> None:
    began = time.monotonic()
    said = False
    while not executor.cores and not interrupted():
        waited = time.monotonic() - began
        if waited > SOON and not said:
            said = True
            say(link.problem or f"Waiting for a machine to join {address}.")
        if waited > PATIENCE:
            raise BadInput(
                link.problem
                or f"No machine has joined {address}. Start one with: fuzzwise worker {address} "
                "--work DIR"
            )
        time.sleep(0.05)
