"""A stock target at work, a turn at a time."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.libfuzzer.lives import Lives
from fuzzwise.engines.observer.folder import AnotherBuild, DamagedState
from fuzzwise.engines.observer.observed import none_is_new, why_counts_began_again
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.stock.counts import Counts, StockFolder, counts_in
from fuzzwise.engines.stock.fuzzing import Fuzzing
from fuzzwise.engines.stock.notes import notes
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.engines.telling import Telling
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import INPUT, Verdict

TICK = 0.25
"""Seconds between two looks at what was said, in a turn of at least eight of them."""


class StockSession:
    """Fuzzes for a turn; all counts are in the folder, between turns there is no process.

    Counts that belong to another build, or are damaged, are put aside, and the next ones begin
    with the corpus that there is.
    """

    def __init__(self, plan: TargetPlan, folder: Path, seed: int) -> None:
        self._plan = plan
        self._settings: StockSettings = plan.settings or StockSettings()
        self._folder = StockFolder(folder)
        self._seed = seed
        self._lock = threading.Lock()  # of the two below
        self._fuzzing: Fuzzing | None = None
        self._stop = False
        self._telling = Telling(self._read)
        self._said: tuple[str, ...] = ()
        self._lives = Lives()
        self._is_first = True

    def interrupt(self) -> None:
        """End the present turn at once, or the next one."""
        with self._lock:
            self._stop = True
            if self._fuzzing:
                self._fuzzing.interrupt()

    def close(self) -> None:
        """Between turns there is nothing to end."""

    def reproduce(self, data: bytes) -> Verdict:
        """Run the target once on an input."""
        command = self._plan.surroundings.before((self._plan.command[0], INPUT))
        return reproduce(command, data, self._settings.seconds, self._settings.memory_mib)

    def totals(self) -> Totals | None:
        """What is known: in the midst of a turn, how far it was a moment ago."""
        return self._telling.totals()

    def _read(self) -> Totals | None:
        try:
            record = self._folder.record()
            if record is None or not self._folder.state_exists():
                return None
            counts = counts_in(self._folder, record)
        except DamagedState:
            return None
        bugs = BugBook(self._folder.crashes, self._plan.program.name).bugs.values()
        return self._totals(str(record.get("generation", "")), counts, tuple(bugs))

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        if jobs != 1:
            raise BadInput(
                f"{self._plan.name}: a target that was not built with fuzzwise is fuzzed on one "
                "core; set jobs = 1."
            )
        try:
            with self._telling.turn():
                try:
                    return self._turn(seconds)
                except (AnotherBuild, DamagedState) as problem:
                    self._said = (*self._said, why_counts_began_again(problem))
                self._folder.begin_again()
                return self._turn(seconds)
        finally:
            with self._lock:
                self._fuzzing, self._stop = None, False

    def _turn(self, seconds: float) -> Totals:
        began = time.monotonic()
        if self._is_first:
            self._is_first = False
            end_all(self._folder.out)  # what somebody left who was killed
        fuzzing = Fuzzing(
            self._plan,
            self._folder,
            seed=self._seed,
            tick=min(TICK, max(0.1, seconds / 8)),
            began=began,
            lives=self._lives,
        )
        with self._lock:
            self._fuzzing = fuzzing
            if self._stop:
                fuzzing.interrupt()
        with suppress(NothingYet):
            fuzzing.run(seconds, lambda: self._publish(fuzzing))
        return self._told(fuzzing)

    def _publish(self, fuzzing: Fuzzing) -> None:
        self._telling.say(self._told(fuzzing))

    def _told(self, fuzzing: Fuzzing) -> Totals:
        bugs = tuple(fuzzing.book.bugs.values())
        said = (*fuzzing.corpus.notes(), *filter(None, [fuzzing.start.warning]))
        return self._totals(fuzzing.generation, fuzzing.counts, bugs, fuzzing.doing, said)

    def _totals(
        self,
        generation: str,
        counts: Counts,
        bugs: tuple[Bug, ...],
        doing: str = "",
        said: tuple[str, ...] = (),
    ) -> Totals:
        """``doing`` is also why no risk is accepted meanwhile."""
        return Totals(
            generation=generation,
            observation=counts.observation(),
            seconds=counts.core_seconds,
            corpus=counts.corpus,
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=(
                *self._said,
                *none_is_new(counts.n, len(counts.found)),
                *notes(counts),
                *self._lives.warnings,
                *said,
            ),
            unsettled=doing,
            doing=doing,
        )
