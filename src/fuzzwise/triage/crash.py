"""The identity of the bug behind a crash."""

from __future__ import annotations

import signal as signals
from collections.abc import Callable
from dataclasses import dataclass, replace

from fuzzwise.triage import kinds
from fuzzwise.triage.frames import parse
from fuzzwise.triage.stack_hash import key_frames, stack_hash
from fuzzwise.triage.stack_lines import Frame


@dataclass(frozen=True)
class BugIdentity:
    """Which bug a crash shows: equal ids, same bug; frames are the words the id is made of."""

    id: str
    kind: str
    severity: str
    frames: tuple[str, ...]


def identify(
    report_text: str,
    signal: int | None = None,
    depth: int = 5,
    function_start: Callable[[str, int], int | None] | None = None,
) -> BugIdentity:
    """The bug that a crash report shows; the signal counts where the report names no crash.

    ``depth`` is the number of frames that tell bugs apart. ``function_start`` finds the function
    that an address of a module is in, for frames without a name (see ``triage.functions``);
    without it, every call in such a function is a place of its own.

    The kind is no part of the id unless no frame is known: the same overflow can be reported as
    an overflow or as a SEGV, depending on how far it goes. Timeouts have no frames at all: where
    a hanging program is interrupted is chance, so all timeouts of a target are one bug.
    """
    report = parse(report_text)
    kind, severity, frames = report.kind, report.severity, report.frames
    if kind == kinds.UNKNOWN and signal is not None:
        kind = kinds.of_signal(_signal_name(signal))
        severity = kinds.severity(kind, "")
    if kind == "timeout":
        frames = ()
    if function_start is not None:
        frames = tuple(_at_start(frame, function_start) for frame in frames)
    return BugIdentity(
        id=stack_hash(frames, depth, kind=kind),
        kind=kind,
        severity=severity,
        frames=key_frames(frames, depth, kind=kind),
    )


def _at_start(frame: Frame, function_start: Callable[[str, int], int | None]) -> Frame:
    if frame.function or not frame.module or frame.offset is None:
        return frame
    start = function_start(frame.module, frame.offset)
    return frame if start is None else replace(frame, offset=start)


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
