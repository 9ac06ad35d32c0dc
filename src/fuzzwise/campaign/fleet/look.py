"""Who is in a fleet, for people who look."""

from __future__ import annotations

import time
import uuid

from fuzzwise.campaign.fleet.link import Link
from fuzzwise.campaign.fleet.messages import Machine
from fuzzwise.campaign.fleet.security import Door
from fuzzwise.errors import BadInput

PATIENCE = 15.0
SETTLED = 1.0
"""Seconds without another machine after which all are taken to be known."""


def machines_at(door: Door) -> list[Machine]:
    """The machines that are there, by name; BadInput where nobody answers."""
    link = Link(door, "", uuid.uuid4().hex)
    try:
        deadline = time.monotonic() + PATIENCE
        while not link.is_up and time.monotonic() < deadline:
            if link.problem:
                raise BadInput(link.problem)
            time.sleep(0.05)
        seen, since = -1, time.monotonic()
        while time.monotonic() < min(deadline, since + SETTLED):
            if len(link.machines) != seen:
                seen, since = len(link.machines), time.monotonic()
            time.sleep(0.05)
        return sorted(link.machines.values(), key=lambda machine: machine.name)
    finally:
        link.close(2.0)
