"""The log of libFuzzer: what its status lines say about inputs and discoveries.

``#N EVENT cov: C ft: F corp: n/size … exec/s: E``. N counts executions of this process, those of
the initial corpus included: the inputs made by mutation are N minus the N of INITED. An input is a
discovery if ``ft`` (the features seen) is higher on its line than on the line before. NEW and
REDUCE do not tell: libFuzzer prints REDUCE for any child of a unit that was once replaced by a
smaller one, and for replacements, on which ft stays. Tried with clang 14: the inputs read so are
those that the target itself sees a feature for the first time on, one by one. RELOAD adds units
that other processes found: they are no discoveries of this one, nor inputs that it made.

Fork mode prints ``#N: cov: … ft: … corp: …`` when a job has ended, with N *after* that job, but ft
and corp *before* what it found is merged. So what a line shows is true of the N of the line
before, and the runs of the latest job are left out until the next line. How many inputs of a job
were discoveries it does not say; the growth of corp is 0.8 to 1 of the true number (tried with
clang 14 against features seen by the target itself), the growth of ft twice to four times of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fuzzwise.engines.length_limit import LengthLimit
from fuzzwise.engines.libfuzzer_lines import ENDS, STATUS, TIME, WORDS, loose_fields
from fuzzwise.engines.libfuzzer_process import ProcessCount
from fuzzwise.text import MOST, number
from fuzzwise.watch.curve import Curve, Spread, rising


class LogReader:
    """Takes the lines of one log as they come.

    A process that starts again, its log appended to the same file, goes on counting from what the
    processes before it had made.
    """

    def __init__(self, path: Path) -> None:
        self._spread = Spread(path)
        self.restarts = 0
        self.lost = 0
        """Restarts that began with less coverage than there was: the corpus was not kept."""
        self.out_of_order = 0
        self.lines = 0
        self.is_forked = False
        self.has_jobs = False
        self.is_headless = False
        self.is_exact = True
        self.is_over = False
        """Whether the latest process has said its last words."""
        self.corpus: int | None = None
        self.crashes = 0
        self.hangs = 0
        self.found: list[int] = []
        self._found_times: list[float] = []
        self._made = 0
        self._timed = False
        self._seconds = 0.0
        self._ends = (0, 0)
        self._process = ProcessCount()
        self._knows_start = False
        self._limit = LengthLimit()

    @property
    def n(self) -> int:
        """Inputs made so far."""
        return self._made + self._process.made

    @property
    def seconds(self) -> float | None:
        """Time spent so far, as far as the lines tell."""
        known = self._seconds + self._process.seconds
        return known if self._timed else None

    @property
    def limit_rises(self) -> bool:
        """Whether the limit on the length of inputs has risen in the latter half of them."""
        return self._limit.still_rises(self.n)

    def take(self, piece: bytes) -> None:
        """Go on with lines that were added."""
        words = [(f.start(), kind, f) for kind, what in WORDS for f in what.finditer(piece)]
        at = 0
        for start, kind, found in sorted(words, key=lambda word: word[0]):
            self._take_status_lines(piece, at, start)
            at = start
            self._take_word(kind, found)
        self._take_status_lines(piece, at, len(piece))

    def _take_status_lines(self, piece: bytes, start: int, end: int) -> None:
        """Most lines of a long log are replacements, on which nothing but N changes."""
        same: re.Match[bytes] | None = None
        replacement: tuple[bytes | None, ...] = ()
        for found in STATUS.finditer(piece, start, end):
            said = found.group("event", "ft", "lim")
            if said == replacement and not self.is_forked:
                n = int(found["n"])
                if self._process.is_counting and self._process.latest <= n <= MOST:
                    self._process.latest = n
                    same = found
                    continue
            event, features, limit = said
            if self.is_forked or event is None:
                if event is None:
                    self._fork_status(found)
                continue  # fork mode prints the whole log of a job that ended with a crash
            if same is not None:
                self._clock(self._process.latest, int(same["speed"]))
                same = None
            fields = found.group("ft", "corp", "speed")
            if features is None:
                fields = loose_fields(piece, found.end(), end)
            self._status(number(found["n"]), event, *fields)
            if not replacement or limit != replacement[-1]:
                self._limit.take(self.n, limit)
            replacement = (b"REDUCE", b"%d" % (self._process.features or 0), limit)
        if same is not None:
            self._clock(self._process.latest, int(same["speed"]))

    def _take_word(self, kind: str, found: re.Match[bytes]) -> None:
        if not self.is_forked or kind == "fork":
            self.is_over = kind in ("done", "units", "artifact", "jobs")
        if kind == "fork":
            self._next_process()
            self.is_forked, self.is_exact = True, False
        elif self.is_forked:
            return
        elif kind == "start":
            self._next_process()
            self._knows_start = True
        elif kind == "done":
            self._end(number(found[1]), float(found[2]))
        elif kind == "units":
            self._end(number(found[1]), None)
        elif kind == "artifact":
            self.hangs += found[1] == b"timeout"
            self.crashes += found[1] != b"timeout"
        else:
            self.has_jobs = True

    def curve(self, start: float = 0.0) -> Curve:
        """Inputs over time, at a steady speed; time begins at ``start``."""
        seconds = self.seconds or 0.0
        found = rising(self.found, self.n)
        n = max(self.n, int(found[-1]) if len(found) else 0)
        return Curve(
            times=np.array([start, start + seconds]),
            counts=np.array([0.0, float(n)]),
            found=found,
            found_times=start + np.minimum(np.array(self._found_times), seconds),
            n=n,
            timed=self._timed,
        )

    # ── one process ───────────────────────────────────────────────────────────────────────────

    def _status(
        self,
        n: int | None,
        event: bytes,
        ft: bytes | None,
        corp: bytes | None,
        speed: bytes | None,
    ) -> None:
        if n is None or corp is None:
            return
        self.is_over = event == b"DONE"
        features = None if ft is None else number(ft)
        corpus = int(corp)
        if event == b"INITED":
            if self._process.is_counting:
                self._next_process()
            self._process.begin(n, features, corpus)
            self._knows_start = True
            self._compare_with_before(features)
        elif not self._process.is_counting:
            if event == b"pulse" and self._knows_start:
                return  # still at the initial corpus
            self.is_headless = not self._knows_start
            self._process.begin(n, features, corpus)
        elif n < self._process.latest:
            self.out_of_order += 1
            return
        elif event == b"RELOAD":
            self._process.imported(n, features, corpus)
        else:
            self._count(event, n, features, corpus)
        self.lines += 1
        self.corpus = corpus
        if speed is not None:
            self._clock(n, int(speed))

    def _count(self, event: bytes, n: int, features: int | None, corpus: int) -> None:
        process = self._process
        is_new = event in (b"NEW", b"REDUCE")
        count = int(event == b"NEW") if features is None else process.discoveries(features, corpus)
        if count:
            self._discover(self._spread(process.latest, n, count))
            self.is_exact &= is_new and count == 1
        process.at(n, features, corpus)

    def _discover(self, numbers: list[int]) -> None:
        """All at once: a damaged file can tell of very many."""
        process, made = self._process, self._made
        self.found += [made + process.number(at) for at in numbers]
        self._found_times += [self._seconds + process.seconds] * len(numbers)

    def _clock(self, n: int, speed: int) -> None:
        """Take the time from exec/s, which is 0 before the first second is over."""
        if speed > 0:
            self._timed = True
            self._process.seconds = max(self._process.seconds, n / speed)
            if self._found_times and self.found[-1] == self.n:
                self._found_times[-1] = self._seconds + self._process.seconds

    def _compare_with_before(self, features: int | None) -> None:
        before = self._best_features
        if before is not None and features is not None and 2 * features < before:
            self.lost += 1

    _best_features: int | None = None

    def _end(self, n: int | None, seconds: float | None) -> None:
        """The last words of a process: how many it executed, and for how long."""
        process = self._process
        if n is not None and process.is_counting and process.latest <= n:
            process.at(n, process.features, process.corpus)
            if seconds:
                self._timed = True
                process.seconds = max(process.seconds, seconds)

    def _next_process(self) -> None:
        """Close the account of a process, and open one for its successor."""
        process = self._process
        if process.is_counting:
            self.restarts += 1
            self._made += process.made
            self._seconds += process.seconds
            if process.features is not None:
                self._best_features = process.features
            if self.is_forked:
                self.crashes, self.hangs = self._sum_of_ends()
                self._ends = (self.crashes, self.hangs)
        self._process = ProcessCount()

    # ── fork mode ─────────────────────────────────────────────────────────────────────────────

    def _fork_status(self, found: re.Match[bytes]) -> None:
        n, features = number(found["n"]), number(found["fork_ft"])
        if n is None or features is None:
            return
        self.is_forked, self.is_exact = True, False
        process, corpus = self._process, int(found["fork_corp"])
        if not process.is_counting:
            process.begin_forked(features, corpus)
        elif n < process.announced:
            self.out_of_order += 1
            return
        count = process.discoveries(features, corpus)
        self._discover(self._spread(process.latest, process.announced, count))
        process.at(process.announced, features, corpus)
        process.announced = n
        if ends := ENDS.search(found["more"]):
            process.ends = (int(ends[1]), int(ends[2]), int(ends[3]))
        self.lines += 1
        self.corpus = corpus
        self.crashes, self.hangs = self._sum_of_ends()
        if when := TIME.search(found["more"]):
            self._timed = True
            process.seconds = max(process.seconds, float(when[1]))

    def _sum_of_ends(self) -> tuple[int, int]:
        memory, slow, crashed = self._process.ends
        return self._ends[0] + memory + crashed, self._ends[1] + slow
