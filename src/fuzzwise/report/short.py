"""Numbers, times and names in a few characters, for tables on a terminal."""

from __future__ import annotations

import math

from rich.cells import cell_len

from fuzzwise.model import Estimate
from fuzzwise.report.words import FAR, YEAR, two_digits
from fuzzwise.text import clean, printable, upper_bound

NONE = "–"
MOST_CHARACTERS = 400
"""Of a text that a target may have had a hand in."""


def count(value: float) -> str:
    """A count in at most 5 characters: 950, 1.2k, 12k, 3.4M."""
    if not math.isfinite(value):
        return NONE
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        # 999.6 thousand is 1.0 million, not 1000 thousand.
        if value >= size * (0.9995 if size > 1e3 else 1):
            scaled = value / size
            return f"{scaled:.1f}{letter}" if scaled < 9.95 else f"{min(scaled, 9999):.0f}{letter}"
    return f"{value:.0f}"


def clock(seconds: float) -> str:
    """A moment of the campaign, exact to the smaller of two units: 9s, 12m03s, 1h05m, 3d04h."""
    if not math.isfinite(seconds):
        return NONE
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}h"


def rough(seconds: float) -> str:
    """A time that is only known roughly, in at most 6 characters: 45s, 12m, 3.2h, 5.1d, >1y.

    What is not in sight has no end.
    """
    if math.isnan(seconds):
        return NONE
    if seconds > YEAR:
        return "no end" if seconds > FAR else ">1y"
    for size, letter in ((86400, "d"), (3600, "h")):
        if seconds >= size:
            amount = seconds / size
            return f"{amount:.1f}{letter}" if amount < 9.95 else f"{two_digits(amount):.0f}{letter}"
    return f"{seconds / 60:.0f}m" if seconds >= 99.5 else f"{max(0.0, seconds):.0f}s"


def chance(value: float | None, *, upper: bool = False, beside: float | None = None) -> str:
    """A probability in at most 7 characters, two digits: 3.1e-05, 0.12, 1.

    An upper bound is rounded up, so that what is shown is still one; it has more digits where it
    would look like the number that it stands ``beside``.
    """
    if value is None or math.isnan(value):
        return NONE
    value = min(1.0, max(0.0, value))
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    if upper:
        return upper_bound(value, beside)
    return f"{value:.2g}" if value >= 0.01 else f"{value:.1e}"


def risk(estimate: Estimate | None, accepted: float | None = None) -> str:
    """A risk and its upper bound: 3.1e-05 (at most 8.3e-05)."""
    if estimate is None:
        return NONE
    high = estimate.high
    most = "" if high is None else f" (at most {chance(high, upper=True, beside=accepted)})"
    return chance(estimate.risk) + most


def name(text: str) -> str:
    """A name as one line that cannot do anything to a terminal."""
    return " ".join(printable(text[:MOST_CHARACTERS]).split())


def sentence(text: str) -> str:
    """A text of any origin as one line without anything that a terminal would obey."""
    return " ".join(clean(text)[:MOST_CHARACTERS].split())


def fitted(text: str, width: int, *, middle: bool = False, words: bool = False) -> str:
    """A text in at most so many cells of a terminal; what does not fit becomes an ellipsis.

    It stands at the end, or in the ``middle``, since names often differ in both of their ends.
    With ``words``, it stands for whole words, as long as one of them fits.
    """
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    if words and " " in (part := _part(text, width - 1)).strip():
        return f"{part.rpartition(' ')[0].rstrip()} …"
    tail = _part(text[::-1], (width - 1) // 2)[::-1] if middle else ""
    return _part(text, width - 1 - cell_len(tail)) + "…" + tail


def _part(text: str, width: int) -> str:
    used = 0
    for i, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:i]
    return text
