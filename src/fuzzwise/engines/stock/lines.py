"""What one process of libFuzzer has said so far: how many inputs it made, and which were new.

``#N EVENT cov: C ft: F corp: n/size …``: N counts what this process has executed. Up to INITED
that is its corpus, from there on the inputs that it made. One is a discovery where ``ft`` is higher
than on the line before. N is exact on each line, and once more in its last words
(``-print_final_stats=1``), whether it was asked to end or ended by a crash. Of one that is killed
it is not known what it has made after its last line: see ``uncounted``.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, replace

from fuzzwise.engines.length_limit import LengthLimit
from fuzzwise.engines.libfuzzer_lines import STATUS, loose_fields
from fuzzwise.text import number

_UNITS = re.compile(rb"(?:stat::number_of_executed_units: *|^Done )(\d{1,16})\b")
_RAN = (b"INFO: seed corpus: files:", b"INFO: A corpus is not provided")
"""What libFuzzer says when the first input, the empty one, has ended."""

LONGEST = 1 << 16
"""Bytes of a line that are kept while it is not complete."""


@dataclass(frozen=True)
class Said:
    """How far a process is.

    ``made`` are inputs, ``found`` the numbers of those that were discoveries, ``features`` and
    ``corpus`` as of the latest line. ``loaded``: when it was through with its corpus, ``latest``:
    when it said its latest line, by the monotonic clock. ``is_complete``: it has told in the end
    how many it made. ``limit``: its limit on the length of inputs, ``limit_rises``: that rises.
    """

    has_run: bool = False
    made: int = 0
    found: tuple[int, ...] = ()
    features: int = 0
    corpus: int = 0
    initial_features: int = 0
    loaded: float | None = None
    latest: float = 0.0
    is_complete: bool = False
    limit: int = 0
    limit_rises: bool = False
    through: int = 0
    """Files of its corpus that it has executed, as of the latest line."""

    def uncounted(self, ended: float) -> int:
        """About how many inputs it may have made after its latest line, at its speed until then."""
        if self.loaded is None or self.is_complete:
            return 0
        fuzzed = self.latest - self.loaded
        speed = self.made / fuzzed if fuzzed > 0 else 0.0
        return round(speed * max(0.0, ended - self.latest))


class Lines:
    """Takes what a process prints, in pieces, from one thread; tells others how far it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rest = b""
        self._said = Said(latest=time.monotonic())
        self._found: list[int] = []
        self._start = 0
        self._n = 0
        self._limit = LengthLimit()

    @property
    def said(self) -> Said:
        """How far it is; ``found`` grows, and has what it had before."""
        with self._lock:
            return replace(self._said, found=tuple(self._found))

    @property
    def glance(self) -> Said:
        """The same without ``found``, which may be long."""
        with self._lock:
            return self._said

    def take(self, piece: bytes) -> None:
        """Go on with what it has printed."""
        lines = (self._rest + piece).split(b"\n")
        self._rest = lines.pop()[-LONGEST:]
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        if status := STATUS.search(line):
            fields = status.group("ft", "corp")
            if fields[0] is None:
                fields = loose_fields(line, status.end(), len(line))[:2]
            ft, corpus = (0 if field is None else int(field) for field in fields)
            if status["event"] and (n := number(status["n"])) is not None:
                self._limit.take(n, status["lim"])
                self._status(status["event"], n, ft, corpus)
        elif units := _UNITS.search(line):
            if (n := number(units[1])) is not None:
                self._last_words(n)
        elif any(word in line for word in _RAN):
            with self._lock:
                self._said = replace(self._said, has_run=True)

    def _status(self, event: bytes, n: int, ft: int, corpus: int) -> None:
        now = time.monotonic()
        with self._lock:
            said = self._said
            if event == b"INITED" and said.loaded is None:
                self._start = self._n = n
                self._said = Said(
                    *(True, 0, (), ft, corpus, ft),
                    loaded=now,
                    latest=now,
                )
                return
            if said.loaded is None or n < self._n:
                self._said = replace(said, has_run=True, through=max(n, said.through))
                return  # still at its corpus, or a line that is none
            self._n = n
            if ft > said.features and n > self._start:
                self._found.append(n - self._start)
            self._said = replace(
                said,
                made=n - self._start,
                features=max(ft, said.features),
                corpus=corpus or said.corpus,
                latest=now,
                limit=self._limit.latest,
                limit_rises=self._limit.still_rises(n),
            )

    def _last_words(self, n: int) -> None:
        with self._lock:
            if self._said.loaded is None or n < self._n:
                return
            self._n = n
            self._said = replace(
                self._said, made=n - self._start, latest=time.monotonic(), is_complete=True
            )
