"""Text: that of others made safe to parse, keep and print, and numbers as words."""

from __future__ import annotations

import math
import re

LIMIT = 1 << 20
"""How many characters of a report are looked at."""

# Possessive quantifiers (*+) keep every match linear, whatever the text.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[@-Z\\-_])")
# Besides control characters: what reorders or hides text on a terminal, and lone surrogates,
# which cannot be encoded again.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


MOST = 10**15
"""A larger number in a file is damage: a million inputs a second make as many in thirty years."""

LONGEST = 1e10
"""A longer time in a file, in seconds, is damage: three hundred years."""


def clean(text: str) -> str:
    """The first MiB (2**20 characters) of a text without escape codes and control characters.

    Line feeds stay, tabs become spaces.
    """
    return _UNSAFE.sub("", _ESCAPES.sub("", text[:LIMIT])).replace("\t", " ")


def base_name(path: str) -> str:
    """The last part of a POSIX path of the machine that wrote the report."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def printable(name: str) -> str:
    """A file name that can be printed anywhere: what is not text in it is written as a code."""
    shown = name.encode(errors="backslashreplace").decode()
    shown = shown.replace("\n", "\\n").replace("\t", "\\t")
    return _UNSAFE.sub(_code, shown)


def _code(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def shown(text: str) -> str:
    """Sentences that can be printed anywhere, whatever names they hold; their lines stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def json_shown(document: str) -> str:
    """A JSON document that can be printed anywhere; it means the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def number(text: str | bytes) -> int | None:
    """A count in a file; None where it is none, or is too large to be one."""
    try:
        value = int(text)
    except ValueError:
        return None
    return value if 0 <= value <= MOST else None


def seconds_of(text: str | bytes) -> float | None:
    """A time in a file; None where it is none, or is too long to be one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= LONGEST else None


def many(amount: int, word: str) -> str:
    """A number with its noun: 1 bug, 2 bugs; 1 discovery, 2 discoveries; 1 crash, 2 crashes."""
    if amount == 1:
        return f"1 {word}"
    if word.endswith("y"):
        return f"{amount:,} {word.removesuffix('y')}ies"
    return f"{amount:,} {word}{'es' if word.endswith(('s', 'sh')) else 's'}"


def upper_bound(value: float, beside: float | None = None, digits: int = 2) -> str:
    """An upper bound, rounded up, so that what is shown is still one: 0.024, 8.3e-05.

    It has as many digits as it takes to tell it from the number that it stands ``beside``: what is
    below that is not shown as equal to it.
    """
    if not value > 0 or math.isinf(value):
        return f"{value:g}"
    for figures in range(digits, 17):
        power = figures - 1 - math.floor(math.log10(value))
        raised = _raised(value, power)
        shown = f"{raised:.{figures}g}" if raised >= 0.01 else f"{raised:.{figures - 1}e}"
        told = float(shown)
        if beside in (None, value) or (told != beside and (told < beside) == (value < beside)):
            return shown
    return repr(value)


def significant(number: str) -> int:
    """How many digits of a number say something: 2 in 0.0012 and in 1.2e-03."""
    return len(number.partition("e")[0].replace(".", "").lstrip("0")) or 1


def _raised(value: float, power: int) -> float:
    """A number rounded up to so many digits behind the point; what is close enough stays."""
    if power > 300:  # next to nothing: there is no such power of ten
        return value
    scaled = value * 10.0**power
    near = round(scaled)
    whole = near if abs(scaled - near) < 1e-6 * max(1.0, abs(scaled)) else math.ceil(scaled)
    return whole / 10.0**power
