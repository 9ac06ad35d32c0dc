"""Crash reports: what kind of crash, how severe, and the stack it happened on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from fuzzwise.text import base_name, clean
from fuzzwise.triage import kinds
from fuzzwise.triage.go_report import is_go, parse_go
from fuzzwise.triage.names import is_noise, plain
from fuzzwise.triage.python_report import is_python, parse_python
from fuzzwise.triage.stack_lines import MAX_FRAMES, Frame, parse_line

__all__ = ["MAX_FRAMES", "CrashReport", "Frame", "has_sanitizer_report", "parse"]

_FATAL = re.compile(
    r"(?:ERROR|WARNING): (?:(?:HW)?Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer: (.*)"
    r"|ERROR: libFuzzer: (.*)|Sanitizer: (hard rss limit exhausted)"
)
_UNDEFINED = "runtime error: "
_PLACE = re.compile(r"(.*?):(\d{1,9})(?::\d{1,9})?:")
_GDB = re.compile(r"(?:received|terminated with) signal (SIG[A-Z0-9]{1,16})\b")
_ABORTED = (
    *("Assertion `", "Assertion failed", "terminate called", "*** stack smashing detected"),
    *("*** buffer overflow detected", "free(): ", "malloc(): ", "double free or corruption"),
)
_OTHER_STACK = (" is located ", "freed by thread", "allocated by thread", "created by", "SUMMARY:")
_OPENING = (
    *("Sanitizer: ", "libFuzzer: ", " signal SIG", _UNDEFINED, "#0 ", *_ABORTED),
    *("Python exception: ", "Python error: "),
)
# One search that most lines fail, for reports of a million lines.
_OPENS = re.compile("|".join(map(re.escape, _OPENING)))
_MAX_EVIDENCE = 64
_MAX_WRAPPED = 16


@dataclass(frozen=True)
class CrashReport:
    """What a report says about a crash; frames are those of the crashing stack alone."""

    kind: str
    severity: str
    frames: tuple[Frame, ...]
    summary: str


@dataclass(frozen=True)
class _Header:
    """The line that opens a report; of several, the one with the lowest rank counts."""

    rank: int
    at: int
    kind: str
    place: Frame | None = None
    gdb: bool = False
    sanitizer: bool = False


def parse(text: str) -> CrashReport:
    """The crash that a report is about, from the first MiB (2**20 characters) of its text.

    Understands AddressSanitizer, UndefinedBehaviorSanitizer, LeakSanitizer, MemorySanitizer,
    libFuzzer, gdb backtraces, Python (see ``python_report``) and Go (see ``go_report``). Of several
    errors, the first fatal one counts: sanitizers can go on after undefined behaviour, and leaks
    are found when all is over. Takes any text: with no crash in it the kind is "unknown" and there
    are no frames. Everything kept is free of control characters; time is linear in the length of
    the text.
    """
    lines = clean(text).split("\n")
    header = _header(lines)
    if (header is None or not header.sanitizer) and (python := parse_python(lines)) is not None:
        kind, frames = python
        severity = kinds.severity(kind, "")
        return CrashReport(kind, severity, frames, _summary(kind, severity, frames))
    if (header is None or not header.sanitizer) and (go := parse_go(lines)) is not None:
        kind, frames = go
        severity = kinds.severity(kind, "")
        return CrashReport(kind, severity, frames, _summary(kind, severity, frames))
    if header is None:
        return CrashReport(kinds.UNKNOWN, "other", (), kinds.UNKNOWN)
    frames, evidence = _stack(lines, header)
    if not frames and header.place is not None:
        frames = (header.place,)
    kind = header.kind
    if kind == "SEGV" and kinds.STACK_EXHAUSTED in evidence:
        kind = "stack-overflow"
    if kind == "deadly signal" and any(plain(f.function) in ("abort", "raise") for f in frames):
        kind = "abort"
    if kind == "abort" and header.gdb:
        kind = kinds.of_abort(plain(frame.function) for frame in frames)
    if kind == "smashed-stack":
        frames = _trusted(frames)
    severity = kinds.severity(kind, evidence)
    return CrashReport(kind, severity, frames, _summary(kind, severity, frames))


def has_sanitizer_report(text: str) -> bool:
    """Whether a text holds a report of a sanitizer, of libFuzzer, of Python or of Go."""
    lines = clean(text).split("\n")
    opening = (line for line in lines if _OPENS.search(line))
    return any(is_python(line) or _starts_report(line) for line in opening) or is_go(lines)


def _trusted(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames up to the one whose part of the stack was overwritten: the rest is garbage."""
    names = [plain(frame.function) for frame in frames]
    return frames[: names.index("__stack_chk_fail") + 2]


def _header(lines: list[str]) -> _Header | None:
    best: _Header | None = None
    for at, line in enumerate(lines):
        found = _classify(at, line) if _OPENS.search(line) else None
        if found is not None and (best is None or found.rank < best.rank):
            best = found
            if best.rank == 0:
                break
    return best


def _classify(at: int, line: str) -> _Header | None:
    if match := _FATAL.search(line):
        kind = kinds.of_sanitizer(match[1] or match[2] or match[3] or "")
        return _Header(2 if kind == "leak" else 0, at, kind, sanitizer=match[2] is None)
    if match := _GDB.search(line):
        return _Header(0, at, kinds.of_signal(match[1]), gdb=True)
    if _is_undefined(line):
        before, _, message = line.partition(_UNDEFINED)
        match = _PLACE.fullmatch(before.strip()[-1024:])
        place = Frame(file=match[1], line=int(match[2])) if match else None
        return _Header(1, at, kinds.of_undefined(message), place)
    if any(words in line for words in _ABORTED):
        return _Header(3, at, "abort")
    if (frame := parse_line(line)) is not None and frame[0] == 0:
        return _Header(4, at - 1, kinds.UNKNOWN, gdb=True)
    return None


def _stack(lines: list[str], header: _Header) -> tuple[tuple[Frame, ...], str]:
    """The first stack after a header, and the lines from the header to the stack."""
    frames: list[Frame] = []
    evidence = [lines[header.at][:1000]] if header.at >= 0 else []
    for at in range(header.at + 1, len(lines)):
        line = lines[at]
        parsed = parse_line(_unwrapped(lines, at) if header.gdb else line) if "#" in line else None
        if parsed is None and frames:
            if header.gdb and _continues(line):
                continue
            break
        if parsed is None:
            if any(words in line for words in _OTHER_STACK) or _starts_report(line):
                break
            if len(evidence) < _MAX_EVIDENCE:
                evidence.append(line[:1000])
            continue
        number, frame = parsed
        if frames and (number == 0 or len(frames) == MAX_FRAMES):
            break
        if frames or number == 0:
            frames.append(frame)
    return tuple(frames), "\n".join(evidence)


def _starts_report(line: str) -> bool:
    return _is_undefined(line) or _FATAL.search(line) is not None


def _is_undefined(line: str) -> bool:
    """Whether it is of UndefinedBehaviorSanitizer; Go's panics have the same words."""
    return _UNDEFINED in line and "panic: " not in line


def _unwrapped(lines: list[str], at: int) -> str:
    """A line of gdb together with those that continue it, which start with four spaces."""
    following = takewhile(_continues, lines[at + 1 : at + _MAX_WRAPPED])
    return " ".join([lines[at], *(line.strip() for line in following)])


def _continues(line: str) -> bool:
    return line.startswith("    ") and not line.lstrip().startswith("#")


def _summary(kind: str, severity: str, frames: tuple[Frame, ...]) -> str:
    words = kind if severity in (kind, "other", "exception") else f"{kind} ({severity})"
    for frame in frames:
        name = plain(frame.function)
        if is_noise(name, base_name(frame.module)) and name != "main":
            continue
        if name:
            words += f" in {name}"
        if frame.file:
            words += f" at {base_name(frame.file)}"
            words += f":{frame.line}" if frame.line is not None else ""
        elif not name and frame.module:
            words += f" in {base_name(frame.module)}"
        break
    return words[:300]
