"""A campaign as JSON, for the programs that read ``run``, ``status`` and ``report --json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from fuzzwise.errors import NotEstimable
from fuzzwise.judge import Judgement, Terms, judge
from fuzzwise.model import Estimate, Observation
from fuzzwise.report.campaign.elsewhere import Elsewhere
from fuzzwise.report.estimate_json import estimate_json
from fuzzwise.store.states import BROKEN, RETIRED, BugState, CampaignState, TargetState
from fuzzwise.text import printable


def document(
    kept: CampaignState, observations: Mapping[str, Observation], *, share: bool = False
) -> dict[str, object]:
    """The whole campaign; a target without an observation has no estimates beside its risk.

    More keys may be added, none of them renamed. Text that a target may have made is printable.
    With ``share``, nothing tells of the machine.
    """
    elsewhere = Elsewhere(kept, share=share)
    state, observations = elsewhere.state(), elsewhere.by_target(observations)
    stopped = state.stopped
    return {
        "name": printable(state.name),
        "folder": printable(elsewhere.folder()),
        "store": None if share or not state.store else state.store,
        "host": None if share or not state.host else printable(state.host),
        "running": state.running,
        "budget": state.budget,
        "seconds": state.seconds,
        "cores": state.cores,
        "scheduler": state.scheduler,
        "epoch": state.epoch,
        "confidence": state.confidence,
        "epochs": state.epochs,
        "targets": [
            _target(target, observations.get(target.name), state.confidence)
            for target in state.targets
        ],
        "bugs": [_bug(bug) for bug in state.bugs],
        "events": [
            asdict(event) | {"target": printable(event.target), "detail": printable(event.detail)}
            for event in state.events
        ],
        "stopped": stopped and {"reason": stopped.reason, "detail": printable(stopped.detail)},
    }


def _target(
    target: TargetState, observation: Observation | None, confidence: float
) -> dict[str, object]:
    known = (
        judge(observation, Terms(target.accepted_risk, confidence))
        if observation is not None and observation.n
        else None
    )
    # Whoever judged it may have had reasons to hold a stop back that no observation has.
    left = known if target.seconds_to_decision is not None else None
    ended = target.state in (RETIRED, BROKEN)
    return {
        "name": printable(target.name),
        "engine": target.engine,
        "finds_coverage": target.finds_coverage,
        "state": target.state,
        "share": target.share,
        "share_of_time": target.share_of_time,
        "accepted_risk": target.accepted_risk,
        "epochs": target.epochs,
        "inputs": target.inputs,
        "seconds": target.seconds,
        "inputs_per_second": target.inputs_per_second,
        "species": target.species,
        "discoveries": target.discoveries,
        "corpus": target.corpus,
        "risk": estimate_json(target.risk),
        "trend": target.trend,
        "estimates": _estimates(known),
        "not_estimable": _not_estimable(known),
        "inputs_left": estimate_json(left.inputs_left if left else None),
        "seconds_left": estimate_json(target.seconds_left),
        "inputs_to_stop": estimate_json(left.inputs_to_stop if left else None),
        "seconds_to_stop": estimate_json(left.seconds_to_stop if left else None),
        "bugs": list(target.bugs),
        "crashes": target.crashes,
        "stability": target.stability,
        "builds": [asdict(build) | {"risk": estimate_json(build.risk)} for build in target.builds],
        "warnings": [printable(warning) for warning in target.warnings],
        "stopped": {"reason": target.reason, "detail": printable(target.detail)} if ended else None,
    }


def _estimates(known: Judgement | None) -> dict[str, object]:
    made = known.estimates if known else {}
    return {name: estimate_json(e) for name, e in made.items() if isinstance(e, Estimate)}


def _not_estimable(known: Judgement | None) -> dict[str, str]:
    made = known.estimates if known else {}
    return {name: str(e) for name, e in made.items() if isinstance(e, NotEstimable)}


def _bug(bug: BugState) -> dict[str, object]:
    return {
        "id": bug.id,
        "kind": printable(bug.kind),
        "severity": printable(bug.severity),
        "frames": [printable(frame) for frame in bug.frames],
        "summary": printable(bug.summary),
        "file": printable(bug.file) or None,
        "line": bug.line,
        "target": printable(bug.target),
        "targets": [printable(name) for name in bug.targets],
        "crashes": bug.crashes,
        "inputs": [printable(name) for name in bug.inputs],
        "reproducer": printable(bug.inputs[0]) if bug.inputs else None,
        "report": printable(bug.report),
        "command": printable(bug.command),
        "at": bug.at,
        "after_inputs": bug.after_inputs,
        "after_seconds": bug.after_seconds,
        "flaky": bug.flaky,
    }
