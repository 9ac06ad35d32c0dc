"""The sessions of a campaign: who fuzzes each of its targets."""

from __future__ import annotations

import zlib
from pathlib import Path

from fuzzwise.campaign.places import target_folder
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import Session, TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.schedulers.registry import policies
from fuzzwise.triage.workers import Workers


def open_sessions(plan: CampaignPlan, workers: Workers) -> dict[str, Session]:
    """A session for each target."""
    return {target.name: open_session(plan, target, workers) for target in plan.targets}


def open_session(plan: CampaignPlan, target: TargetPlan, workers: Workers) -> Session:
    """The session of a target, in its folder on this machine."""
    seed = random_seed(plan, target.name)
    folder = target_folder(plan.folder, target.name)

    def open_one(part: TargetPlan, home: Path) -> Session:
        return engine_named(part.engine).open_session(part, home, seed, workers)

    if not target.builds:
        return open_one(target, folder)
    from fuzzwise.campaign.builds import Builds

    return Builds(target, folder, policies()[plan.scheduler], seed, open_one)


def random_seed(plan: CampaignPlan, target: str) -> int:
    """A random seed of each target's own, the same in every run."""
    return zlib.crc32(target.encode()) ^ plan.seed
