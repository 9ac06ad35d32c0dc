"""How long it still takes until a stop rule can accept a risk, in words."""

from __future__ import annotations

import math

from fuzzwise.forecast import FURTHEST
from fuzzwise.judge import Judgement
from fuzzwise.report import short, words
from fuzzwise.store.states import BROKEN, RETIRED, TargetState

ALIKE = 1.2
"""Times by the clock and on a core that differ by less than this factor are one answer."""

IF_QUIET = " (if nothing new is found)"


def of_target(target: TargetState) -> float | None:
    """Time on a core until a target may be retired; None where that is not known, or is over."""
    return None if target.state in (RETIRED, BROKEN) else target.seconds_to_decision


def by_the_clock(target: TargetState, cores: int) -> float | None:
    """The same by the clock, if it goes on to get its share of the cores; None if no other answer.

    A target that has got a tenth of the time on two cores has a fifth of a core.
    """
    seconds, share = of_target(target), target.share_of_time * cores
    if seconds is None or not 0 < seconds <= words.FAR or share <= 0:
        return None
    return None if 1 / ALIKE < share < ALIKE else seconds / share


def in_words(a: Judgement) -> str:
    """The time until the rule says stop, or the least that it needs; "" if unknown."""
    seconds, least = a.seconds_to_stop, a.seconds_to_earliest_stop
    if seconds is None:
        return "" if least is None else _at_least(least)
    said = words.time_ahead(seconds)
    if math.isinf(seconds.value) and (seconds.low or 0.0) <= words.FAR:
        return f"{said} (at least {words.ahead(seconds.low or 0.0, least=True)})"
    return said


def _at_least(seconds: float) -> str:
    """A time below which it cannot be."""
    if seconds > words.YEAR:
        return words.ahead(seconds)  # which says so by itself
    return f"at least {words.ahead(seconds, least=True)}{IF_QUIET}"


def inputs_in_words(a: Judgement) -> str:
    """The same in inputs."""
    inputs, due = a.inputs_to_stop, a.earliest_stop
    if inputs is None:
        if due is None:
            return ""
        least = words.foretold_count(due - a.observation.n, least=True)
        return f"at least {least} inputs{IF_QUIET}"
    if math.isinf(inputs.value):
        low = inputs.low or 0.0
        least = "" if math.isinf(low) else f" (at least {words.foretold_count(low, least=True)})"
        return f"more than {FURTHEST} times the inputs so far{least}"
    return f"{words.span(inputs, words.foretold_count)} inputs"


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
