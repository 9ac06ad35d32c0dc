"""What a machine needs to know to open a target."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.contract import TargetPlan


@dataclass(frozen=True)
class Errand:
    """A target as the manager has it, and where the rest of it is.

    ``baggage`` names the list of its files in the storage; ``before`` is the token of the manifest
    to go on from, 0 where nothing is stored, and ``token`` that of the one that comes of the turn.
    """

    plan: TargetPlan
    seed: int
    storage: str
    baggage: str
    before: int
    token: int
