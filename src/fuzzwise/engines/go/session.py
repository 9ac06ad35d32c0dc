"""A fuzz test of Go at work, a turn at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from fuzzwise.engines import idle
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.go.counts import Counts, GoFolder, counts_in
from fuzzwise.engines.go.fuzzing import Fuzzing
from fuzzwise.engines.go.module import FuzzTest, tests_of
from fuzzwise.engines.go.problems import Lives
from fuzzwise.engines.go.replay import words
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.observer.folder import DamagedState
from fuzzwise.engines.observer.session import FolderSession, tick
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import INPUT, Verdict


class GoSession(FolderSession[Fuzzing]):
    """Fuzzes for a turn, with as many of Go's workers as it has cores."""

    _folder: GoFolder

    def __init__(self, plan: TargetPlan, folder: Path) -> None:
        self._plan = plan
        self._settings: GoSettings = plan.settings or GoSettings()
        self._test = FuzzTest(Path(plan.command[0]), plan.command[1])
        super().__init__(GoFolder(folder))
        self._lives = Lives()
        self._is_first = True

    def reproduce(self, data: bytes) -> Verdict:
        """Run the test once on an input, in the form that Go gives to inputs."""
        program = self._folder.program.absolute()
        command = (*words(self._test, program if program.is_file() else None), INPUT)
        return reproduce(command, data, self._settings.seconds, self._settings.memory_mib)

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

    def _check(self) -> None:
        test = self._test
        if not test.package.is_dir():
            raise BadInput(f"{test.package}: there is no such folder; it was one of a Go package.")
        if test.function not in tests_of(test.package):
            raise BadInput(
                f"{test.package}: has no func {test.function}(f *testing.F) in a file *_test.go."
            )

    def _turn(self, seconds: float, jobs: int) -> Totals:
        self._check()
        began = time.monotonic()
        if self._is_first:
            self._is_first = False
            end_all(self._folder.out)  # what somebody left who was killed
        fuzzing = Fuzzing(
            self._plan,
            self._folder,
            jobs=jobs,
            tick=tick(seconds),
            began=began,
            lives=self._lives,
        )
        return self._run(fuzzing, seconds)

    def _told(self, fuzzing: Fuzzing) -> Totals:
        if not fuzzing.is_ready:
            return self.totals() or Totals.nothing()
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
                *idle.warnings(counts.n, counts.found),
                *_notes(counts),
                *said,
            ),
            unsettled=doing or idle.unsettled(counts.species or counts.corpus, counts.found),
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
