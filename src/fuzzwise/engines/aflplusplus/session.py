"""A target of AFL++ in a campaign over many: afl-fuzz is paused between its turns."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.campaign.session import Totals
from fuzzwise.engines.aflplusplus.fuzzing import Fuzzing
from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.places import AflPlaces
from fuzzwise.engines.observer.folder import AnotherBuild, CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import why_counts_began_again
from fuzzwise.engines.observer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.workers import Workers

TICK = 0.25
"""Seconds between two looks at what was found."""

LOADING = 60.0
"""Seconds that afl-fuzz has at least to get through its corpus, however short the turn."""

TRIAGE = 1.0
"""Seconds to wait behind a turn for crashes that are being examined."""


class AflSession:
    """Fuzzes for a turn; afl-fuzz stays, stopped, until the next one.

    Counts that belong to another build, or are damaged, are put aside, and the next ones begin
    with the corpus that there is.
    """

    finds_coverage = True

    def __init__(self, plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> None:
        del seed  # AFL++ makes its own: with a given one it leaves out how fast a seed is
        self._plan = plan
        self._folder = CampaignFolder(folder)
        self._workers = workers
        self._stop = threading.Event()
        self._fuzzing: Fuzzing | None = None
        self._locked = ExitStack()
        self._notes: tuple[str, ...] = ()

    def interrupt(self) -> None:
        """End the present turn, and any later one, at once."""
        self._stop.set()

    def totals(self) -> Totals | None:
        """What the folder knows."""
        try:
            record = self._folder.record()
            if record is None:
                return None
            seconds = float(record.get("seconds", 0.0))
            state = State(self._folder.state) if self._folder.state_exists() else None
        except DamagedState:
            return None
        bugs = tuple(BugBook(self._folder.crashes).bugs.values())
        return self._totals(str(record.get("generation", "")), state, seconds, bugs)

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        if jobs != 1:
            raise BadInput(f"{self._plan.name}: AFL++ fuzzes on one core; set jobs = 1.")
        try:
            return self._turn(seconds)
        except (AnotherBuild, DamagedState) as problem:
            self._notes = (*self._notes, why_counts_began_again(problem))
        AflPlaces(self._folder).begin_again()
        return self._turn(seconds)

    def close(self) -> None:
        """End afl-fuzz; a later turn starts it again."""
        if self._fuzzing:
            self._fuzzing.end()
            self._fuzzing.save()
        self._drop()

    def _turn(self, seconds: float) -> Totals:
        try:
            fuzzing = self._open()
            fuzzing.go_on()
            try:
                self._fuzz(fuzzing, seconds)
            finally:
                fuzzing.pause()
            if not self._stop.is_set():
                fuzzing.bugs.look(fuzzing.n, fuzzing.seconds, TRIAGE)
            fuzzing.save()
        except (BadInput, OSError):
            self._drop()
            raise
        bugs = tuple(fuzzing.bugs.book.bugs.values())
        totals = self._totals(
            fuzzing.generation, fuzzing.state, fuzzing.seconds, bugs, fuzzing.warnings()
        )
        return replace(totals, unsettled=fuzzing.unsettled)

    def _fuzz(self, fuzzing: Fuzzing, seconds: float) -> None:
        start = time.monotonic()
        while not self._stop.is_set():
            used = time.monotonic() - start
            left = (max(seconds, LOADING) if fuzzing.is_loading else seconds) - used
            if left <= 0:
                return
            fuzzing.wait(min(TICK, left))
            fuzzing.bugs.look(fuzzing.n, fuzzing.seconds)

    def _open(self) -> Fuzzing:
        """The one that is paused, if its target is still the same file."""
        if self._fuzzing is None or not self._fuzzing.is_of_this_build():
            self._drop()
            self._folder.make()
            self._locked.enter_context(self._folder.only_one())
            self._fuzzing = Fuzzing(self._job(), self._workers, self._stop)
        return self._fuzzing

    def _drop(self) -> None:
        fuzzing, self._fuzzing = self._fuzzing, None
        if fuzzing:
            fuzzing.end()
        self._locked.close()

    def _job(self) -> Job:
        plan = self._plan
        return Job(
            command=plan.command,
            out=self._folder.out,
            corpus=plan.corpus,
            dictionary=plan.dictionary,
            hang=plan.limits.seconds,
            memory_mib=plan.limits.memory_mib,
            max_length=plan.max_length,
            options=plan.options,
        )

    def _totals(
        self,
        generation: str,
        state: State | None,
        seconds: float,
        bugs: tuple[Bug, ...],
        warnings: tuple[str, ...] = (),
    ) -> Totals:
        ready = state is not None and state.ready
        return Totals(
            generation=generation,
            observation=AflPlaces(self._folder).with_waiting(state.observation(seconds))
            if state is not None and ready
            else Observation(0, discoveries=NO_INTS),
            seconds=seconds,
            corpus=int(state.head.seeds) if state is not None and ready else 0,
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=(*self._notes, *warnings),
        )
