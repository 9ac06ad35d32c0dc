"""Exceptions that a harness let through: kept, each kind a few times, while fuzzing goes on.

An exception leaves the interpreter as it was, so that there is no need to end the process, as there
is after a crash of a C target. The file for a failure is written whole or not at all, and read by
``fuzzwise.engines.libfuzzer.launch``.
"""

from __future__ import annotations

import os
import time
from types import CodeType

FREELY = 3
"""Inputs written for an exception at one place before they come once a second at most."""

MOST_PLACES = 10_000

Place = tuple[object, ...]


class Failures:
    """Failures that go to a folder; ``prefix`` is its name, with a slash at its end."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._files = 0
        self._seen: dict[Place, int] = {}
        self._unwritten: dict[Place, int] = {}
        self._written_at: dict[Place, float] = {}

    def is_news(self, error: BaseException) -> bool:
        """Count a failure; whether it is to be written."""
        place = _place(error)
        if place not in self._seen and len(self._seen) >= MOST_PLACES:
            return False
        self._seen[place] = seen = self._seen.get(place, 0) + 1
        self._unwritten[place] = self._unwritten.get(place, 0) + 1
        return seen <= FREELY or time.monotonic() - self._written_at[place] >= 1.0

    def write(self, error: BaseException, data: bytes, report: str) -> None:
        """Write an input with its report, and how many there were since the last."""
        place = _place(error)
        count = self._unwritten.pop(place, 1)
        self._written_at[place] = time.monotonic()
        self._files += 1
        name = f"{os.getpid()}-{self._files}"
        # Nothing is imported for this: what the harness may import later is to be instrumented.
        try:
            with open(f"{self._prefix}part-{name}", "wb") as file:  # noqa: PTH123
                file.write(f"{count} {data.hex()}\n{report}".encode(errors="replace"))
            os.replace(f"{self._prefix}part-{name}", f"{self._prefix}failed-{name}")  # noqa: PTH105
        except OSError:  # a full disk: it is told again in a second
            self._unwritten[place] = count


def _place(error: BaseException) -> Place:
    """The class of an exception, and the innermost lines that it came through."""
    lines: list[tuple[CodeType, int]] = []
    trace = error.__traceback__
    while trace is not None:
        lines.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    if isinstance(error, RecursionError):  # where it ends is chance
        return (type(error), *sorted({code.co_name for code, _ in lines}))
    return (type(error), *lines[-8:])
