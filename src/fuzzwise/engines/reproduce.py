"""One input shown to a target again, in the confinement that triage has."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzwise.triage.examine import Limits, Verdict, absolute, examine

DEPTH = 5
"""Frames that tell bugs apart, the same for every engine."""


def reproduce(
    command: Sequence[str], data: bytes, seconds: float, memory_mib: int, startup: float = 0.0
) -> Verdict:
    """Which bug an input shows; ``seconds`` and ``memory_mib`` are what a run of it may take.

    ``startup`` is what comes before, where that is not in ``seconds``. Under gdb and with a
    symbolizer everything takes longer than a run while fuzzing.
    """
    limits = Limits(startup + 10 + 10 * seconds, max(16, memory_mib))
    return examine(absolute(command), data, "input", limits, DEPTH)
