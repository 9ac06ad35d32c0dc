"""Campaigns made up for tests of reports and views: whatever a store may hold, hostile text too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzzwise.model import Estimate
from fuzzwise.store.states import (
    BROKEN,
    FUZZING,
    RETIRED,
    WAITING,
    BugState,
    CampaignState,
    EventState,
    Stopped,
    TargetHistory,
    TargetState,
)

HOSTILE = "\x1b[31mred\x1b[0m <script>alert(1)</script> |pipe| \x07\u202etxt"
NAMES = ("png", "zlib", "json", "regex", "tiff-dump", "elf", "yaml-parser", "markdown")
MOODS = (FUZZING, RETIRED, WAITING, BROKEN, FUZZING, RETIRED, WAITING, WAITING)
KINDS = (
    ("heap-buffer-overflow", "write"),
    ("SEGV", "null dereference"),
    ("stack-overflow", "stack exhaustion"),
    ("heap-use-after-free", "read"),
    ("abort", "abort"),
)


def example_state(
    targets: int = 8,
    seed: int = 1,
    running: bool = True,
    *,
    folder: Path = Path("campaign"),
    accepted_risk: float | None = 1e-5,
    bugs_each: int = 2,
    hostile: bool = True,
) -> CampaignState:
    """A campaign of two hours on two cores, in the middle or at its end.

    Every third target is a black box; states repeat in the order of ``MOODS``. Targets with an even
    number have up to ``bugs_each`` bugs, some of which they share with the next; broken ones none.
    """
    rng = np.random.default_rng(seed)
    seconds = 4321.0 if running else 7200.0
    cores = 2
    shares = rng.dirichlet(np.full(targets, 1.5)) if targets else np.zeros(0)
    broken = np.array([MOODS[i % len(MOODS)] == BROKEN for i in range(targets)], dtype=bool)
    shares = np.where(broken, 0.0, shares)
    if shares.sum():
        shares = shares / shares.sum()
    bugs = _bugs(rng, targets, seconds, bugs_each, broken, hostile)
    made = tuple(
        _target(rng, i, float(shares[i]), seconds * cores, running, accepted_risk, bugs)
        for i in range(targets)
    )
    return CampaignState(
        folder=folder,
        name="nightly " + (HOSTILE if hostile else "parsers"),
        running=running,
        budget=7200.0,
        seconds=seconds,
        cores=cores,
        scheduler="risk-rate",
        epoch=10.0,
        confidence=0.95,
        epochs=sum(target.epochs for target in made),
        targets=made,
        bugs=bugs,
        events=_events(made, bugs, seconds, hostile),
        stopped=None if running else Stopped("time-budget", "The budget of 2 h is used up."),
    )


def example_history(
    state: CampaignState, points: int = 60, seed: int = 1
) -> tuple[TargetHistory, ...]:
    """How the targets of a campaign came to be where they are; broken ones have no history."""
    rng = np.random.default_rng(seed)
    histories = []
    for target in state.targets:
        if target.inputs == 0:
            continue
        inputs = np.unique(np.geomspace(100, target.inputs, points).astype(np.int64))
        part = inputs / target.inputs
        end = target.risk.value if target.risk else np.nan
        risk = end * part**-0.8 * np.exp(rng.normal(0, 0.1, len(inputs)) * (1 - part))
        histories.append(
            TargetHistory(
                name=target.name,
                at=part * state.seconds,
                seconds=part * target.seconds,
                inputs=inputs,
                species=np.round(target.species * part**0.15).astype(np.int64),
                discoveries=np.round(target.discoveries * part**0.4).astype(np.int64),
                risk=risk,
                low=risk / (1.2 + part**-0.2),
                high=risk * (1.2 + part**-0.2),
            )
        )
    return tuple(histories)


def _target(
    rng: np.random.Generator,
    i: int,
    share: float,
    spent: float,
    running: bool,
    accepted_risk: float | None,
    bugs: tuple[BugState, ...],
) -> TargetState:
    name, mood = target_name(i), MOODS[i % len(MOODS)]
    if mood == FUZZING and not running:
        mood = WAITING
    if mood == RETIRED and accepted_risk is None:
        mood = WAITING
    coverage = i % 3 != 2
    own = tuple(bug.id for bug in bugs if name in bug.targets)
    seconds = share * spent
    inputs = int(seconds * rng.uniform(200, 20_000)) + 1 if seconds else 0
    risk = left = None
    if mood == RETIRED and accepted_risk is not None:
        risk = _estimate(accepted_risk * rng.uniform(0.2, 0.5), inputs)
    elif inputs:
        risk = _estimate((accepted_risk or 1e-5) * 10 ** rng.uniform(0.5, 3), inputs)
        if accepted_risk is not None:
            left = _estimate(10 ** rng.uniform(1, 7), inputs)
    reason, detail = "", ""
    if mood == RETIRED and risk is not None:
        reason = "accepted-risk"
        detail = (
            f"The risk is at most {risk.high:.2g} with 95% confidence, below the accepted "
            f"{accepted_risk:g}."
        )
    elif mood == BROKEN:
        reason = "cannot-be-fuzzed"
        detail = f"build/{name}: no such file. Build it, or take the target out of the file."
    return TargetState(
        name=name,
        engine="libfuzzer" if coverage else "black-box",
        finds_coverage=coverage,
        state=mood,
        reason=reason,
        detail=detail,
        share=("medium", "high", "low")[i % 3],
        accepted_risk=accepted_risk,
        epochs=max(1, round(seconds / 10)) if inputs else 0,
        inputs=inputs,
        seconds=seconds,
        share_of_time=share,
        species=int(rng.integers(200, 9000)) if coverage and inputs else len(own),
        discoveries=int(rng.integers(40, 900)) if coverage and inputs else len(own),
        corpus=int(rng.integers(30, 700)) if coverage and inputs else min(1, inputs),
        risk=risk,
        trend=("falling", "level", "rising", "")[i % 4] if inputs else "",
        seconds_left=left,
        seconds_to_decision=None if left is None else left.value,
        bugs=own,
        crashes=sum(bug.crashes for bug in bugs if name in bug.targets),
        warnings=("Its seeds reach no code of the target.",) if i % 8 == 6 else (),
    )


def target_name(i: int) -> str:
    """The name of the i-th target."""
    return NAMES[i] if i < len(NAMES) else f"{NAMES[i % len(NAMES)]}-{i // len(NAMES) + 1}"


def _estimate(value: float, n: int) -> Estimate:
    return Estimate(float(value), float(value) / 2, float(value) * 1.8, 0.95, "recent-rate", n)


def _bugs(
    rng: np.random.Generator,
    targets: int,
    seconds: float,
    each: int,
    broken: NDArray[np.bool_],
    hostile: bool,
) -> tuple[BugState, ...]:
    bugs: list[BugState] = []
    for i in range(0, targets, 2):
        for j in range(each):
            kind, severity = KINDS[(i // 2 + j) % len(KINDS)]
            first = target_name(i)
            shared = j == 1 and i + 1 < targets and not broken[i + 1]
            frames: tuple[str, ...] = (f"parse_{first}_{j}", "read_chunk", "LLVMFuzzerTestOneInput")
            summary = f"{kind} in {frames[0]}"
            if hostile and not bugs:
                frames = (HOSTILE, *frames)
                summary = f"{kind} in {HOSTILE}"
            at = float(rng.uniform(5, seconds))
            identity = f"{rng.integers(1 << 48):012x}"
            home = f"targets/{first}/crashes/{identity}"
            bugs.append(
                BugState(
                    id=identity,
                    kind=kind,
                    severity=severity,
                    frames=frames if j != 2 else (),
                    summary=summary,
                    file=f"src/{first}.c" if j != 2 else "",
                    line=int(rng.integers(10, 900)) if j != 2 else None,
                    target=first,
                    targets=(first, target_name(i + 1)) if shared else (first,),
                    crashes=int(rng.integers(1, 400)),
                    inputs=(f"{home}/crash-1", f"{home}/crash-2"),
                    report=f"{home}/report.txt",
                    command=f"build/{first} {home}/crash-1",
                    at=at,
                    after_inputs=int(at * 100),
                    after_seconds=at / 4,
                    flaky=i == 2,
                )
            )
    return tuple(sorted(bugs, key=lambda bug: bug.at))


def _events(
    targets: tuple[TargetState, ...], bugs: tuple[BugState, ...], seconds: float, hostile: bool
) -> tuple[EventState, ...]:
    events = [EventState(bug.at, "bug", bug.target, f"{bug.id}: {bug.summary}") for bug in bugs]
    for i, target in enumerate(targets):
        at = seconds * (i + 1) / (len(targets) + 1)
        if target.state in (RETIRED, BROKEN):
            events.append(EventState(at, target.state, target.name, target.detail))
        events += [EventState(at, "warning", target.name, warning) for warning in target.warnings]
    if hostile and targets:
        events.append(EventState(seconds / 2, "warning", targets[0].name, HOSTILE))
    events.append(EventState(seconds / 3, "resumed", "", "The campaign goes on where it was."))
    return tuple(sorted(events, key=lambda event: event.at))
