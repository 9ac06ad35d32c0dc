"""The sessions of a campaign: who fuzzes each of its targets."""

from __future__ import annotations

import zlib

from fuzzwise.campaign.places import target_folder
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import Session
from fuzzwise.engines.registry import engine_named
from fuzzwise.triage.workers import Workers


def open_sessions(plan: CampaignPlan, workers: Workers) -> dict[str, Session]:
    """A session for each target; each with a random seed of its own, the same in every run."""
    return {
        target.name: engine_named(target.engine).open_session(
            target,
            target_folder(plan.folder, target.name),
            zlib.crc32(target.name.encode()) ^ plan.seed,
            workers,
        )
        for target in plan.targets
    }
