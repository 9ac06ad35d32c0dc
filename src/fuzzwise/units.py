"""Durations and counts as people write them: 90s, 4h, 1h30m, 2M."""

from __future__ import annotations

import re

from fuzzwise.errors import BadInput

SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
LONGEST = 1e10
"""Seconds: three hundred years."""
MOST = 10**18
MULTIPLES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_duration(text: str) -> float:
    """Seconds from ``90``, ``90s``, ``1.5h`` or ``1h30m``."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip())
    whole = "".join(number + unit for number, unit in parts)
    if (
        not parts
        or whole != re.sub(r"\s", "", text)
        or any(u and u not in SECONDS for _, u in parts)
    ):
        raise BadInput(f"{text!r} is not a duration; write it as 90s, 15m, 4h or 1h30m.")
    seconds = sum(float(number) * SECONDS[unit or "s"] for number, unit in parts)
    if seconds <= 0:
        raise BadInput(f"{text!r} is no time at all; write it as 90s, 15m, 4h or 1h30m.")
    if seconds > LONGEST:
        raise BadInput(f"{text[:20]!r} is longer than 300 years; give a shorter time.")
    return seconds


def parse_count(text: str) -> int:
    """A whole number from ``1000``, ``1e6``, ``200k`` or ``1.5M``."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([kMGT]?)\s*", text)
    if not match:
        raise BadInput(f"{text!r} is not a number; write it as 1000, 200k, 1e6 or 1.5M.")
    value = float(match[1]) * MULTIPLES[match[2]]
    if value < 1:
        raise BadInput(f"{text!r} is less than one; write it as 1000, 200k, 1e6 or 1.5M.")
    if value > MOST:
        raise BadInput(f"{text[:20]!r} is more than can be counted; the most is {MOST:.0e}.")
    return int(value)
