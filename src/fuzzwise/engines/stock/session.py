"""A stock target at work, a turn at a time."""

from __future__ import annotations

import time
from pathlib import Path

from fuzzwise.engines import idle
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.libfuzzer.lives import Lives
from fuzzwise.engines.observer.folder import DamagedState
from fuzzwise.engines.observer.session import FolderSession, tick
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.stock.counts import Counts, StockFolder, counts_in
from fuzzwise.engines.stock.fuzzing import Fuzzing
from fuzzwise.engines.stock.notes import notes
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import INPUT, Verdict


class StockSession(FolderSession[Fuzzing]):
    """Fuzzes for a turn, on one core."""

    _folder: StockFolder

    def __init__(self, plan: TargetPlan, folder: Path, seed: int) -> None:
        self._plan = plan
        self._settings: StockSettings = plan.settings or StockSettings()
        super().__init__(StockFolder(folder))
        self._seed = seed
        self._lives = Lives()
        self._is_first = True

    def reproduce(self, data: bytes) -> Verdict:
        """Run the target once on an input."""
        command = self._plan.surroundings.before((self._plan.command[0], INPUT))
        return reproduce(command, data, self._settings.seconds, self._settings.memory_mib)

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

    def _turn(self, seconds: float, jobs: int) -> Totals:
        if jobs != 1:
            raise BadInput(
                f"{self._plan.name}: a target that was not built with fuzzwise is fuzzed on one "
                "core; set jobs = 1."
            )
        began = time.monotonic()
        if self._is_first:
            self._is_first = False
            end_all(self._folder.out)  # what somebody left who was killed
        fuzzing = Fuzzing(
            self._plan,
            self._folder,
            seed=self._seed,
            tick=tick(seconds),
            began=began,
            lives=self._lives,
        )
        return self._run(fuzzing, seconds)

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
                *idle.warnings(counts.n, len(counts.found)),
                *notes(counts),
                *self._lives.warnings,
                *said,
            ),
            unsettled=doing or idle.unsettled(counts.corpus, len(counts.found)),
            doing=doing,
        )
