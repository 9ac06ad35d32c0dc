"""Live campaigns on eight real libraries, for the study on spending time."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.campaign.threads import Threads
from fuzzwise.store.places import open_reader, open_store
from fuzzwise.triage.workers import Workers
from spend_targets import LIVE, campaign_file

SCHEDULERS = ("risk-rate", "round-robin")
SECONDS = 120
CORES = 2


def live_campaigns(work: Path, pairs: int) -> list[dict[str, object]]:
    """What live campaigns showed, one pair after the other; those that are there are kept."""
    folder = work / "live"
    folder.mkdir(exist_ok=True)
    for pair in range(1, pairs + 1):
        # Who is first changes from pair to pair.
        for scheduler in SCHEDULERS if pair % 2 else SCHEDULERS[::-1]:
            file = folder / f"{scheduler}-{pair}.json"
            if not file.exists():
                plan_file = campaign_file(work, LIVE, cores=CORES, budget=f"{SECONDS}s")
                plan = read_plan(plan_file, folder / "campaign")
                shown = _run(replace(plan, scheduler=scheduler, seed=pair))
                file.write_text(json.dumps(shown))
                print(f"{scheduler}, pair {pair}: {shown['coverage'][-1]:,} species", flush=True)
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def _run(plan: CampaignPlan) -> dict[str, object]:
    """Run it; the coverage of all targets at every second, and what each came to in its time."""
    shutil.rmtree(plan.folder, ignore_errors=True)
    with open_store(plan.folder) as store, Workers(plan.cores) as workers:
        turns = Threads(open_sessions(plan, workers), plan.cores)
        Manager(plan, store, turns).run(plan.budget, lambda: None)
    reader = open_reader(plan.folder)
    history, state = reader.history(points=10_000), reader.state()
    shutil.rmtree(plan.folder, ignore_errors=True)
    # What ended last may have ended a moment after the budget.
    moments = [*range(1, SECONDS), SECONDS + 10]
    coverage = [
        sum(int(one.species[one.at <= moment][-1:].sum()) for one in history) for moment in moments
    ]
    targets = {
        one.name: {
            "seconds": one.seconds,
            "inputs": one.inputs,
            "species": one.species,
            "discoveries": one.discoveries,
        }
        for one in state.targets
    }
    return {"scheduler": plan.scheduler, "coverage": coverage, "targets": targets}
