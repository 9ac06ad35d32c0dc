"""Simulated campaigns in the form that the evaluation takes."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzwise.simulate.urn import UrnCampaign
from fuzzwise.snapshot import Campaign


def as_campaigns(runs: list[UrnCampaign], subject: str = "urn") -> Iterator[Campaign]:
    """Each simulated campaign with its observations and exact truth.

    Points where the truth is exactly 0, because the urn holds nothing new any more, are left out:
    no estimator can know that, and none is to be judged by it.
    """
    for i, run in enumerate(runs, start=1):
        known = tuple(o for o in run.observations() if o.truth and o.truth.probability > 0)
        yield Campaign(f"{run.mode}-{i}", known, subject)
