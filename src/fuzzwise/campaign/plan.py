"""What a campaign is to do: the content of a campaign file, checked and complete."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.store.address import Address


@dataclass(frozen=True)
class FleetPlan:
    """The machines that a campaign runs on, by the address of their scheduler.

    ``storage`` is the URL of what they share; ``certificates`` is the folder of them, None where
    all is on this machine.
    """

    address: str
    storage: str
    certificates: Path | None = None


@dataclass(frozen=True)
class CampaignPlan:
    """A whole campaign; times are in seconds, and ``budget`` is by the clock on the wall.

    ``store`` is the database that keeps it; None: a file in its folder.
    """

    name: str
    folder: Path
    targets: tuple[TargetPlan, ...]
    budget: float | None
    cores: int
    scheduler: str
    epoch: float
    confidence: float = 0.95
    seed: int = 1
    fleet: FleetPlan | None = None
    store: Address | None = None
