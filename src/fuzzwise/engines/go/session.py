"""A fuzz test of Go at work, a turn at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.go.counts import Counts, GoFolder, counts_in
from fuzzwise.engines.go.fuzzing import Fuzzing
from fuzzwise.engines.go.module import FuzzTest, tests_of
from fuzzwise.engines.go.problems import Lives
from fuzzwise.engines.go.replay import words
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.observer.folder import AnotherBuild, DamagedState
from fuzzwise.engines.observer.observed import none_is_new, why_counts_began_again
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.telling import Telling
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import INPUT, Verdict

TICK = 0.25
"""Seconds between two looks at what was said, in a turn of at least eight of them."""


class GoSession:
    """Fuzzes for a turn; all counts are in the folder, between turns there is no process.

    Counts that belong to another build, or are damaged, are put aside, and the next ones begin
    with the corpus that there is.
    """

    def __init__(self, plan: TargetPlan, folder: Path) -> None:
        self._plan = plan
        self._settings: GoSettings = plan.settings or GoSettings()
        self._test = FuzzTest(Path(plan.command[0]), plan.command[1])
        self._folder = GoFolder(folder)
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
        """Run the test once on an input, in the form that Go gives to inputs."""
        program = self._folder.program.absolute()
        command = (*words(self._test, program if program.is_file() else None), INPUT)
        return reproduce(command, data, self._settings.seconds, self._settings.memory_mib)

    def totals(self) -> Totals | None:
        """What is known: in the midst of a turn, how far it was a moment ago."""
        return self._telling.totals()

    def _read(self) -> Totals | None:
        try:
            record = self._folder.record()
            if record is None or not self._folder.state_exists():
                return None
            counts = counts_in(self._folder)
        except DamagedState:
            return None
        name = f"{self._test.package.name}.{self._test.function}"
        bugs = BugBook(self._folder.crashes, name).bugs.values()
        return self._totals(str(record.get("generation", "")), counts, tuple(bugs))

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        self._check()
        try:
            with self._telling.turn():
                try:
                    return self._turn(seconds, jobs)
                except (AnotherBuild, DamagedState) as problem:
                    self._said = (*self._said, why_counts_began_again(problem))
                self._folder.begin_again()
                return self._turn(seconds, jobs)
        finally:
            with self._lock:
                self._fuzzing, self._stop = None, False

    def _check(self) -> None:
        test = self._test
        if not test.package.is_dir():
            raise BadInput(f"{test.package}: there is no such folder; it was one of a Go package.")
        if test.function not in tests_of(test.package):
            raise BadInput(
                f"{test.package}: has no func {test.function}(f *testing.F) in a file *_test.go."
            )

    def _turn(self, seconds: float, jobs: int) -> Totals:
        began = time.monotonic()
        if self._is_first:
            self._is_first = False
            end_all(self._folder.out)  # what somebody left who was killed
        fuzzing = Fuzzing(
            self._plan,
            self._folder,
            jobs=jobs,
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
        if not fuzzing.is_ready:
            return self.totals() or Totals.nothing()
        return self._told(fuzzing)

    def _publish(self, fuzzing: Fuzzing) -> None:
        self._telling.say(self._told(fuzzing))

    def _told(self, fuzzing: Fuzzing) -> Totals:
        bugs = tuple(fuzzing.failures.book.bugs.values())
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
                *none_is_new(counts.n, counts.found),
                *_notes(counts),
                *said,
            ),
            unsettled=doing,
            doing=doing,
        )


def _notes(counts: Counts) -> Iterator[str]:
    """In steps, so that it is not another sentence at every look."""
    if counts.seconds >= 30 and counts.loading > 0.1 * counts.seconds:
        tenths = int(10 * counts.loading / counts.seconds)
        yield (
            f"more than {tenths * 10}% of its time goes into running its corpus at each of its "
            "starts: mend the bugs that end it, or give it longer epochs"
        )
    if counts.killed and counts.uncounted:
        places = max(0, len(str(counts.uncounted)) - 2)
        yield (
            f"{counts.killed:,} of its processes were killed: about "
            f"{int(round(counts.uncounted, -places)):,} inputs, made after their last lines, are "
            "not counted"
        )
