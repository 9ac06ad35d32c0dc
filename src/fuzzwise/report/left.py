"""How long it still takes until a stop rule can accept a risk, in words."""

from __future__ import annotations

from fuzzwise.judge import Judgement
from fuzzwise.report import short, words
from fuzzwise.store.states import BROKEN, RETIRED, TargetState


def of_target(target: TargetState) -> float | None:
    """Time on a core until a target may be retired; None where that is not known, or is over."""
    return None if target.state in (RETIRED, BROKEN) else target.seconds_to_decision


def in_words(a: Judgement) -> str:
    """The time left with its interval, or the least that the rule needs; "" if unknown."""
    if a.seconds_left is None:
        return ""
    wait = a.seconds_to_earliest_stop
    if wait is not None and a.seconds_left.value < wait:
        return f"at least {words.ahead(wait)} (if nothing new is found)"
    return words.time_ahead(a.seconds_left)


def to_accepted(a: Judgement) -> str:
    """The same, and to what: about 5 min (2 min to 3 h) to the accepted 1e-05."""
    said = in_words(a)
    risk = f"the accepted {a.accepted_risk:g}"
    return f"{risk} is {said}" if said == words.NOT_IN_SIGHT else f"{said} to {risk}"


def on_a_core(seconds: float) -> str:
    """A time that a target still needs, in few words: about 7m of a core left."""
    return in_short(seconds, " of a core")


def in_short(seconds: float, of: str = "") -> str:
    """A time that is still to come, in few words: about 7m left."""
    if seconds > words.FAR:
        return "no end in sight"
    if seconds > words.YEAR:
        return f"more than a year{of} left"
    return f"about {short.rough(seconds)}{of} left"
