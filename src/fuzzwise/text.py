"""Untrusted report text made safe to parse, keep and print."""

from __future__ import annotations

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
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", shown)


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
