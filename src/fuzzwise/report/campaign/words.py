"""The words and the order in which a campaign is told, the same in every kind of report."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fuzzwise.report import left as time_left
from fuzzwise.report import words
from fuzzwise.store.states import BROKEN, RETIRED, BugState, CampaignState, TargetState
from fuzzwise.text import printable, significant, upper_bound
from fuzzwise.triage.kinds import SEVERITIES

STOPPED, NOT_RUN = "stopped", "not run"
"""A target that the end of the campaign stopped; one that had no turn before it."""
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def verdict(state: CampaignState, new_ids: Collection[str] | None = None) -> str:
    """The campaign in a sentence; ``new_ids`` are the bugs that a baseline does not know."""
    if not state.targets:
        return "The campaign has no targets."
    retired, active, broken = by_fate(state)
    total = words.many(len(state.targets), "target")
    parts = [found(state, new_ids)]
    if retired:
        parts.append(f"{len(retired)} of {total} {_are(retired)} safe to stop")
    if active:
        parts.append(
            f"{len(active)} {_are(active)} not"
            if retired
            else f"none of {total} is known to be safe to stop"
        )
    if broken:
        parts.append(f"{len(broken)} {'cannot' if state.running else 'could not'} be fuzzed")
    return "; ".join(parts) + "."


def found(state: CampaignState, new_ids: Collection[str] | None = None) -> str:
    """How many bugs were found, and how many of them are new."""
    if not state.bugs:
        return "No bugs found"
    text = f"{words.many(len(state.bugs), 'bug')} found"
    if new_ids is None:
        return text
    new = sum(bug.id in new_ids for bug in state.bugs)
    return f"{text}, {new or 'none'} of them new"


def progress(state: CampaignState) -> str:
    """How far the campaign is, or why it ended."""
    spent = words.duration(state.seconds)
    if state.running:
        of = f" of {words.duration(state.budget)}" if state.budget else ""
        return f"Running for {spent}{of}; this is how it stands now."
    why = state.stopped.detail if state.stopped else "It is not running."
    return f"Ran for {spent}. {why}"


def by_fate(
    state: CampaignState,
) -> tuple[list[TargetState], list[TargetState], list[TargetState]]:
    """Targets that are retired, that are not, and that cannot be fuzzed; each the worst first."""
    order = worst_first(state.targets)
    return (
        [target for target in order if target.state == RETIRED],
        [target for target in order if target.state not in (RETIRED, BROKEN)],
        [target for target in order if target.state == BROKEN],
    )


def worst_first(targets: Sequence[TargetState]) -> list[TargetState]:
    """Broken ones, then by how far the risk may be above what is accepted; retired ones last.

    A target of which no risk is known yet comes before those with any risk.
    """
    return sorted(targets, key=lambda t: (t.state == RETIRED, t.state != BROKEN, -excess(t)))


def excess(target: TargetState) -> float:
    """The most that the risk may be, beside the accepted risk (or 1 where there is none)."""
    worst = upper_risk(target)
    return float("inf") if worst is None else worst / (target.accepted_risk or 1.0)


def upper_risk(target: TargetState) -> float | None:
    """The most that the risk of a target may be, as its latest interval says."""
    if target.risk is None:
        return None
    return min(1.0, target.risk.value if target.risk.high is None else target.risk.high)


def bugs_worst_first(
    bugs: Sequence[BugState], new_ids: Collection[str] | None = None
) -> list[BugState]:
    """New bugs, then the known; within these by severity, then by the time they were found."""
    rank = {severity: i for i, severity in enumerate(SEVERITIES)}
    return sorted(
        bugs,
        key=lambda bug: (
            new_ids is not None and bug.id not in new_ids,
            rank.get(bug.severity, len(rank)),
            bug.at,
        ),
    )


def clearest(bugs: Sequence[BugState]) -> BugState:
    """The worst of the bugs that show every time; of all, where none does."""
    return min(bugs_worst_first(bugs), key=lambda bug: bool(bug.flaky))


def place(bug: BugState) -> str:
    """Where a bug is: a function, or the target where that is all that is known."""
    return bug.frames[0] if bug.frames else bug.target


def title(bug: BugState) -> str:
    """What a bug is, in a few words."""
    return f"{bug.kind} in {place(bug)}"


def source(bug: BugState) -> str:
    """The file and line of a bug; empty where they are not known."""
    return f"{bug.file}:{bug.line}" if bug.file and bug.line else bug.file


def fate(target: TargetState, running: bool) -> str:
    """The state of a target in a word; when the campaign is over, nobody waits any more."""
    if running or target.state in (RETIRED, BROKEN):
        return target.state
    return STOPPED if target.inputs else NOT_RUN


def at_most(target: TargetState) -> str:
    """The most that the risk of a target may be, not to be taken for what is accepted."""
    worst = upper_risk(target)
    if worst is None:
        return "–"
    return chance(float(shown := upper_bound(worst, target.accepted_risk)), significant(shown))


def chance(value: float | None, digits: int = 2) -> str:
    """A probability as people write it: 0.25, 3.1×10⁻⁵; a dash for none."""
    text = words.number(value, max(2, digits))
    figures, power, exponent = text.partition("e")
    if not power:
        return text
    raised = f"10{str(int(exponent)).translate(SUPERSCRIPT)}"
    return raised if float(figures) == 1 else f"{figures}×{raised}"


def left(target: TargetState) -> str:
    """How long the target needs until it may be retired; a dash where that is not known."""
    seconds = time_left.of_target(target)
    return "–" if seconds is None else words.ahead(seconds)


def builds(target: TargetState) -> list[str]:
    """What each build of a target that has several took and added; nothing for others."""
    spent = sum(build.seconds for build in target.builds) or 1.0
    return [
        f"{printable(build.engine)}: {words.percent(build.seconds / spent)} of its time, "
        f"{words.count(build.inputs)} inputs, {words.many(build.discoveries, 'discovery')}, "
        f"{words.many(build.imported, 'seed')} from the others, risk "
        f"{words.number(build.risk.risk if build.risk else None, 2)}"
        for build in target.builds
    ]


def _are(targets: Sequence[TargetState]) -> str:
    return "is" if len(targets) == 1 else "are"
