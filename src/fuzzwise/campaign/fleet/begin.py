"""A campaign joins a fleet: line, storage and executor, from the plan to the end of the run."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzzwise.campaign.fleet.executor import Fleet
from fuzzwise.campaign.fleet.ledger import PATIENCE as PATIENCE_FOR_STORAGE
from fuzzwise.campaign.fleet.ledger import StorageGone, StoredLedger
from fuzzwise.campaign.fleet.link import Link
from fuzzwise.campaign.fleet.moving import is_stored_at
from fuzzwise.campaign.fleet.security import door
from fuzzwise.campaign.plan import CampaignPlan, FleetPlan
from fuzzwise.errors import BadInput

PATIENCE = 60.0
"""Seconds to wait for the first machine."""

PAUSE = 0.5
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
    ledger = _ledger(plan, fleet.storage, say, interrupted)
    link = Link(entrance, ledger.campaign, uuid.uuid4().hex)
    executor = Fleet(link, ledger, ledger.campaign)
    try:
        _wait_for_machines(executor, link, entrance.address, say, interrupted)
        yield executor
    finally:
        ledger.close()
        executor.close(1.0)


def _ledger(
    plan: CampaignPlan, url: str, say: Callable[[str], None], interrupted: Callable[[], bool]
) -> StoredLedger:
    """What is stored of a campaign; where it was stored there before, the storage is waited for."""
    deadline = time.monotonic() + PATIENCE_FOR_STORAGE
    said = False
    while True:
        try:
            return StoredLedger(plan, url)
        except StorageGone as error:
            is_known = is_stored_at(plan.folder, url)
            if not is_known or interrupted() or time.monotonic() > deadline:
                raise
            if not said:
                said = True
                say(f"{error} It is waited for, up to {PATIENCE_FOR_STORAGE:.0f} s.")
            time.sleep(PAUSE)


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
