"""A libFuzzer target of a campaign over many: a folder of ``fuzzwise fuzz``, a turn at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.campaign.session import Totals
from fuzzwise.engines.libfuzzer.launch import Launch
from fuzzwise.engines.libfuzzer.supervisor import Supervisor
from fuzzwise.engines.observer.folder import AnotherBuild, CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state, why_counts_began_again
from fuzzwise.engines.progress import NothingYet, Progress
from fuzzwise.engines.settings import Settings
from fuzzwise.errors import BadInput
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.triage.bug_book import BugBook

TICK = 0.5
"""Seconds between two looks at the counts, in a turn of at least eight of them."""

LOADING = 60.0
"""Seconds that a target has at least to get through its corpus, however short the turn."""

FRUITLESS = 3
"""Processes in a row that died before they had made an input: the target cannot be fuzzed."""


class LibFuzzerSession:
    """Fuzzes for a turn; all counts are in the folder, between turns there is no process.

    A process that starts again executes what is new in the corpus only (see ``seeds``), so that a
    turn costs little. Counts that belong to another build, or are damaged, are put aside, and the
    next ones begin with the corpus that there is.

    ``launch`` says before each turn what is started, where that is not the program of the plan; it
    is given a question: whether to stop waiting, because the session was interrupted.
    """

    finds_coverage = True

    def __init__(
        self,
        plan: TargetPlan,
        folder: Path,
        seed: int,
        launch: Callable[[Callable[[], bool]], Launch] | None = None,
    ) -> None:
        self._plan = plan
        self._launch = launch
        self._folder = CampaignFolder(folder)
        self._corpus = CorpusFiles(self._folder)
        self._seed = seed
        self._supervisor: Supervisor | None = None
        self._lock = threading.Lock()
        self._stop = False
        self._notes: tuple[str, ...] = ()
        self._fruitless: list[str] = []

    def interrupt(self) -> None:
        """End the present turn, and any later one, at once."""
        with self._lock:
            self._stop = True
            if self._supervisor:
                self._supervisor.interrupt()

    def totals(self) -> Totals | None:
        """What the folder knows."""
        try:
            record = self._folder.record()
            if record is None:
                return None
            observation, corpus = Observation(0, discoveries=NO_INTS), 0
            state = sound_state(self._folder, int(record.get("inputs", 0)))
            if state and state.ready:
                observation = state.observation(float(record.get("seconds", 0.0)))
                corpus = int(state.head.seeds)
        except DamagedState:
            return None
        bugs = tuple(BugBook(self._folder.crashes).bugs.values())
        return Totals(
            generation=str(record.get("generation", "")),
            observation=observation,
            seconds=float(record.get("core_seconds", 0.0)),
            corpus=corpus,
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=self._notes,
        )

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long; where the counts cannot be gone on with, from new ones."""
        try:
            return self._turn(seconds, jobs)
        except (AnotherBuild, DamagedState) as problem:
            self._notes = (*self._notes, why_counts_began_again(problem))
        self._folder.begin_again()
        self._corpus = CorpusFiles(self._folder)
        return self._turn(seconds, jobs)

    def _turn(self, seconds: float, jobs: int) -> Totals:
        if record := self._folder.record():
            sound_state(self._folder, int(record.get("inputs", 0)))
        try:
            launch = self._launch(lambda: self._stop) if self._launch else None
        except NothingYet:
            return self.totals() or Totals("", Observation(0, discoveries=NO_INTS), 0.0, 0, (), 0)
        supervisor = Supervisor(self._settings(seconds, jobs), launch, self._corpus)
        with self._lock:
            self._supervisor = supervisor
            if self._stop:
                supervisor.interrupt()
        turn = _Turn(supervisor, seconds)
        try:
            progress = supervisor.run(turn)
            observation, corpus, warnings = (
                progress.observation,
                progress.corpus,
                progress.warnings,
            )
        except NothingYet:
            observation, corpus, warnings = Observation(0, discoveries=NO_INTS), 0, ()
        finally:
            with self._lock:
                self._supervisor = None
        self._fruitless = [] if turn.made else [*self._fruitless, *supervisor.fruitless]
        if len(self._fruitless) >= FRUITLESS:
            raise BadInput(
                f"{self._plan.program} ends ({self._fruitless[-1]}) before it has made an input, "
                f"{len(self._fruitless)} times in a row. What it showed is in "
                f"{self._folder.crashes}; correct the target, then run again."
            )
        bugs = tuple(supervisor.book.bugs.values())
        return Totals(
            generation=supervisor.generation,
            observation=observation,
            seconds=supervisor.core_seconds,
            corpus=corpus,
            bugs=bugs,
            crashes=sum(bug.count for bug in bugs),
            warnings=(*self._notes, *warnings),
        )

    def _settings(self, seconds: float, jobs: int) -> Settings:
        plan = self._plan
        options = [f"-timeout={max(1, round(plan.limits.seconds))}"]
        options.append(f"-rss_limit_mb={plan.limits.memory_mib}")
        if plan.dictionary:
            options.append(f"-dict={plan.dictionary.resolve()}")
        if plan.max_length:
            options.append(f"-max_len={plan.max_length}")
        return Settings(
            target=plan.program,
            corpus=plan.corpus,
            out=self._folder.out,
            jobs=jobs,
            most_jobs=plan.jobs,
            tick=min(TICK, max(0.1, seconds / 8)),
            seed=self._seed,
            options=(*options, *plan.command[1:]),
        )


class _Turn:
    """Ends the turn when its time is over; getting through the corpus may take longer.

    ``made`` counts the inputs of the turn.
    """

    def __init__(self, supervisor: Supervisor, seconds: float) -> None:
        self._supervisor = supervisor
        self._start = supervisor.seconds
        self._seconds = seconds
        self._first: int | None = None
        self.made = 0

    def __call__(self, progress: Progress) -> None:
        used = self._supervisor.seconds - self._start
        if self._first is None:
            self._first = progress.observation.n
        self.made = progress.observation.n - self._first
        is_loading = not self.made and not self._supervisor.fruitless
        if used >= (max(self._seconds, LOADING) if is_loading else self._seconds):
            self._supervisor.interrupt()
