"""A target of AFL++ at work: afl-fuzz is paused between its turns."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path

from fuzzwise.engines import idle, stability
from fuzzwise.engines.aflplusplus.fuzzing import Fuzzing
from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.places import AflPlaces
from fuzzwise.engines.aflplusplus.program import reproducing
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.observer.folder import AnotherBuild, CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import sound_state, why_counts_began_again
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.starting import LOADING, Start, no_input
from fuzzwise.engines.telling import Telling
from fuzzwise.errors import BadInput
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.workers import Workers

TICK = 0.25
"""Seconds between two looks at what was found."""

TRIAGE, LAST_LOOK = 1.0, 60.0
"""Seconds to wait behind a turn, and in the end, for crashes that are being examined."""


class AflSession:
    """Fuzzes for a turn; afl-fuzz stays, stopped, until the next one.

    Counts that belong to another build, or are damaged, are put aside, and the next ones begin
    with the corpus that there is.
    """

    def __init__(self, plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> None:
        del seed  # AFL++ makes its own: with a given one it leaves out how fast a seed is
        self._plan = plan
        self._folder = CampaignFolder(folder)
        self._places = AflPlaces(self._folder)
        self._job = Job.of(plan, folder)
        self._workers = workers
        self._stop = threading.Event()
        self._fuzzing: Fuzzing | None = None
        self._telling = Telling(self._read)
        self._locked = ExitStack()
        self._notes: tuple[str, ...] = ()
        self._start = Start(self._job.startup)

    def interrupt(self) -> None:
        """End the present turn at once, or the next one."""
        self._stop.set()

    def reproduce(self, data: bytes) -> Verdict:
        """Run the target once on an input."""
        job = self._job
        command = job.surroundings.before(reproducing(job.command))
        return reproduce(command, data, job.hang, job.memory_mib or 4096, job.startup)

    def totals(self) -> Totals | None:
        """What is known: in the midst of a turn, how far it was a moment ago."""
        return self._telling.totals()

    def _read(self) -> Totals | None:
        try:
            record = self._folder.record()
            if record is None:
                return None
            state = sound_state(self._folder, int(record.get("inputs", 0)))
        except DamagedState:
            return None
        seconds = float(record.get("seconds", 0.0))
        return self._totals(
            str(record.get("generation", "")),
            state,
            seconds,
            float(record.get("core_seconds", seconds)),
            tuple(BugBook(self._folder.crashes, self._plan.program.name).bugs.values()),
        )

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        if jobs != 1:
            raise BadInput(f"{self._plan.name}: AFL++ fuzzes on one core; set jobs = 1.")
        try:
            with self._telling.turn():
                try:
                    return self._turn(seconds)
                except (AnotherBuild, DamagedState) as problem:
                    self._notes = (*self._notes, why_counts_began_again(problem))
                self._places.begin_again()
                return self._turn(seconds)
        finally:
            self._stop.clear()

    def close(self) -> None:
        """End afl-fuzz, and see what crashed; a later turn starts it again."""
        try:
            if self._fuzzing:
                self._fuzzing.end()
                self._fuzzing.bugs.look(self._fuzzing.n, self._fuzzing.seconds, LAST_LOOK)
                self._fuzzing.save()
        finally:
            self._drop()
            self._stop.clear()

    def _turn(self, seconds: float) -> Totals:
        try:
            fuzzing = self._open()
            fuzzing.go_on()
            try:
                self._fuzz(fuzzing, seconds)
            finally:
                fuzzing.pause()
            if not self._stop.is_set():
                fuzzing.examine(TRIAGE)
            fuzzing.save()
        except (BadInput, OSError):
            self._drop()
            raise
        return self._told(fuzzing)

    def _fuzz(self, fuzzing: Fuzzing, seconds: float) -> None:
        began = clock = time.monotonic()
        self._start = Start(self._job.startup)
        first = fuzzing.n
        while not self._stop.is_set():
            used = clock - began
            left = (max(seconds, LOADING) if fuzzing.is_loading else seconds) - used
            if left <= 0 or fuzzing.has_all_inputs:
                return
            fuzzing.wait(min(TICK, left))
            now = time.monotonic()
            self._start.look(now - clock, fuzzing.seeds_tried, fuzzing.n - first)
            clock = now
            if fuzzing.is_loading and self._start.is_stuck:
                likely = "does it wait, or loop, before it reads its input?"
                raise BadInput(no_input(self._job.program, self._job.startup, likely))
            fuzzing.bugs.look(fuzzing.n, fuzzing.seconds)
            self._telling.say(self._told(fuzzing))

    def _open(self) -> Fuzzing:
        """The one that is paused, if its target is still the same file."""
        if self._fuzzing is None or not self._fuzzing.is_of_this_build():
            self._drop()
            self._folder.make()
            self._locked.enter_context(self._folder.only_one())
            self._fuzzing = Fuzzing(self._job, self._workers, self._stop)
        return self._fuzzing

    def _drop(self) -> None:
        fuzzing, self._fuzzing = self._fuzzing, None
        if fuzzing:
            fuzzing.end()
        self._locked.close()

    def _told(self, fuzzing: Fuzzing) -> Totals:
        return self._totals(
            fuzzing.generation,
            fuzzing.state,
            fuzzing.seconds,
            fuzzing.core_seconds,
            tuple(fuzzing.bugs.book.bugs.values()),
            fuzzing.bugs.problem,
            self._start if fuzzing.is_loading else None,
        )

    def _warnings(self, state: State) -> list[str]:
        """What would make a low risk mean nothing: said loudly, never passed over."""
        found = []
        head = state.head
        if head.inputs and head.initial <= 1 and (files := self._places.count_seeds()) > 1:
            found.append(
                f"all {files:,} files that it started from show the same: does the target read "
                "its input?"
            )
        return [*found, *idle.warnings(int(head.inputs), int(head.discoveries))]

    def _totals(
        self,
        generation: str,
        state: State | None,
        seconds: float,
        core_seconds: float,
        bugs: tuple[Bug, ...],
        problem: str = "",
        start: Start | None = None,
    ) -> Totals:
        """``problem``: why crashes cannot be examined; ``start``: what has not begun to fuzz."""
        observation, corpus, still = Observation(0, discoveries=NO_INTS), 0, ""
        stable = self._places.stability()
        said = [f"crashes cannot be examined: {problem}"] if problem else []
        if state is not None and state.ready:
            said = [*self._warnings(state), *said]
            observation = self._places.with_waiting(state.observation(seconds))
            corpus, head = int(state.head.seeds), state.head
            still = idle.unsettled(int(head.initial), int(head.discoveries))
        return Totals(
            generation=generation,
            observation=observation,
            seconds=core_seconds,
            corpus=corpus,
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=(
                *self._notes,
                *said,
                *stability.warnings(stable),
                *filter(None, [start.warning if start else ""]),
            ),
            unsettled=stability.unsettled(stable) or still,
            doing=start.doing if start else "",
            stability=stable,
        )
