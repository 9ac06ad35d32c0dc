"""Keeps a campaign on one target going: starts, watches, restarts, counts, stops."""

from __future__ import annotations

import json
import os
import random
import time
import zlib
from collections.abc import Callable

from fuzzwise.engines.libfuzzer.crashes import Crashes, sanitizer_environment
from fuzzwise.engines.libfuzzer.launch import Launch, of_program
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.observed import CorpusFiles, nothing_new, refusal
from fuzzwise.engines.observer.seeds import SeedFiles
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.engines.progress import Judge, NothingYet, Progress, interrupted
from fuzzwise.engines.settings import SCHEDULES, SPECIES, Settings
from fuzzwise.errors import BadInput
from fuzzwise.stopping import Decision
from fuzzwise.triage.bug_book import BugBook

STOP_WAIT = 1.0
"""Seconds that processes have to end after their present input, before they are killed."""

SAVE_EVERY = 1.0
"""Seconds between two looks at what must be written; that is what a kill may cost."""

HOPELESS = 20
"""Processes in a row that died within HOPELESS inputs each: the target is broken, not buggy."""


class Supervisor:
    """One campaign; ``run`` goes on until a rule says stop, or ``interrupt`` is called.

    The target is a program with the engine in it, unless ``launch`` says what else is started.
    ``corpus`` is what an earlier supervisor of the same counts has written.
    """

    def __init__(
        self,
        settings: Settings,
        launch: Launch | None = None,
        corpus: CorpusFiles | None = None,
    ) -> None:
        self.settings = settings
        settings.check_corpus()
        if launch is None:
            self._check_program()
        self.launch = launch or of_program(settings.target)
        self.folder = CampaignFolder(settings.out)
        self.folder.make()
        self._record = self.folder.agreed(self.launch.build, self._kind())
        self._seeds = SeedFiles(self.folder, settings.corpus)
        self._crashes = Crashes(
            self.folder, self.launch, self._seeds, self._record.get("skipped", [])
        )
        self._seconds = float(self._record.get("seconds", 0.0))
        self._core_seconds = float(self._record.get("core_seconds", self._seconds))
        self._corpus = corpus or CorpusFiles(self.folder)
        self._interrupted = False
        self._processes: list[FuzzingProcess | None] = [None] * settings.jobs
        self._short_lives = 0
        self.fruitless: list[str] = []
        """How processes ended, one after the other, that made no input and showed no bad seed."""
        self._starts = 0
        self._judge = Judge(settings.limits, int(self._record.get("looked", 0)))
        self._known_inputs = int(self._record.get("inputs", 0))
        self._state: State | None = None
        self._n_at_start = 0
        self._saved = 0.0

    def _kind(self) -> dict[str, object]:
        """What must not change when the campaign goes on."""
        settings = self.settings
        return {
            "measure": settings.measure,
            "per_seed": settings.per_seed,
            "species": settings.species,
            "jobs_share": (settings.most_jobs or settings.jobs) > 1,
        }

    @property
    def book(self) -> BugBook:
        """The bugs."""
        return self._crashes.book

    @property
    def generation(self) -> str:
        """The name of these counts."""
        return str(self._record["generation"])

    @property
    def seconds(self) -> float:
        """Seconds by the clock that the campaign has had."""
        return self._seconds

    @property
    def core_seconds(self) -> float:
        """Seconds on cores that the campaign has had."""
        return self._core_seconds

    @property
    def resumed(self) -> bool:
        """Whether the folder held a campaign already."""
        return self._seconds > 0

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self._interrupted = True

    def run(self, watch: Callable[[Progress], None]) -> Progress:
        """Fuzz until a rule says stop."""
        with self.folder.only_one():
            try:
                self._save()
                self._adopt_orphans()
                return self._go_on(watch)
            except OSError as error:
                raise BadInput(
                    f"{self.settings.out}: the campaign cannot go on ({error})."
                ) from error
            finally:
                for process in self._processes:
                    if process:
                        process.kill()
                self._save()

    def _go_on(self, watch: Callable[[Progress], None]) -> Progress:
        clock = time.monotonic()
        while True:
            self._tend()
            self._nap()
            now = time.monotonic()
            self._seconds += now - clock
            self._core_seconds += (now - clock) * self.settings.jobs
            clock = now
            if self._state is None or not self._state.ready:
                self._give_up_early()
                if self._interrupted:
                    raise NothingYet("Interrupted before the target ran its first input.")
                continue
            if self._state.head.inputs > self._n_at_start:
                self._seeds.executed()
            progress = self._progress()
            progress.stopped = self._decide(progress)
            if now >= self._saved + SAVE_EVERY:
                self._saved = now
                self._save()
            watch(progress)
            if progress.stopped:
                self._finish()
                final = self._progress()
                final.stopped, final.decision = progress.stopped, progress.decision
                return final

    def _adopt_orphans(self) -> None:
        n = int(State(self.folder.state).head.inputs) if self.folder.state_exists() else 0
        self._crashes.adopt_orphans(n, self._seconds, lambda: self._interrupted)

    @property
    def _inputs(self) -> int:
        """Inputs so far, as the processes count them."""
        return int(self._state.head.inputs) if self._state else 0

    # ── processes ─────────────────────────────────────────────────────────────────────────────

    def _tend(self) -> None:
        """Start what should run; look after what ended."""
        self._crashes.take_failures(self._inputs, self._seconds)
        for job, process in enumerate(self._processes):
            if process is not None:
                ending = process.ending()
                if ending is None:
                    continue
                self._processes[job] = None
                self._ended(ending)
            if self._done() or self._interrupted:
                continue
            self._processes[job] = self._start(job)

    def _nap(self) -> None:
        """A tick, cut short when a process ends: a target that crashes often is soon back."""
        wait_for_any([process for process in self._processes if process], self.settings.tick)

    def _done(self) -> bool:
        state, limit = self._state, self.settings.inputs
        if state is None or not state.ready or limit is None:
            return False
        return bool(state.head.inputs >= limit and not state.head.measure_left)

    def _start(self, job: int) -> FuzzingProcess:
        settings = self.settings
        first = all(process is None for process in self._processes)
        if first and self.folder.state_exists():
            State(self.folder.state).resume()
        self._starts += 1
        name = json.dumps(settings.target.name)
        environment = {
            **sanitizer_environment(),
            **self.launch.variables,
            "FUZZWISE_STATE": str(self.folder.state.resolve()),
            "FUZZWISE_PARENT": str(os.getpid()),
            "FUZZWISE_JOB": str(job),
            "FUZZWISE_JOBS": str(settings.most_jobs or settings.jobs),
            "FUZZWISE_FIRST": str(int(first)),
            "FUZZWISE_MEASURE": str(int(settings.measure)),
            "FUZZWISE_PER_SEED": str(int(settings.per_seed)),
            "FUZZWISE_SCHEDULE": str(SCHEDULES[settings.schedule]),
            "FUZZWISE_SPECIES": str(SPECIES[settings.species]),
            "FUZZWISE_INPUTS": str(settings.inputs or 0),
            "FUZZWISE_MILLISECONDS": str(int(self._seconds * 1000)),
            "FUZZWISE_CAMPAIGN": json.dumps(f"{settings.target.name} seed {settings.seed}"),
            "FUZZWISE_SUBJECT": name,
        }
        command = [
            *self.launch.words,
            f"-seed={self._random_seed(job)}",
            f"-artifact_prefix={self.folder.crashes.resolve()}/",
            "-verbosity=0",
            "-print_final_stats=0",
            "-detect_leaks=0",
            "-timeout=10",
            "-len_control=100",  # libFuzzer's default, which it drops where there is a mutator
            *self._seed_option(),
            *settings.options,
        ]
        if settings.schedule != "observe":
            command.append("-reduce_inputs=0")
        try:
            process = FuzzingProcess(command, environment, self.folder.scratch)
        except OSError as error:
            if not self.folder.scratch.is_dir():
                raise  # about the campaign's folder, not about the target
            raise BadInput(f"{settings.target}: cannot be started ({error.strerror}).") from error
        self._n_at_start = self._inputs
        self._wait_for_state(process, job)
        return process

    def _wait_for_state(self, process: FuzzingProcess, job: int) -> None:
        """Until the process has opened the state, so that jobs come one after the other."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and not self._interrupted:
            if self._state is None and self.folder.state_exists():
                self._state = State(self.folder.state)
            state = self._state
            if state and state.ready and state.head.slots[job].pid == process.pid:
                return
            if process.ending() is not None:
                return
            time.sleep(0.005)

    def _random_seed(self, job: int) -> int:
        """Another one for every process of the campaign, also after it was resumed.

        Processes with the same one would make the same inputs again, and count them as new.
        """
        state = State(self.folder.state) if self.folder.state_exists() else None
        made = int(state.head.inputs) if state and state.ready else 0
        words = f"{self.settings.seed} {made} {self._starts} {job}"
        return 1 + zlib.crc32(words.encode()) % (2**31 - 1)

    def _seed_option(self) -> list[str]:
        rng = random.Random(self._random_seed(0))  # noqa: S311
        everything = self.settings.schedule == "observe"
        return self._seeds.option(self._crashes.skipped, rng, everything=everything)

    def _ended(self, ending: Ending) -> None:
        """A process ended: a crash is kept and counted, anything else must be explained."""
        made = self._inputs - self._n_at_start
        alone = ending.kind not in ("done", "killed")
        self._short_lives = self._short_lives + 1 if alone and made < HOPELESS else 0
        known = len(self._crashes.skipped)
        if ending.kind in ("crash", "timeout", "out-of-memory", "exit"):
            artifacts = self.folder.artifacts()
            if not artifacts and ending.kind == "exit":
                raise BadInput(self._explain(ending))
            self._crashes.add(ending, artifacts, self._inputs, self._seconds)
            is_fruitless = made == 0 and len(self._crashes.skipped) == known
            self.fruitless = [*self.fruitless, ending.kind] if is_fruitless else []
        elif ending.kind == "killed":
            if not any(self._processes):
                self._adopt_orphans()  # killed after it had written a crash
        elif ending.kind == "state":
            raise refusal(ending.output, self._explain(ending))
        if self._short_lives >= HOPELESS:
            raise BadInput(
                f"{self.settings.target} ends ({ending.kind}) on nearly every input: {HOPELESS} "
                f"processes in a row died within {HOPELESS} inputs each. The crashes are in "
                f"{self.folder.crashes}. Fix the first one, then run again."
            )

    def _explain(self, ending: Ending) -> str:
        last = " ".join(ending.output.split())[-400:]
        return f"{self.settings.target} ended with status {ending.status}. Its last words: {last!r}"

    def _give_up_early(self) -> None:
        """No state yet: either the target is slow to start, or it is no observed target."""
        if self._starts > 3 and not self._state:
            if self.launch.variables:
                raise BadInput(
                    f"{self.settings.target} ends before it has run an input, each time it starts."
                )
            raise BadInput(
                f"{self.settings.target} does not count. Build it with `fuzzwise build`, with "
                "CC='fuzzwise cc', or with LIB_FUZZING_ENGINE=$(fuzzwise engine)."
            )

    # ── decisions ─────────────────────────────────────────────────────────────────────────────

    def _progress(self) -> Progress:
        state = self._state
        assert state is not None
        return Progress(
            observation=state.observation(self._seconds),
            corpus=int(state.head.seeds),
            bugs=tuple(self.book.bugs.values()),
            lost=int(state.head.lost),
            measuring=bool(state.head.measure_left),
            decision=self._judge.latest,
            warnings=self._warnings(state),
        )

    def _warnings(self, state: State) -> tuple[str, ...]:
        """What would make a low risk mean nothing: said loudly, never passed over."""
        found = []
        if self.settings.corpus and state.head.initial <= 1:
            found.append("no file of the corpus shows more than the empty input does")
        return (*found, *nothing_new(state))

    def _decide(self, progress: Progress) -> Decision | None:
        o = progress.observation
        if self._interrupted:
            return interrupted(o.n)
        stopped = self._judge(o, self._seconds, measuring=progress.measuring)
        progress.decision = self._judge.latest
        return stopped

    # ── what is on disk ───────────────────────────────────────────────────────────────────────

    def _finish(self) -> None:
        """Let the processes end after their present input, then by force."""
        if self._state:
            self._state.stop()
        deadline = time.monotonic() + STOP_WAIT
        for job, process in enumerate(self._processes):
            if process is None:
                continue
            while process.ending() is None and time.monotonic() < deadline:
                wait_for_any([process], 0.1)
            ending = process.ending()
            if ending is None:
                process.kill()
            self._processes[job] = None
            if ending is not None:
                self._ended(ending)
        self._crashes.take_failures(self._inputs, self._seconds)

    def _save(self) -> None:
        self._corpus.write(self._state)
        self.folder.write(
            {
                **self._record,
                "target": str(self.settings.target),
                "command": list(self.launch.words),
                "seconds": self._seconds,
                "core_seconds": self._core_seconds,
                "inputs": self._inputs if self._state else self._known_inputs,
                "looked": self._judge.since,
                "skipped": sorted(self._crashes.skipped),
            }
        )

    def _check_program(self) -> None:
        target = self.settings.target
        if not target.is_file():
            raise BadInput(
                f"{target}: there is no such file. Build a target with `fuzzwise build`."
            )
        if not os.access(target, os.X_OK):
            raise BadInput(f"{target}: is not executable.")
