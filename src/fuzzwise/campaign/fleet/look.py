"""Who is in a fleet, for people who look."""

from __future__ import annotations

import time
import uuid

from fuzzwise.campaign.fleet.link import Link
from fuzzwise.campaign.fleet.messages import Machine
from fuzzwise.campaign.fleet.security import Door
from fuzzwise.errors import BadInput

PATIENCE = 60.0
"""Seconds to wait for a machine that does not say who it is."""


def machines_at(door: Door) -> list[Machine]:
    """The machines that are there and answer, by name; BadInput where nobody does."""
    link = Link(door, "", uuid.uuid4().hex)
    try:
        deadline = time.monotonic() + PATIENCE
        while not link.knows_all and time.monotonic() < deadline:
            if link.problem:
                raise BadInput(link.problem)
            time.sleep(0.05)
        return sorted(link.machines.values(), key=lambda machine: machine.name)
    finally:
        link.close(2.0)
