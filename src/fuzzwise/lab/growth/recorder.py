"""How targets grow when each is fuzzed alone: recorded once, for replays of any schedule.

What a target finds depends on its own time only, so that FuzzSim's idea (FS §5) holds for targets
that learn from coverage, too. Chance plays a larger part than in a black box: every target is
recorded several times, from the same corpus with another random seed. Each repeat is a snapshot
file with a line every second or so, and more of them in its first seconds; it is final up to its
last line, and goes on behind it when the recording is resumed.
"""

from __future__ import annotations

import shutil
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise import snapshot
from fuzzwise.engines.contract import Session, TargetPlan, Totals
from fuzzwise.engines.leftovers import Guard
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.files import make_private
from fuzzwise.lab.recording.folder import locked_folder
from fuzzwise.model import Observation
from fuzzwise.snapshot import Campaign, FirstShown
from fuzzwise.text import many
from fuzzwise.triage.workers import Workers

SUFFIX = ".growth.jsonl"
"""How the names of the files end, one a repeat."""

MARK = 1.0
FIRST_MARK = 0.05
"""Seconds between two lines, about: a tenth of the time so far, within these bounds."""

EMPTY_TURNS = 3
"""Turns in a row without an input after which a target cannot be recorded."""

NEARLY = 0.5
"""Seconds that a recording may lack and be whole: a turn of less is not worth its start."""


@dataclass(frozen=True)
class GrowthPlan:
    """What to record: every target, ``repeats`` times for ``seconds`` each, in turns of ``turn``.

    Turns as a campaign has them, so that what it costs to begin one is in the recording.
    """

    targets: tuple[TargetPlan, ...]
    seconds: float
    repeats: int
    cores: int
    turn: float
    seed: int = 1


@dataclass(frozen=True)
class Grown:
    """How far one repeat of a target is; ``problem``: why it cannot be recorded."""

    name: str
    seconds: float = 0.0
    runs: int = 0
    species: int = 0
    discoveries: int = 0
    bugs: int = 0
    finished: bool = False
    problem: str = ""


Progress = Callable[[Grown], None]


def record(plan: GrowthPlan, out: Path, progress: Progress, stop: threading.Event) -> list[Grown]:
    """Record all repeats into the folder ``out``, or go on where that ended.

    All targets once, then all of them again: a recording that is cut short has as many repeats of
    each. ``progress`` is called from several threads; ``stop`` ends it early, with all saved.
    """
    with (
        locked_folder(out),
        Guard(out),
        Workers(plan.cores) as workers,
        ThreadPoolExecutor(plan.cores) as pool,
    ):
        work = [
            pool.submit(_Repeat(plan, target, number, out, workers).record, progress, stop)
            for number in range(1, plan.repeats + 1)
            for target in plan.targets
        ]
        try:
            return [done.result() for done in work]
        finally:
            stop.set()


class _Repeat:
    """Records one repeat of a target."""

    def __init__(
        self, plan: GrowthPlan, target: TargetPlan, number: int, out: Path, workers: Workers
    ) -> None:
        self._plan, self._target, self._workers = plan, target, workers
        self._name = f"{target.name}-{number}"
        self._file = out / f"{self._name}{SUFFIX}"
        self._work = out / "work" / self._name
        self._seed = zlib.crc32(self._name.encode()) ^ plan.seed
        self._finds_coverage = engine_named(target.engine).finds_coverage
        self._seen: list[Observation] = []
        self._bugs: list[FirstShown] = []

    def record(self, progress: Progress, stop: threading.Event) -> Grown:
        """Fuzz until the time is spent or a stop is asked for."""
        self._read()
        problem = ""
        if not self._finished and not stop.is_set():
            make_private(self._work)
            engine = engine_named(self._target.engine)
            session = engine.open_session(self._target, self._work, self._seed, self._workers)
            try:
                self._go_on(session, progress, stop)
            except BadInput as error:
                problem = str(error)
            finally:
                session.close()
        if self._finished:
            shutil.rmtree(self._work, ignore_errors=True)
        grown = replace(self._grown(), problem=problem)
        progress(grown)
        return grown

    def _read(self) -> None:
        """What an earlier call has recorded of it."""
        if not self._file.exists():
            return
        campaign = snapshot.read(self._file).campaigns[0]
        if campaign.subject != self._target.name:
            raise BadInput(
                f"{self._file} is a recording of {campaign.subject!r}, not of "
                f"{self._target.name!r}. Choose another folder with --out, or remove that file."
            )
        self._seen, self._bugs = list(campaign.observations), list(campaign.bugs)

    def _go_on(self, session: Session, progress: Progress, stop: threading.Event) -> None:
        known = session.totals()
        self._check_same(known)
        empty = 0
        while not self._finished and not stop.is_set() and empty < EMPTY_TURNS:
            before = self._runs
            seconds = min(self._plan.turn, self._plan.seconds - self._seconds)
            with ThreadPoolExecutor(1) as pool:
                turn = pool.submit(session.turn, max(seconds, NEARLY), 1)
                self._watch(turn, session, progress, stop)
                self._see(turn.result())
            self._save()
            progress(self._grown())
            empty = 0 if self._runs > before else empty + 1
        if empty:
            raise BadInput(f"It has run no input in {many(empty, 'turn')} in a row.")

    def _watch(
        self, turn: Future[Totals], session: Session, progress: Progress, stop: threading.Event
    ) -> None:
        """Look at the counts every now and then, as long as the turn lasts."""
        while not wait([turn], min(MARK, max(FIRST_MARK, self._seconds / 10))).done:
            if stop.is_set():
                session.interrupt()
            now = session.totals()
            if now is not None:
                self._see(now)
                progress(replace(self._grown(), finished=False))  # it is when its turn has ended

    def _check_same(self, known: Totals | None) -> None:
        """Refuse to go on where the file and the folder it was recorded in do not fit."""
        inputs = 0 if known is None else known.observation.n
        if inputs < self._runs:
            raise BadInput(
                f"{self._file} holds {self._runs:,} inputs and {self._work} only {inputs:,}: it "
                "cannot go on. Remove that file to record it again."
            )

    def _see(self, totals: Totals) -> None:
        """Add a line, if there is anything new; a moment ago is soon enough for counts."""
        now = replace(
            totals.observation,
            seconds=totals.seconds,
            last_discovery_seconds=None,
            corpus=totals.corpus if self._finds_coverage else 0,
            seeds=None,
            f=None,
            k=None,
            resets={},
        )
        if now.n <= self._runs or totals.seconds < self._seconds:
            return
        known = {bug.id for bug in self._bugs}
        for bug in totals.bugs:
            if bug.id not in known:
                since = self._runs + 1  # a bug that was examined late is known since now
                self._bugs.append(FirstShown(bug.id, min(now.n, max(since, bug.found_at))))
        self._seen.append(now)

    def _save(self) -> None:
        if self._seen:
            seen, bugs = tuple(self._seen), tuple(self._bugs)
            campaign = Campaign(self._name, seen, self._target.name, bugs=bugs)
            snapshot.write(self._file, [campaign])

    @property
    def _runs(self) -> int:
        return self._seen[-1].n if self._seen else 0

    @property
    def _seconds(self) -> float:
        return (self._seen[-1].seconds or 0.0) if self._seen else 0.0

    @property
    def _finished(self) -> bool:
        return self._seconds >= self._plan.seconds - NEARLY

    def _grown(self) -> Grown:
        last = self._seen[-1] if self._seen else Observation(0)
        found = 0 if last.discoveries is None else len(last.discoveries)
        return Grown(
            self._name,
            self._seconds,
            last.n,
            last.species or 0,
            found,
            len(self._bugs),
            self._finished,
        )
