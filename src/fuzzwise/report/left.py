"""How long it still takes until a stop rule can accept a risk, in words."""

from __future__ import annotations

import math

from fuzzwise.forecast import FURTHEST
from fuzzwise.judge import Judgement
from fuzzwise.report import short, words
from fuzzwise.store.states import BROKEN, RETIRED, TargetState

IF_QUIET = " (if nothing new is found)"


def of_target(target: TargetState) -> float | None:
    """Time on a core until a target may be retired; None where that is not known, or is over."""
    return None if target.state in (RETIRED, BROKEN) else target.seconds_to_decision


def in_words(a: Judgement) -> str:
    """The time left with its interval, or the least that the rule needs; "" if unknown."""
    seconds, least = a.seconds_left, a.seconds_to_earliest_stop
    if least is not None and (seconds is None or seconds.value < least):
        return f"at least {words.ahead(least)}{IF_QUIET}"
    if seconds is None:
        return ""
    said = words.time_ahead(seconds)
    if math.isinf(seconds.value):
        return f"{said} (at least {words.ahead(max(seconds.low or 0.0, least or 0.0))})"
    return said


def inputs_in_words(a: Judgement) -> str:
    """The inputs left with their interval, or the least that the rule needs; "" if unknown."""
    inputs, due, n = a.inputs_left, a.earliest_stop, a.observation.n
    if due is not None and (inputs is None or inputs.value < due - n):
        return f"at least {words.count(due - n)} inputs{IF_QUIET}"
    if inputs is None:
        return ""
    if math.isinf(inputs.value):
        least = max(inputs.low or 0.0, float((due or n) - n))
        return f"more than {FURTHEST} times the inputs so far (at least {words.count(least)})"
    return f"{words.span(inputs, words.count)} inputs"


def to_accepted(a: Judgement) -> str:
    """The same, and to what: about 5 min (2 min to 3 h) to the accepted 1e-05."""
    said = in_words(a)
    risk = f"the accepted {a.accepted_risk:g}"
    return f"{risk} is {said}" if said.startswith(words.NOT_IN_SIGHT) else f"{said} to {risk}"


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
