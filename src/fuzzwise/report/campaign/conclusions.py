"""What a campaign showed, in sentences: the conclusions of its report and of its summary.

They claim no more than the stop rule does. A target is called safe to stop only where it was
retired: the interval of its risk was below the accepted risk, at the campaign's confidence, for
that target alone. The risk is the probability that the next input shows anything new; for a black
box, whose species are bugs, that it shows a new bug. Neither says that there are no bugs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fuzzwise.report import bug_bound, left, words
from fuzzwise.report.campaign import words as say
from fuzzwise.store.states import RETIRED, CampaignState, TargetState
from fuzzwise.text import upper_bound

MOST_NAMED = 6
MOST_BROKEN = 3


@dataclass(frozen=True)
class Conclusion:
    """One thing to know: ``tone`` is good, bad or plain; points are (what, why) in order."""

    title: str
    tone: str
    sentence: str
    points: tuple[tuple[str, str], ...] = ()
    note: str = ""


def conclusions(
    state: CampaignState, new_ids: Collection[str] | None = None
) -> tuple[Conclusion, ...]:
    """What is safe to stop, what is not and why, where the time went, and what was found."""
    made = (_safe(state), _not_safe(state), _time(state), _bugs(state, new_ids))
    return tuple(conclusion for conclusion in made if conclusion)


def _bugs(state: CampaignState, new_ids: Collection[str] | None) -> Conclusion:
    if not state.bugs:
        none = "No input crashed a target." if any(t.inputs for t in state.targets) else ""
        note = "That is no proof that there are no bugs: the risk says how much may be left to see."
        return Conclusion(
            "What was found", "good" if none else "plain", f"No bugs. {none}", (), note
        )
    where = {name for bug in state.bugs for name in bug.targets}
    order = say.bugs_worst_first(state.bugs, new_ids)
    points = [
        (
            say.title(bug),
            f"{bug.severity}, {bug.target}" + (", new" if new_ids and bug.id in new_ids else ""),
        )
        for bug in order
    ]
    sentence = (
        f"{say.found(state, new_ids)}, in {words.many(len(where), 'target')}. The worst first:"
    )
    return Conclusion("What was found", "bad", sentence, _cut(points))


def _safe(state: CampaignState) -> Conclusion | None:
    retired, _, _ = say.by_fate(state)
    if not retired:
        why = (
            f"No target {'is' if state.running else 'was'} below its accepted risk"
            f"{' yet' if state.running else ''}."
            if any(t.accepted_risk is not None for t in state.targets)
            else "No accepted risk was given, so that no target can be called safe to stop."
        )
        return Conclusion("Safe to stop", "plain", why)
    points = [
        (
            target.name,
            f"at most {say.at_most(target)}{_of(target)}{_bug(target, state)}{_but(target)}",
        )
        for target in retired
    ]
    note = (
        f"With {state.confidence:.0%} confidence, for each of them, the probability that the next "
        "input shows anything new is below the accepted risk. It does not mean that they have no "
        "bugs, only that more of the same fuzzing is unlikely to show them; and that as far as a "
        "bug first shows together with something new. The bound by inputs alone needs something "
        "else: that the inputs to come are like those without a new bug."
    )
    sentence = f"{words.many(len(retired), 'target')} reached the accepted risk:"
    return Conclusion("Safe to stop", "good", sentence, _cut(points), note)


def _not_safe(state: CampaignState) -> Conclusion | None:
    _, active, broken = say.by_fate(state)
    if not active and not broken:
        return None
    parts = []
    if broken:
        parts.append(
            f"{words.many(len(broken), 'target')} {'cannot' if state.running else 'could not'} be "
            "fuzzed, so that the risk is unknown."
        )
    if active:
        parts.append(
            f"{words.many(len(active), 'target')} may still show something new, the riskiest first."
        )
    points = (
        *_cut([(target.name, target.detail) for target in broken], MOST_BROKEN),
        *_cut([(target.name, _why_not(target, state)) for target in active]),
    )
    return Conclusion("Not safe to stop", "bad", " ".join(parts), points)


def _why_not(target: TargetState, state: CampaignState) -> str:
    running = state.running
    if not target.inputs:
        return "it has not run a single input yet" if running else "it ran no input at all"
    if target.risk is None:
        return f"nothing can be said after {words.many(target.inputs, 'input')}"
    risk = say.upper_risk(target)
    text = f"the risk is at most {say.at_most(target)}{_of(target)}"
    if target.accepted_risk is not None and risk is not None:
        times = risk / target.accepted_risk
        text += (
            f", {_times(times)} times the accepted {say.chance(target.accepted_risk)}"
            if times > 1
            else f", below the accepted risk at this moment, but the stop rule, which looks often, "
            f"{'is' if running else 'was'} not sure yet"
        )
        seconds = left.of_target(target)
        if seconds is not None:
            text += f"; {_more_time(seconds, running)}{_by_the_clock(target, state)}"
    return text


def _by_the_clock(target: TargetState, state: CampaignState) -> str:
    """When that is, while it has to share the cores with others."""
    seconds = left.by_the_clock(target, state.cores) if state.running else None
    if seconds is None:
        return ""
    return f", {words.ahead(seconds)} by the clock at its share of the time"


def _more_time(seconds: float, running: bool) -> str:
    if seconds > words.FAR:
        return "no end is in sight" if running else "no end was in sight"
    about = words.ahead(seconds) if seconds > words.YEAR else f"about {words.ahead(seconds)} more"
    return f"{about} on a core" if running else f"it needed {about} on a core"


def _time(state: CampaignState) -> Conclusion:
    spent = sum(target.seconds for target in state.targets)
    if not spent:
        none = "No epoch has finished yet." if state.running else "No epoch was finished."
        return Conclusion("Where the time went", "plain", none)
    order = sorted(state.targets, key=lambda t: -t.share_of_time)
    used = [target for target in order if target.seconds]
    retired = sum(t.share_of_time for t in used if t.state == RETIRED)
    sentence = (
        f"{words.duration(spent)} on {words.many(state.cores, 'core')}, in "
        f"{words.many(state.epochs, 'epoch')}"
    )
    sentence += f"; {words.percent(retired)} on targets that are now retired." if retired else "."
    points = [
        (target.name, f"{words.percent(target.share_of_time)}, {words.duration(target.seconds)}")
        for target in used
    ]
    return Conclusion("Where the time went", "plain", sentence, _cut(points))


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _of(target: TargetState) -> str:
    return "" if target.finds_coverage else " for a new bug"


def _bug(target: TargetState, state: CampaignState) -> str:
    """What the inputs without a new bug say; nothing for black boxes, whose risk that is."""
    if not target.finds_coverage:
        return ""
    quiet = bug_bound.quiet_inputs(target, state.bugs)
    bound = say.chance(float(upper_bound(bug_bound.at_most(quiet, state.confidence))))
    return f"; a new bug at most {bound} by inputs alone"


def _but(target: TargetState) -> str:
    return f"; {words.many(len(target.bugs), 'bug')} to fix" if target.bugs else ""


def _cut(points: Sequence[tuple[str, str]], most: int = MOST_NAMED) -> tuple[tuple[str, str], ...]:
    """The first points, and how many more there are."""
    if len(points) <= most + 1:
        return tuple(points)
    return (*points[:most], (f"… and {len(points) - most:,} more", ""))
