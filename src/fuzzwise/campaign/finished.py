"""From the totals of a turn and their judgement to what the store keeps of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.judge import Judgement, Terms, judge
from fuzzwise.store.contract import BugFound, FinishedTurn, RunEntry, TargetEntry
from fuzzwise.triage.bug_book import Bug


def judged(totals: Totals, terms: Terms, looked: int) -> Judgement:
    """The judgement of a target; its clock is the time on cores, so that what is left is, too."""
    now = replace(totals.observation, seconds=totals.seconds)
    return judge(now, terms, looked=looked, unsettled=totals.unsettled)


def finished(
    totals: Totals, judgement: Judgement, bug_found: Callable[[Bug], BugFound]
) -> FinishedTurn:
    """A turn as the store takes it."""
    o = judgement.observation
    held_back = (judgement.held_back,) if judgement.held_back else ()
    return FinishedTurn(
        generation=totals.generation,
        inputs=o.n,
        seconds=totals.seconds,
        species=o.species or 0,
        discoveries=0 if o.discoveries is None else len(o.discoveries),
        corpus=totals.corpus,
        crashes=totals.crashes,
        risk=judgement.risk,
        trend=judgement.trend,
        seconds_left=judgement.seconds_left,
        seconds_to_decision=judgement.seconds_to_decision,
        discovery_rate=judgement.discovery_rate,
        stability=totals.stability,
        warnings=(*totals.warnings, *held_back),
        observation=o,
        bugs=tuple(bug_found(bug) for bug in totals.bugs),
    )


def recent_bugs(totals: Totals) -> int:
    """Bugs that were found in the second half of all inputs; those of earlier builds have none."""
    n = totals.observation.n
    return sum(n / 2 < bug.found_at <= n for bug in totals.bugs)


def run_entry(plan: CampaignPlan, budget: float | None) -> RunEntry:
    """A run of a campaign as the store takes it."""
    return RunEntry(
        *(plan.name, budget, plan.cores, plan.scheduler, plan.epoch, plan.confidence),
        tuple(
            TargetEntry(
                target.name,
                target.engine,
                engine_named(target.engine).finds_coverage,
                target.share,
                target.accepted_risk,
            )
            for target in plan.targets
        ),
    )
