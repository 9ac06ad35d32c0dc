"""The stack of a crash for people: the calls of their program, with files and lines.

How a fuzzer called the program is no part of it: neither libFuzzer's driver nor Atheris, nor what
counts the inputs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fuzzwise.report.source_paths import SourcePaths
from fuzzwise.text import base_name
from fuzzwise.triage.frames import parse
from fuzzwise.triage.names import is_noise, plain
from fuzzwise.triage.stack_lines import Frame, parse_line

HARNESS = ("LLVMFuzzerTestOneInput", "TestOneInput")
"""What fuzzers call: whoever calls it is a fuzzer."""
MOST_FRAMES = 30
_OURS = re.compile(r"/fuzzwise/engines/|-packages/atheris/")
_DRIVERS = ("fuzzer::", "atheris::", "LLVMFuzzerRunDriver", "__afl_")
_LEFT_OUT = "    (calls of the fuzzer are left out)"


@dataclass(frozen=True)
class ShownFrame:
    """One call: the function, and where in the sources it is, or "" where that is not known."""

    function: str
    place: str


def shown_frames(report: str, names: Sequence[str], paths: SourcePaths) -> tuple[ShownFrame, ...]:
    """The calls that a report tells of, the innermost first; by name alone if it tells of none."""
    frames = [frame for frame in parse(report).frames if frame.function or frame.module]
    kept = _without_alarm(_of_the_program(frames))
    made = [ShownFrame(plain(f.function) or base_name(f.module), _place(f, paths)) for f in kept]
    if not made or not names:
        made = [ShownFrame(name, "") for name in own_names(names)]
    return tuple(made[:MOST_FRAMES])


def program_files(report: str) -> list[str]:
    """The sources of the calls that are those of the program."""
    return [frame.file for frame in _of_the_program(parse(report).frames) if frame.file]


def own_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a stack down to what fuzzers call."""
    for at, name in enumerate(names):
        if name.rpartition(".")[2] in HARNESS:
            return tuple(names[: at + 1])
    return tuple(names)


def without_fuzzer(report: str) -> str:
    """A report without the calls of the fuzzer, which are named once for each stack."""
    made: list[str] = []
    of_fuzzer = False
    for line in report.split("\n"):
        # In a traceback of Python, the lines of the source follow, further to the right.
        goes_on = of_fuzzer and line.startswith("    ") and not line.lstrip().startswith("#")
        of_fuzzer = goes_on or _calls_for_fuzzer(line)
        if not of_fuzzer:
            made.append(line)
        elif not made or made[-1] != _LEFT_OUT:
            made.append(_LEFT_OUT)
    return "\n".join(made)


def _calls_for_fuzzer(line: str) -> bool:
    if line.startswith('  File "'):
        return bool(_OURS.search(line.partition('", line ')[0]))
    parsed = parse_line(line) if "#" in line else None
    return parsed is not None and _is_fuzzer(parsed[1])


def _of_the_program(frames: Sequence[Frame]) -> list[Frame]:
    kept = []
    for frame in frames:
        if _is_fuzzer(frame):
            continue
        kept.append(frame)
        if plain(frame.function).rpartition(".")[2] in HARNESS:
            return kept
    while kept and _starts(kept[-1]):
        kept.pop()
    return kept


def _without_alarm(frames: list[Frame]) -> list[Frame]:
    """The stack without how the crash was noticed: abort, and what is inside of the C library."""
    first = next((at for at, frame in enumerate(frames) if not _is_runtime(frame)), 0)
    return frames[first:]


def _is_runtime(frame: Frame) -> bool:
    return not frame.file and is_noise(plain(frame.function), base_name(frame.module))


def _is_fuzzer(frame: Frame) -> bool:
    name = plain(frame.function)
    return bool(_OURS.search(frame.file)) or name.startswith(_DRIVERS)


def _starts(frame: Frame) -> bool:
    """Whether a call is one by which the system starts a program."""
    name = plain(frame.function)
    return name != "main" and is_noise(name, base_name(frame.module))


def _place(frame: Frame, paths: SourcePaths) -> str:
    if not frame.file:
        return ""
    return f"{paths(frame.file)}:{frame.line}" if frame.line else paths(frame.file)
