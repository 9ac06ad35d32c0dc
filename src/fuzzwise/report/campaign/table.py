"""The targets of a campaign as a table that fits a terminal, for the live view and ``status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from fuzzwise.report import grid, left, short, words
from fuzzwise.report.campaign.words import NOT_RUN, STOPPED, fate
from fuzzwise.report.grid import Column
from fuzzwise.store.states import BROKEN, FUZZING, RETIRED, WAITING, CampaignState, TargetState

ORDER = (FUZZING, BROKEN, WAITING, RETIRED)
FATES = (FUZZING, BROKEN, WAITING, STOPPED, NOT_RUN, RETIRED)
MARKS = {FUZZING: "▶", WAITING: "·", RETIRED: "✓", BROKEN: "✗"}
STYLES = {FUZZING: "bold cyan", WAITING: "", RETIRED: "green", BROKEN: "bold red"}
TRENDS = {"falling": "↓", "level": "→", "rising": "↑"}
KEPT = 7
"""The rank of the last column that is to be shown at 80 cells."""
LEAST_NAME = 20
"""Cells of a name in a picture, which shows many targets beside each other's numbers."""
MOST_BROKEN = 1 / 3
"""Of the lines, where not all targets have one: the others are what the campaign is about."""


def by_urgency(targets: Sequence[TargetState]) -> list[TargetState]:
    """Fuzzing first, then broken, waiting by highest risk (unknown: 1), retired last."""
    return sorted(
        targets, key=lambda t: (ORDER.index(t.state), -(t.risk.risk if t.risk else 1.0), t.name)
    )


def table(
    targets: Sequence[TargetState],
    width: int | None,
    height: int | None,
    *,
    running: bool = True,
) -> list[Text]:
    """The table in at most so many lines, at least 4; in the given order where all fit.

    Where they do not, the last line says how many of which state are not shown.
    """
    if height is None or len(targets) + 2 <= height:
        return grid.lines(columns(targets, running=running), width, keep=KEPT)
    shown = _most_urgent(targets, max(1, height - 3))
    hidden = Counter(fate(t, running) for t in targets)
    hidden.subtract(fate(t, running) for t in shown)
    more = f"… {sum(hidden.values())} more: {states(hidden)}"
    cut = more if width is None else short.fitted(more, width, words=True)
    made = grid.lines(columns(shown, running=running), width, keep=KEPT)
    return [*made, Text(cut, "dim", no_wrap=True, end="")]


def columns(
    targets: Sequence[TargetState], least: int = LEAST_NAME, *, running: bool = True
) -> list[Column]:
    """All there is to say of targets; names of up to ``least`` cells are whole."""
    moods = [STYLES[t.state] for t in targets]
    accepted = [short.chance(t.accepted_risk) for t in targets]
    return [
        Column("", [MARKS[t.state] for t in targets], rank=1, styles=moods),
        Column("target", [short.name(t.name) for t in targets], least=least, middle=True),
        Column("state", [fate(t, running) for t in targets], styles=moods),
        *_risk_columns(targets),
        *_count_columns(targets),
        Column("accepted", accepted, rank=10, right=True),
        Column("note", [note(t) for t in targets], rank=11, least=24),
    ]


def _risk_columns(targets: Sequence[TargetState]) -> list[Column]:
    risks = [t.risk for t in targets]
    at_most = [
        short.chance(t.risk.high if t.risk else None, upper=True, beside=t.accepted_risk)
        for t in targets
    ]
    return [
        Column("risk", [short.chance(r.risk if r else None) for r in risks], right=True),
        Column("at most", at_most, rank=2, right=True),
        Column("", [TRENDS.get(t.trend, " ") for t in targets], rank=3),
        Column("left", [_left(t) for t in targets], rank=4, right=True),
    ]


def _count_columns(targets: Sequence[TargetState]) -> list[Column]:
    bugs = [str(len(t.bugs)) for t in targets]
    alarms = ["bold red" if t.bugs else "" for t in targets]
    speeds = [short.count(t.inputs_per_second) if t.inputs else short.NONE for t in targets]
    return [
        Column("time", [words.percent(t.share_of_time) for t in targets], rank=5, right=True),
        Column("bugs", bugs, rank=1, right=True, styles=alarms),
        Column("exec/s", speeds, rank=6, right=True),
        Column("corpus", [short.count(t.corpus) for t in targets], rank=7, right=True),
        Column("inputs", [short.count(t.inputs) for t in targets], rank=8, right=True),
        Column("species", [short.count(t.species) for t in targets], rank=9, right=True),
    ]


def note(target: TargetState) -> str:
    """Why it is retired or broken, or what is odd about it."""
    said = target.detail if target.state in (RETIRED, BROKEN) else ""
    return short.sentence(" ".join(filter(None, (said, *target.warnings))))


def states(counts: Counter[str]) -> str:
    """How many targets are in which state: 2 fuzzing, 3 waiting."""
    parts = [f"{counts[state]} {state}" for state in FATES if counts[state]]
    return ", ".join(parts) or "none"


def fates(state: CampaignState) -> str:
    """The same for a campaign, which may be over."""
    return states(Counter(fate(target, state.running) for target in state.targets))


def standing(state: CampaignState) -> str:
    """How the campaign stands, in a few words."""
    spent = short.clock(state.seconds)
    if state.running:
        return f"running for {spent}" + (f" of {short.clock(state.budget)}" if state.budget else "")
    if state.stopped is None:
        return "not started yet"
    if state.stopped.reason in ("killed", "interrupted"):
        return f"{state.stopped.reason} after {spent}; run it again to go on"
    return f"finished after {spent}: {short.sentence(state.stopped.detail)}"


def _most_urgent(targets: Sequence[TargetState], room: int) -> list[TargetState]:
    ordered = by_urgency(targets)
    broken = [t for t in ordered if t.state == BROKEN]
    others = [t for t in ordered if t.state != BROKEN]
    kept = max(int(room * MOST_BROKEN), room - len(others))
    return by_urgency(broken[:kept] + others[: room - min(len(broken), kept)])


def _left(target: TargetState) -> str:
    if target.state == RETIRED:
        return "0s"
    seconds = left.of_target(target)
    return short.NONE if seconds is None else short.rough(seconds)
