"""How long it still takes until a stop rule can accept a risk, the same in every view.

A forecast of the moment at which the risk is accepted says 0 as soon as the estimate is low enough.
The rule looks only when the inputs have doubled, so nothing ends before that.
"""

from __future__ import annotations

from fuzzwise.assessment import Assessment
from fuzzwise.report import words
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.store.states import BROKEN, RETIRED, TargetState


def next_look(accepted_risk: float, n: int) -> int:
    """The inputs at which the stop rule looks next."""
    return AcceptedRisk(accepted_risk).next_look(n)


def to_next_look(accepted_risk: float | None, n: int, seconds: float | None) -> float | None:
    """The time until then, at the speed so far; None without a rule or a speed."""
    if accepted_risk is None or not n or not seconds:
        return None
    return (next_look(accepted_risk, n) - n) * seconds / n


def of_target(target: TargetState) -> float | None:
    """Time on a core until a target may be retired; None where that is not known, or is over."""
    if target.state in (RETIRED, BROKEN) or target.seconds_left is None:
        return None
    wait = to_next_look(target.accepted_risk, target.inputs, target.seconds)
    return max(target.seconds_left.value, wait or 0.0)


def of_campaign(a: Assessment) -> float | None:
    """Time until a campaign may stop; None where that is not known."""
    if a.seconds_left is None:
        return None
    wait = to_next_look(a.accepted_risk, a.observation.n, a.observation.seconds)
    return max(a.seconds_left.value, wait or 0.0)


def in_words(a: Assessment) -> str:
    """The same with its interval, or until the next look where that is later; "" if not known."""
    if a.seconds_left is None:
        return ""
    wait = to_next_look(a.accepted_risk, a.observation.n, a.observation.seconds)
    if wait is not None and a.seconds_left.value < wait:
        return f"at least {words.duration(wait)} (next look of the rule)"
    return words.span(a.seconds_left, words.duration)
