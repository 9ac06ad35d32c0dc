"""A libFuzzer target at work, a turn at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from fuzzwise.engines import idle, stability
from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.libfuzzer.fuzzing import MEASURING, Fuzzing
from fuzzwise.engines.libfuzzer.launch import Launch
from fuzzwise.engines.libfuzzer.lives import Lives
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state
from fuzzwise.engines.observer.session import FolderSession, tick
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.starting import Start
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import INPUT, Verdict


class LibFuzzerSession(FolderSession[Fuzzing]):
    """Fuzzes for a turn, with any number of jobs.

    A process that starts again executes what is new in the corpus only (see ``seeds``), so that a
    turn costs little.

    ``launch`` says before each turn what is started, where that is not the program of the plan; it
    is given a question: whether to stop waiting, because the session was interrupted. ``one_input``
    is the command that runs the target on a file.
    """

    def __init__(
        self,
        plan: TargetPlan,
        folder: Path,
        seed: int,
        launch: Callable[[Callable[[], bool]], Launch] | None = None,
        one_input: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        self._plan = plan
        self._launch = launch
        self._one_input = one_input or (lambda: (plan.command[0], INPUT))
        super().__init__(CampaignFolder(folder))
        self._corpus = CorpusFiles(self._folder)
        self._seed = seed
        self._lives = Lives()

    def reproduce(self, data: bytes) -> Verdict:
        """Run the target once on an input."""
        settings: LibFuzzerSettings = self._plan.settings or LibFuzzerSettings()
        command = self._plan.surroundings.before(self._one_input())
        return reproduce(command, data, settings.seconds, settings.memory_mib)

    def _read(self) -> Totals | None:
        try:
            record = self._folder.record()
            if record is None:
                return None
            state = sound_state(self._folder, int(record.get("inputs", 0)))
        except DamagedState:
            return None
        return self._totals(
            str(record.get("generation", "")),
            state if state and state.ready else None,
            float(record.get("seconds", 0.0)),
            float(record.get("core_seconds", 0.0)),
            tuple(BugBook(self._folder.crashes, self._plan.program.name).bugs.values()),
        )

    def _begin_again(self) -> None:
        super()._begin_again()
        self._corpus = CorpusFiles(self._folder)

    def _turn(self, seconds: float, jobs: int) -> Totals:
        began = time.monotonic()
        if record := self._folder.record():
            sound_state(self._folder, int(record.get("inputs", 0)))
        try:
            launch = self._launch(self._loading(began)) if self._launch else None
        except NothingYet:
            return self.totals() or Totals.nothing()
        fuzzing = Fuzzing(
            self._plan,
            self._folder,
            seed=self._seed,
            jobs=jobs,
            tick=tick(seconds),
            began=began,
            launch=launch,
            corpus=self._corpus,
            lives=self._lives,
        )
        return self._run(fuzzing, seconds)

    def _loading(self, began: float) -> Callable[[], bool]:
        """The question whether to stop, for who loads a target; asked, it tells how far that is."""
        known = self.totals() or Totals.nothing()
        settings: LibFuzzerSettings = self._plan.settings or LibFuzzerSettings()
        start = Start(settings.startup)

        def is_stopped() -> bool:
            start.waited = time.monotonic() - began
            said = (*known.warnings, *filter(None, [start.warning]))
            self._telling.say(replace(known, doing=start.doing, warnings=said))
            with self._lock:
                return self._stop

        return is_stopped

    def _told(self, fuzzing: Fuzzing) -> Totals:
        return self._totals(
            *(fuzzing.generation, fuzzing.state, fuzzing.seconds, fuzzing.core_seconds),
            *(tuple(fuzzing.book.bugs.values()), fuzzing.doing, fuzzing.start.warning),
        )

    def _warnings(self, state: State | None) -> tuple[str, ...]:
        """What would make a low risk mean nothing: said loudly, never passed over."""
        if state is None:
            return ()
        found, head = [], state.head
        if self._plan.corpus and head.inputs and head.initial <= 1:
            found.append("no file of the corpus shows more than the empty input does")
        found += idle.warnings(int(head.inputs), int(head.discoveries))
        return (*found, *stability.warnings(state.stability))

    def _unsettled(self, state: State | None) -> str:
        """Why no risk is accepted, whatever is done."""
        if state is None:
            return ""
        still = idle.unsettled(int(state.head.initial), int(state.head.discoveries))
        return stability.unsettled(state.stability) or still

    def _totals(
        self,
        generation: str,
        state: State | None,
        seconds: float,
        core_seconds: float,
        bugs: tuple[Bug, ...],
        doing: str = "",
        slow: str = "",
    ) -> Totals:
        """``doing`` is also why no risk is accepted meanwhile; ``slow`` is a warning."""
        stable = None if state is None else state.stability
        told = Totals(
            generation=generation,
            observation=Observation(0, discoveries=NO_INTS)
            if state is None
            else state.observation(seconds),
            seconds=core_seconds,
            corpus=0 if state is None else int(state.head.seeds),
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=(
                *self._said,
                *self._warnings(state),
                *self._lives.warnings,
                *filter(None, [slow]),
            ),
            unsettled=doing or self._unsettled(state),
            doing=doing,
            stability=stable,
        )
        if doing or state is None or not state.is_measuring:  # asked after the counts were read
            return told
        return replace(told, doing=MEASURING, unsettled=MEASURING)
