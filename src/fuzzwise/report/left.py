"""How long it still takes until a stop rule can accept a risk, in words."""

from __future__ import annotations

from fuzzwise.judge import Judgement
from fuzzwise.report import words
from fuzzwise.store.states import BROKEN, RETIRED, TargetState


def of_target(target: TargetState) -> float | None:
    """Time on a core until a target may be retired; None where that is not known, or is over."""
    return None if target.state in (RETIRED, BROKEN) else target.seconds_to_decision


def in_words(a: Judgement) -> str:
    """The time left with its interval, or until the next look if that is later; "" if unknown."""
    if a.seconds_left is None:
        return ""
    wait = a.seconds_to_next_look
    if wait is not None and a.seconds_left.value < wait:
        return f"at least {words.duration(wait)} (next look of the rule)"
    return words.span(a.seconds_left, words.duration)
