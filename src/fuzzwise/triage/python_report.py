"""Crash reports of Python: an exception that nobody caught, or the death of the interpreter.

The first is a traceback below the line that Atheris prints, and our runner; the second is what the
module faulthandler prints at a fatal signal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from fuzzwise.text import base_name
from fuzzwise.triage.stack_lines import MAX_FRAMES, Frame

UNCAUGHT = "uncaught "
"""How the kind of such a bug begins; the name of the exception follows."""

RECURSION = f"{UNCAUGHT}RecursionError"
_HEADER = " === Uncaught Python exception: ==="
_FATAL = "Fatal Python error: "
_TRACEBACK = (
    "Traceback (most recent call last):",
    "  + Exception Group Traceback (most recent call last):",
)
_CHAINED = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
_FRAME = re.compile(r'  File "([^"]{1,1024})", line (\d{1,9}), in (.{1,1024})')
_FATAL_FRAME = re.compile(r'  File "([^"]{1,1024})", line (\d{1,9}) in (.{1,1024})')
_NAME = re.compile(r"([A-Za-z_][\w.]{0,200})(?::.*)?")
_FATAL_KINDS = {
    "Segmentation fault": "SEGV",
    "Bus error": "BUS",
    "Illegal instruction": "ILL",
    "Floating point exception": "divide-by-zero",
    "Aborted": "abort",
}
_NOT_THE_BUG = re.compile(r"/fuzzwise/engines/python/|-packages/atheris/|<frozen ")
_SEVERITIES = {
    "RecursionError": "stack exhaustion",
    "ZeroDivisionError": "divide",
    "AssertionError": "abort",
    "MemoryError": "resource",
}


def is_python(line: str) -> bool:
    """Whether a line opens a report of Python."""
    return line.startswith((_HEADER, _FATAL)) or line.endswith(_HEADER)


def severity(kind: str) -> str:
    """What a bug does whose kind is the name of an exception."""
    return _SEVERITIES.get(kind.removeprefix(UNCAUGHT), "exception")


def parse_python(lines: list[str]) -> tuple[str, tuple[Frame, ...]] | None:
    """The kind of the crash and its stack, the innermost call first; None without such a report.

    Of several reports the last one counts, as the process ended with it. Of a chain of exceptions
    the last one counts, as it was raised while, or because, the others were. A group of exceptions
    counts as itself. The message is no part of the bug.
    """
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line.endswith(_HEADER):
            return _uncaught(lines, at)
        if line.startswith(_FATAL):
            return _fatal(lines, at)
    return None


def _uncaught(lines: list[str], header: int) -> tuple[str, tuple[Frame, ...]]:
    kind = _kind(lines[header + 1] if header + 1 < len(lines) else "")
    frames: tuple[Frame, ...] = ()
    at: int | None = _next(lines, header + 1, last=header + 4)
    while at is not None:
        kind, frames, end = _traceback(lines, at, kind)
        link = next((i for i in range(end, len(lines)) if lines[i] in _CHAINED), None)
        at = None if link is None else _next(lines, link, last=link + 3)
    return kind, frames


def _next(lines: list[str], start: int, last: int) -> int | None:
    """The line that begins a traceback."""
    for at in range(start, min(last + 1, len(lines))):
        if lines[at] in _TRACEBACK:
            return at
    return None


def _traceback(lines: list[str], start: int, otherwise: str) -> tuple[str, tuple[Frame, ...], int]:
    """The kind, the frames and the first line behind a traceback."""
    is_group = "+ Exception Group" in lines[start]
    frames: list[Frame] = []
    at = start + 1
    while at < len(lines):
        line = lines[at]
        if is_group:
            line = line.lstrip(" ").removeprefix("| ")
        if not line.startswith("  "):
            break
        if frame := _frame(_FRAME, line):
            frames.append(frame)
        at += 1
    named = lines[at].lstrip(" |") if at < len(lines) else ""
    kind = _kind(named) if named else otherwise
    return kind, tuple(reversed([frame for frame in frames if frame.function])), at


def _fatal(lines: list[str], header: int) -> tuple[str, tuple[Frame, ...]]:
    words = lines[header].removeprefix(_FATAL)
    kind = next((kind for name, kind in _FATAL_KINDS.items() if words.startswith(name)), "abort")
    found = (_frame(_FATAL_FRAME, line) for line in _stack_of(lines, header))
    frames = islice((frame for frame in found if frame and frame.function), MAX_FRAMES)
    return kind, tuple(frames)


def _stack_of(lines: list[str], header: int) -> Iterator[str]:
    """The lines of the stack of the thread that died."""
    start = next(
        (i for i in range(header, len(lines)) if lines[i].endswith("(most recent call first):")),
        len(lines),
    )
    for line in lines[start + 1 :]:
        if not line.startswith("  "):
            return
        yield line


def _frame(pattern: re.Pattern[str], line: str) -> Frame | None:
    """A call; without a name if it is one of the runner, or of Python's imports."""
    match = pattern.fullmatch(line.rstrip())
    if match is None:
        return None
    file, number, function = match.groups()
    if _NOT_THE_BUG.search(file):
        return Frame()
    return Frame(f"{_module(file)}.{function}", file, int(number))


def _module(file: str) -> str:
    """What a file is called in a program: its name, or that of its package."""
    name = base_name(file).removesuffix(".py").strip("<>")
    if name == "__init__":
        name = base_name(file[: file.rfind("/")]) or name
    return name.replace(" ", "-")


def _kind(line: str) -> str:
    match = _NAME.fullmatch(line.strip())
    return UNCAUGHT + (match[1].rpartition(".")[2][:80] if match else "exception")
