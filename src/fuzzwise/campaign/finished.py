"""From the totals of a turn and their judgement to what the store keeps of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import BuildTotals, Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.judge import Judgement, Terms, judge, judge_history, judge_together
from fuzzwise.model import Observation
from fuzzwise.store.contract import BugFound, FinishedTurn, RunEntry, TargetEntry
from fuzzwise.store.states import BuildState
from fuzzwise.triage.bug_book import Bug

NO_LOOK: tuple[int, float | None] = (0, None)
"""What is remembered of the stop rule's looks at counts at which it had none."""


def judged(totals: Totals, terms: Terms, looked: int) -> Judgement:
    """The judgement of a target; its clock is the time on cores, so that what is left is, too.

    Builds of one target have their looks at different times, which nobody keeps: each is judged by
    its whole history.
    """
    if totals.builds:
        parts = [build.totals for build in totals.builds]
        judgements = [_by_history(part, terms) for part in parts]
        return judge_together(judgements, [part.seconds for part in parts])
    now = replace(totals.observation, seconds=totals.seconds)
    return judge(now, terms, looked=looked, unsettled=totals.unsettled)


def on_cores(judgement: Judgement, totals: Totals) -> Judgement:
    """A judgement by the clock on the wall, as it is with the time on cores for its clock."""
    now = judgement.observation
    cores = totals.seconds / totals.observation.seconds if totals.observation.seconds else 0.0
    if not now.seconds or not cores:
        return judgement
    return replace(
        judgement,
        observation=replace(now, seconds=now.seconds * cores),
        discovery_rate=judgement.discovery_rate / cores,
    )


def _by_history(totals: Totals, terms: Terms) -> Judgement:
    now = replace(totals.observation, seconds=totals.seconds)
    exact = now.counted_at is None
    return judge_history(now, terms, exact=exact, unsettled=totals.unsettled)


def finished(
    totals: Totals, judgement: Judgement, bug_found: Callable[[Bug], BugFound]
) -> FinishedTurn:
    """A turn as the store takes it.

    Of several builds, the observation is that of the one which the risk is of.
    """
    o = totals.observation
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
        observation=judgement.observation,
        bugs=tuple(bug_found(bug) for bug in totals.bugs),
        builds=tuple(map(_build_state, totals.builds, judgement.builds)),
    )


def _build_state(build: BuildTotals, judgement: Judgement) -> BuildState:
    found = build.totals.observation.discoveries
    return BuildState(
        engine=build.engine,
        inputs=build.totals.observation.n,
        seconds=build.totals.seconds,
        discoveries=0 if found is None else len(found),
        imported=build.imported,
        risk=judgement.risk,
    )


def recent_bugs(totals: Totals) -> int:
    """Bugs that were found in the second half of all inputs; those of earlier builds have none."""
    parts = [build.totals for build in totals.builds] or [totals]
    return len(
        {
            bug.id
            for part in parts
            for bug in part.bugs
            if part.observation.n / 2 < bug.found_at <= part.observation.n
        }
    )


def runs_since_discovery(observation: Observation) -> int:
    """Inputs after its last discovery; all of them where it has none."""
    found = observation.discoveries
    last = int(found[-1]) if found is not None and len(found) else 0
    return observation.n - last


def run_entry(plan: CampaignPlan, budget: float | None) -> RunEntry:
    """A run of a campaign as the store takes it."""
    return RunEntry(
        *(plan.name, budget, plan.cores, plan.scheduler, plan.epoch, plan.confidence),
        tuple(
            TargetEntry(
                target.name,
                target.engine,
                engine_named(target.parts[0].engine).finds_coverage,
                target.share,
                target.accepted_risk,
            )
            for target in plan.targets
        ),
    )
