"""What Go's fuzzer has said so far: how many inputs it made, and how many were new.

Every three seconds, and once more in the end: ``fuzz: elapsed: 3s, execs: 12345 (4115/sec), new
interesting: 7 (total: 19)``. execs counts what this process has executed, its corpus included;
that is told when it is through with it (``gathering baseline coverage: 12/12 completed, now fuzzing
with 1 workers``), and the rest are inputs that it made. New interesting ones are discoveries, known
by their number alone: they lie anywhere between two lines. With GODEBUG=fuzzdebug=1 it tells how
much coverage there is. Tried with Go 1.19.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, replace

from fuzzwise.text import number

LINE = re.compile(
    rb"^fuzz: elapsed: (?P<elapsed>[0-9hms.]{1,40}), (?:"
    rb"(?:gathering baseline coverage|testing seed corpus): (?P<ran>\d{1,16})/(?P<all>\d{1,16})"
    rb" completed(?P<fuzzing>, now fuzzing with \d{1,9} workers)?"
    rb"|execs: (?P<execs>\d{1,16}) \(\d{1,16}/sec\)"
    rb"(?:, new interesting: (?P<new>\d{1,16}) \(total: (?P<corpus>\d{1,16})\))?"
    rb"|minimizing)"
)
_BITS = re.compile(rb"(?:initial coverage bits|total bits): (\d{1,16})")
LONGEST = 1 << 16
"""Bytes of a line that are kept while it is not complete."""

_PARTS = re.compile(rb"(\d{1,12}(?:\.\d{1,9})?)(h|m|s)")
_UNITS = {b"h": 3600.0, b"m": 60.0, b"s": 1.0}


@dataclass(frozen=True)
class Group:
    """The discoveries of which is known that they lie behind one input and up to another."""

    after: int
    until: int
    count: int


@dataclass(frozen=True)
class Said:
    """How far a process is.

    ``made`` are inputs, ``found`` how many of them were discoveries, all as of the latest line.
    ``executed``: files of its corpus that it has run. ``loaded``: when it was through with its
    corpus, ``latest``: when it said its latest line, ``grown``: when it last told of more, by the
    monotonic clock. ``bits``: how much coverage there is, None where it does not say.
    """

    executed: int = 0
    made: int = 0
    found: int = 0
    corpus: int = 0
    bits: int | None = None
    loaded: float | None = None
    latest: float = 0.0
    grown: float = 0.0

    def uncounted(self, ended: float) -> int:
        """About how many inputs it may have made after its latest line, at its speed until then."""
        if self.loaded is None:
            return 0
        fuzzed = self.latest - self.loaded
        speed = self.made / fuzzed if fuzzed > 0 else 0.0
        return round(speed * max(0.0, ended - self.latest))


def seconds_in(elapsed: bytes) -> float:
    """The seconds of ``1h2m3s``, as Go writes times."""
    return sum(float(amount) * _UNITS[unit] for amount, unit in _PARTS.findall(elapsed))


class Lines:
    """Takes what a process prints, in pieces, from one thread; tells others how far it is."""

    def __init__(self) -> None:
        now = time.monotonic()
        self._lock = threading.Lock()
        self._rest = b""
        self._said = Said(latest=now, grown=now)
        self._groups: list[Group] = []
        self._start = 0

    @property
    def said(self) -> Said:
        """How far it is."""
        with self._lock:
            return self._said

    @property
    def groups(self) -> list[Group]:
        """The groups of discoveries; what it had before, it keeps."""
        with self._lock:
            return list(self._groups)

    def take(self, piece: bytes) -> None:
        """Go on with what it has printed."""
        lines = (self._rest + piece).split(b"\n")
        self._rest = lines.pop()[-LONGEST:]
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        if status := LINE.match(line):
            with self._lock:
                self._status(status)
        elif line.startswith(b"DEBUG ") and (bits := _BITS.search(line)):
            with self._lock:
                self._said = replace(self._said, bits=number(bits[1]))

    def _status(self, status: re.Match[bytes]) -> None:
        now = time.monotonic()
        said = replace(self._said, latest=now)
        if status["ran"]:
            ran = number(status["ran"]) or 0
            said = replace(said, executed=max(ran, said.executed), grown=now)
            if status["fuzzing"] and said.loaded is None:
                self._start = number(status["all"]) or 0
                said = replace(said, loaded=now, corpus=self._start)
        elif status["execs"]:
            said = self._counted(said, status, now)
        self._said = said

    def _counted(self, said: Said, status: re.Match[bytes], now: float) -> Said:
        """A line with counts; the first one of a process without a corpus says that it begins."""
        made = max(said.made, (number(status["execs"]) or 0) - self._start)
        found = max(said.found, number(status["new"] or b"0") or 0)
        if said.loaded is None:
            said = replace(said, loaded=now)
        if found > said.found and made > said.made:
            self._groups.append(Group(said.made, made, min(found - said.found, made - said.made)))
        grown = now if made > said.made else said.grown
        corpus = number(status["corpus"] or b"") or said.corpus
        return replace(said, made=made, found=found, corpus=corpus, grown=grown)
