"""Numbers and times in the words people use."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context

from fuzzwise.model import Estimate
from fuzzwise.text import many as many

YEAR = 86400 * 365.25
FAR = 100 * YEAR
LARGEST = 1e18
NOT_IN_SIGHT = "not in sight"
"""How far away something is that will not happen while anybody waits."""


def number(value: float | None, digits: int = 3) -> str:
    """A number with that many significant digits; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "without end"
    if value == 0:
        return "0"
    return f"{value:.{digits}g}" if 1e-3 <= abs(value) < 10**digits else f"{value:.{digits - 1}e}"


def count(value: float) -> str:
    """A large number as people say it: 1,234 or 5.6 million."""
    if math.isinf(value):
        return "without end"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.3g} {word}" if value < 1e15 else f"{value:.2e}"
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """A share in at most 4 characters: 0%, <1%, 37%, 100%; what is not nothing is not called 0%."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def duration(seconds: float) -> str:
    """A time as people say it: 90 s, 12 min, 5.2 h, 3.1 days."""
    if math.isinf(seconds):
        return "without end"
    amount, unit = _in_unit(seconds)
    return f"{amount:.3g} {unit}"


def _in_unit(seconds: float) -> tuple[float, str]:
    for size, word in ((YEAR, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return seconds / size, word
    return seconds, "s"


def two_digits(value: float, *, least: bool = False) -> float:
    """A number that is only foretold, with the digits that can be meant; ``least``: no higher."""
    if not math.isfinite(value):
        return value
    rounding = ROUND_DOWN if least else ROUND_HALF_EVEN
    return float(Context(prec=2, rounding=rounding).create_decimal(repr(float(value))))


def foretold_count(value: float, *, least: bool = False) -> str:
    """A count that is only foretold: 18,000 or 5.6 million."""
    return count(two_digits(value, least=least))


def ahead(seconds: float, *, least: bool = False) -> str:
    """A time that is still to come; of what is far away nobody knows the number of years.

    ``least``: a time below which it cannot be.
    """
    if seconds > FAR:
        return NOT_IN_SIGHT
    if seconds > YEAR:
        return "more than a year"
    amount, unit = _in_unit(seconds)
    return f"{two_digits(amount, least=least):.3g} {unit}"


def time_ahead(estimate: Estimate) -> str:
    """A time that is still to come with its interval: about 5 min (2 min to 3 h)."""
    if estimate.value > YEAR:
        return ahead(estimate.value)
    return span(estimate, ahead, most=YEAR)


def span(estimate: Estimate, words: Callable[[float], str], most: float = LARGEST) -> str:
    """A value and its interval, in the given words; an end beyond ``most`` is not named."""
    if estimate.value > most:
        return NOT_IN_SIGHT
    text = f"about {words(estimate.value)}"
    if estimate.low is None or estimate.high is None:
        return text
    low = words(estimate.low)
    return (
        f"{text} ({low} or more)"
        if estimate.high > most
        else f"{text} ({low} to {words(estimate.high)})"
    )


def probability(e: Estimate) -> str:
    """A probability with its interval; never above 1."""
    text = number(e.risk)
    if e.low is None or e.high is None or e.confidence is None:
        return text
    return f"{text} ({e.confidence:.0%} interval: {number(e.low)} to {number(min(1.0, e.high))})"
