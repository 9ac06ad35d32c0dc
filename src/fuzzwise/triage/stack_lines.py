"""One line of a stack trace, as sanitizers, libFuzzer and gdb print it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from fuzzwise.triage.names import top_level

MAX_FRAMES = 256
"""How many frames of a stack are kept; sanitizers print no more either."""

_MAX_NAME = 1024

_LINE = re.compile(r" {0,64}#(\d{1,6}) {1,16}(?:0x([0-9a-fA-F]{1,16})(?: in\b)?)? {0,16}(.*)")
_BUILD_ID = re.compile(r" ?\(BuildId: [0-9a-f]{1,128}\)$")
_OFFSET = re.compile(r"\+0x([0-9a-fA-F]{1,16})\)$")
_POSITION = re.compile(r":(\d{1,9}|\?)(?::(\d{1,9}))?$")


@dataclass(frozen=True)
class Frame:
    """One call of a stack; what the report does not say is empty or None."""

    function: str = ""
    file: str = ""
    line: int | None = None
    module: str = ""
    offset: int | None = None


def parse_line(line: str) -> tuple[int, Frame] | None:
    """The number of a frame in its stack and the frame, or None for any other line."""
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    rest = _BUILD_ID.sub("", match[3])
    rest, module, offset = _split_module(rest)
    if (gdb := _gdb(rest)) is not None and not module:
        return int(match[1]), gdb
    function, file, number = _split_file(rest)
    return int(match[1]), _frame(function, file, number, module, offset)


def _frame(function: str, file: str, line: int | None, module: str, offset: int | None) -> Frame:
    function = "" if function in ("??", "<null>") else function[:_MAX_NAME]
    file = "" if file in ("??", "<null>") else file[:_MAX_NAME]
    return Frame(function, file, line if file else None, module[:_MAX_NAME], offset)


def _split_module(rest: str) -> tuple[str, str, int | None]:
    """What comes before ``(MODULE+0xOFFSET)``, the module and the offset."""
    match = _OFFSET.search(rest[-32:])
    if match is None:
        return rest.removesuffix("(<unknown module>)").rstrip(), "", None
    # A module's path can contain " (", an absolute one starts at the first " (/" all the same.
    padded = f" {rest}"
    start = padded.find(" (/")
    start = padded.rfind(" (") if start < 0 else start
    if start < 0:
        return rest, "", None
    module = padded[start + 2 : len(padded) - len(match[0])]
    return padded[:start].strip(), module, int(match[1], 16)


def _gdb(rest: str) -> Frame | None:
    """The frame of ``FUNCTION (ARGUMENTS)[ at FILE:LINE| from LIBRARY]``, if it is one."""
    file, module, number = "", "", None
    position = _POSITION.search(rest[-32:])
    at, origin = rest.rfind(") at "), rest.rfind(") from ")
    if position is not None and at >= 0:
        file = rest[at + 5 : len(rest) - len(position[0])]
        number = int(position[1]) if position[1] != "?" else None
    elif origin >= 0:
        module = rest[origin + 7 :]
    elif rest.startswith("<signal handler called>"):
        return Frame(rest)
    elif not rest.endswith(")"):
        return None
    marks = top_level(rest)
    starts = (a for (a, m), (b, n) in pairwise(marks) if m + n == " (" and b == a + 1)
    start = next((at for at in starts if not rest.startswith(" (anonymous", at)), None)
    return None if start is None else _frame(rest[:start], file, number, module, None)


def _split_file(rest: str) -> tuple[str, str, int | None]:
    """The function, the file and the line of ``FUNCTION FILE[:LINE[:COLUMN]]``."""
    position = _POSITION.search(rest[-32:])
    number = int(position[1]) if position and position[1] != "?" else None
    body = rest[: len(rest) - len(position[0])] if position else rest
    spaces = [at for at, mark in top_level(body) if mark == " "]
    absolute = next((at for at in spaces if body.startswith("/", at + 1)), None)
    if absolute is not None:
        return body[:absolute], body[absolute + 1 :], number
    if position is None:
        return body, "", None
    # Relative file names are assumed not to contain spaces, function names often do.
    split = spaces[-1] if spaces else body.rfind(" ")
    return (body[:split], body[split + 1 :], number) if split >= 0 else (body, "", None)
