"""What turns cost a stock target: features beside those of one process that is never interrupted.

Run ``python benchmarks/stock_turns.py [LIBRARY…] --turn 10 --time 60 --repeats 2``. Libraries are those of
``subjects.py``, fetched and built by plain clang. Both ways run at the same time, each on one core, and begin
with the same random seed: until the first turn ends they make the same inputs, so that what differs in the end comes
of turns and not of luck. All times are times on a core, so that a busy machine makes it last longer and changes nothing else: how long a turn
is, and after how much features are compared, that of all processes with what they took to start and to
execute their corpus. Beside it: features after equally many executions, and how long no process ran
because one had ended and the next had not begun.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.stock import fuzzing
from fuzzwise.engines.stock.process import StockProcess
from fuzzwise.engines.stock.session import StockSession
from real import DEFAULT_WORK, chosen, starting_corpus, target

STATUS = re.compile(rb"^#(\d+)\t\w+ +cov: \d+ ft: (\d+) ", re.MULTILINE)
UNITS = re.compile(rb"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)
LONGEST = 36_000.0
"""Seconds by the clock that a turn may take; it never does."""

LAST_WORDS = 5.0
"""Seconds that the process which is never interrupted has for its last input."""

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Point:
    """How far one or more processes have come: time on a core, executions, features."""

    seconds: float
    executions: int
    features: int


class Kept(StockProcess):
    """A process that is kept with how far it was at each of its lines."""

    all: ClassVar[list[Kept]]

    def __init__(self, command: list[str], environment: dict[str, str], *places: Path) -> None:
        self.given = (command, environment)
        self.points: list[Point] = []
        self._read_so_far = b""
        self.used = 0.0
        type(self).all.append(self)
        super().__init__(command, environment, *places)
        threading.Thread(target=self._clock, daemon=True).start()

    def _clock(self) -> None:
        """What it has used is gone with it, so somebody has to look all the time."""
        with suppress(OSError):
            while True:
                self.used = seconds_on_a_core(self.pid)
                time.sleep(0.05)

    def _take(self, chunk: bytes) -> None:
        super()._take(chunk)
        used = self.used
        lines, _, rest = (self._read_so_far + chunk).rpartition(b"\n")
        self._read_so_far = rest
        known = self.points[-1].features if self.points else 0
        for n, features in STATUS.findall(lines):
            known = max(known, int(features))
            self.points.append(Point(used, int(n), known))
        if units := UNITS.findall(lines):
            self.points.append(Point(used, int(units[-1]), known))


class Uninterrupted(Kept):
    """The one that never ends before its time."""

    all: ClassVar[list[Kept]] = []


def seconds_on_a_core(pid: int) -> float:
    """What a process has used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def joined(processes: list[Kept]) -> list[Point]:
    """The course of processes that came one after the other."""
    seconds, executions, best, course = 0.0, 0, 0, [Point(0.0, 0, 0)]
    for process in processes:
        for point in process.points:
            best = max(best, point.features)
            course.append(Point(seconds + point.seconds, executions + point.executions, best))
        seconds, executions = course[-1].seconds, course[-1].executions
    return course


@dataclass(frozen=True)
class Outcome:
    """One library, once."""

    name: str
    ours: list[Point]
    theirs: list[Point]
    gaps: float
    starts: int

    def features(self, by: str) -> tuple[int, int]:
        """Of both, after equal amounts of what it goes by."""
        equal = min(getattr(self.ours[-1], by), getattr(self.theirs[-1], by))
        ours, theirs = (
            max(point.features for point in course if getattr(point, by) <= equal)
            for course in (self.ours, self.theirs)
        )
        return ours, theirs

    def ratio(self, by: str) -> float:
        """Of features."""
        ours, theirs = self.features(by)
        return ours / theirs

    def told(self) -> str:
        """A line on it."""
        return (
            "{}: {:,} to {:,}, {:.3f} after equal times; {:,} to {:,}, {:.3f} after equal "
            "executions; {} processes, {:.1f} s between them"
        ).format(
            *(self.name, *self.features("seconds"), self.ratio("seconds")),
            *(*self.features("executions"), self.ratio("executions"), self.starts, self.gaps),
        )


def one_turn(session: StockSession, seconds: float) -> None:
    """A turn of so many seconds on a core."""
    before = len(Kept.all)
    working = threading.Thread(target=session.turn, args=(LONGEST, 1))
    working.start()
    while sum(process.used for process in Kept.all[before:]) < seconds and working.is_alive():
        time.sleep(0.05)
    session.interrupt()
    working.join()


def twin(home: Path, own: Path) -> Uninterrupted:
    """A process like the first one of a session, once there is one, with a corpus of its own."""
    while not Kept.all:
        time.sleep(0.01)
    words, environment = Kept.all[0].given
    (home / "place").mkdir()
    (home / "plain").mkdir()
    swapped = {str(own / "corpus"): str(home / "plain")}
    prefix = "-artifact_prefix="
    words = [f"{prefix}{home}/" if word.startswith(prefix) else word for word in words]
    return Uninterrupted([swapped.get(word, word) for word in words], environment, home / "place")


def _all_turns(session: StockSession, turn: float, count: int) -> None:
    for _ in range(count):
        one_turn(session, turn)


def compare(program: Path, corpus: Path, turn: float, seconds: float, seed: int) -> Outcome:
    """Both ways at the same time."""
    Kept.all, Uninterrupted.all = [], []
    fuzzing.StockProcess = Kept  # type: ignore[attr-defined, assignment]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch).resolve()
        plan = TargetPlan("t", "stock", (str(program.absolute()),), (corpus.absolute(),))
        session = StockSession(plan, home / "out", seed)
        began = time.monotonic()
        turns = threading.Thread(target=_all_turns, args=(session, turn, round(seconds / turn)))
        turns.start()
        alone = twin(home, home / "out")
        turns.join()
        passed = time.monotonic() - began
        while alone.used < seconds and alone.ending() is None:
            time.sleep(0.05)
        alone.end(lambda: LAST_WORDS)
        lived = sum(process.lines.glance.latest - process.began for process in Kept.all)
    return Outcome(
        *(program.name, joined(Kept.all), joined(Uninterrupted.all)),
        *(passed - lived, len(Kept.all)),
    )


def main() -> None:
    """Measure, one library after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--turn", type=float, default=10.0)
    parser.add_argument("--time", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first", type=int, default=1, help="the random seed of the first one")
    asked = parser.parse_args()
    outcomes = []
    for subject in chosen(asked.names):
        program = target(subject, asked.work, stock=True)
        corpus = starting_corpus(subject, asked.work)
        for seed in range(asked.first, asked.first + asked.repeats):
            outcomes.append(compare(program, corpus, asked.turn, asked.time, seed))
            print(outcomes[-1].told(), flush=True)
    for by in ("seconds", "executions"):
        ratios = [outcome.ratio(by) for outcome in outcomes]
        print(
            f"turns of {asked.turn:g} s in {asked.time:g} s, after equal {by}: mean "
            f"{statistics.mean(ratios):.3f}, median {statistics.median(ratios):.3f}, from "
            f"{min(ratios):.3f} to {max(ratios):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
