"""Campaigns of Go's fuzzer, read from what ``go test -fuzz`` prints.

Every three seconds there is a line with counts (see ``engines.go.lines``): how many inputs were new
since the line before, not which. So discoveries are known in groups, and are told so. What the
fuzzer executes to make an input smaller is counted by it, and cannot be told apart here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fuzzwise.engines.go.lines import LINE, seconds_in
from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.tail import Tail
from fuzzwise.text import LONGEST, MOST, number, printable
from fuzzwise.watch import processes
from fuzzwise.watch.curve import Spread
from fuzzwise.watch.reading import Process, Reading

_STATUS = re.compile(LINE.pattern, re.MULTILINE)
_FAILED = b"    Failing input written to "
_LAST_WORDS = (b"PASS", b"FAIL", b"ok  \t", b"exit status ")


class GoTestLog:
    """One log: of one process, or of several that came one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tail = Tail(path)
        self._log = _Log(path)

    def read(self) -> Reading:
        """The campaign as the log tells now."""
        self._tail.read(lambda piece: self._log.take(piece), self._forget)
        log = self._log
        if not log.lines:
            raise BadInput(
                f"{printable(str(self.path))}: has no line with counts of `go test -fuzz` yet. It "
                "writes one every 3 s once its seeds are run; keep its standard error in the log "
                "(2>&1)."
            )
        writers = processes.writers(self.path.resolve())
        return Reading(
            kind="go test",
            name=self.path.name,
            path=self.path,
            observation=log.observation(),
            corpus=log.corpus,
            crashes=log.failures,
            processes=tuple(Process(pid) for pid in writers if processes.is_go_fuzzer(pid)),
            exact=False,
            said_the_end=log.is_over,
            notes=tuple(_notes(log)),
        )

    def _forget(self) -> None:
        self._log = _Log(self.path)


class _Log:
    """Takes the lines of a log as they come; a process that starts again counts on."""

    def __init__(self, path: Path) -> None:
        self._spread = Spread(path)
        self.lines = self.restarts = self.left_out = self.failures = 0
        self.corpus: int | None = None
        self.has_coverage = True
        self.minimizes = self.is_over = False
        self._found: list[int] = []
        self._looks: set[int] = set()
        self._last_found: float | None = None
        self._before, self._seconds_before = 0, 0.0
        self._begin()

    def _begin(self) -> None:
        self._start = self._execs = self._new = 0
        self._seconds = 0.0
        self._has_begun = False

    @property
    def n(self) -> int:
        """Inputs made so far."""
        return self._before + max(0, self._execs - self._start)

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return self._seconds_before + self._seconds

    def observation(self) -> Observation:
        """What the estimators need."""
        if not self.has_coverage:
            return Observation(self.n, seconds=self.seconds)
        return Observation(
            self.n,
            seconds=self.seconds,
            last_discovery_seconds=self._last_found,
            discoveries=np.array(self._found, dtype=np.int64),
            counted_at=np.array(sorted(self._looks), dtype=np.int64),
        )

    def take(self, piece: bytes) -> None:
        """Go on with lines that were added."""
        for line in piece.splitlines():
            if status := _STATUS.match(line):
                self.is_over = False
                self._status(status)
            elif line.startswith(_FAILED):
                self.failures += 1
            elif line.startswith(_LAST_WORDS):
                self.is_over = True

    def _status(self, status: re.Match[bytes]) -> None:
        seconds = seconds_in(status["elapsed"])
        execs, ran = number(status["execs"] or b""), number(status["ran"] or b"")
        if seconds > LONGEST or self.n > MOST or (execs is None and ran is None):
            self.minimizes |= execs is None and ran is None
            self.left_out += seconds > LONGEST or self.n > MOST
            return
        is_another = self._has_begun if execs is None else execs < self._execs
        if is_another:
            self._next_process()
        self._seconds = max(self._seconds, seconds)
        if execs is None:
            self._has_begun = status["fuzzing"] is not None
            self._start = self._execs = (number(status["all"]) or 0) if self._has_begun else 0
        else:
            self._counted(execs, status)

    def _counted(self, execs: int, status: re.Match[bytes]) -> None:
        self._has_begun = True
        self.lines += 1
        self.has_coverage = status["new"] is not None
        before, self._execs = self.n, execs
        new = number(status["new"] or b"0") or 0
        count = min(new - self._new, self.n - before)
        if count > 0:
            self._found += self._spread(before, self.n, count)
            self._looks |= {before, self.n}
            self._last_found = self.seconds
        self._new = max(new, self._new)
        self.corpus = number(status["corpus"] or b"") or self.corpus

    def _next_process(self) -> None:
        self.restarts += 1
        self._before, self._seconds_before = self.n, self.seconds
        self._begin()


def is_log(start: bytes, end: bytes) -> bool:
    """Whether a file with this start and end is a log of ``go test -fuzz``."""
    return any(_STATUS.search(part) for part in (start, end))


def _notes(log: _Log) -> Iterator[str]:
    """What a log does not tell, the weightiest first."""
    if not log.has_coverage:
        yield (
            "The test was compiled without coverage, so that nobody knows what is new: let `go "
            "test -fuzz` compile it."
        )
    if log.left_out:
        yield f"{log.left_out:,} lines have numbers that no fuzzer counts to, and were left out."
    yield (
        "Go tells every 3 s how many inputs were new, not which: the interval of the recent rate "
        "holds every way it can have been."
    )
    yield (
        "What Go executes to make inputs smaller is counted as inputs: -fuzzminimizetime=0x leaves "
        "that out."
    )
    if log.restarts:
        yield f"{log.restarts:,} restarts, counted on from where the process before it ended."
