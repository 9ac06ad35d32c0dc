"""Simulated campaigns in the form that the evaluation takes."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzwise.lab.urn.urn import UrnCampaign
from fuzzwise.snapshot import Campaign


def as_campaigns(runs: list[UrnCampaign], subject: str = "urn") -> Iterator[Campaign]:
    """Each simulated campaign with its observations and exact truth."""
    for i, run in enumerate(runs, start=1):
        yield Campaign(f"{run.mode}-{i}", tuple(run.observations()), subject, "urn")
