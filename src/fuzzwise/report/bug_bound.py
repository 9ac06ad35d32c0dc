"""How likely a new bug is by the inputs without one alone, whatever they showed of coverage."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzwise.estimators.intervals import never_seen
from fuzzwise.store.states import BugState, TargetState
from fuzzwise.text import upper_bound


def at_most(quiet: int, confidence: float) -> float:
    """The Rule of Three's upper end after so many inputs without a new bug."""
    return never_seen(quiet, confidence)


def in_short(quiet: int, confidence: float) -> str:
    """For the end of a row, with what it assumes."""
    bound = upper_bound(at_most(quiet, confidence))
    return f"a new one at most {bound} an input, if those to come are like the {quiet:,} without"


def quiet_inputs(target: TargetState, bugs: Sequence[BugState]) -> int:
    """The inputs of a target since it last showed a bug for the first time, in its present build.

    Bugs that another target showed first count from the beginning of this one.
    """
    own = [bug.after_inputs for bug in bugs if bug.target == target.name]
    since = target.inputs - max(own, default=0)
    return max(0, min(since, target.risk.n) if target.risk else since)
