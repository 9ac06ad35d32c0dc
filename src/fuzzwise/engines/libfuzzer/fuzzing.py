"""libFuzzer at work on one target for a turn: started, watched, started again, counted, ended."""

from __future__ import annotations

import json
import os
import random
import time
import zlib
from collections.abc import Callable

from fuzzwise.engines.contract import SCHEDULES, SPECIES, NothingYet, TargetPlan
from fuzzwise.engines.libfuzzer.crashes import Crashes, sanitizer_environment
from fuzzwise.engines.libfuzzer.launch import Launch, of_program
from fuzzwise.engines.libfuzzer.program import check_program
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.observed import CorpusFiles, refusal
from fuzzwise.engines.observer.seeds import SeedFiles
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import BugBook

STOP_WAIT = 1.0
"""Seconds that processes have to end after their present input, before they are killed."""

SAVE_EVERY = 1.0
"""Seconds between two looks at what must be written; that is what a kill may cost."""

LOADING = 60.0
"""Seconds that a target has at least to get through its corpus, however short the turn."""

HOPELESS = 20
"""Processes in a row that died within HOPELESS inputs each: the target is broken, not buggy."""


class Fuzzing:
    """A turn; ``run`` goes on until its time is over, all inputs are made, or ``interrupt``.

    The target is a program with the engine in it, unless ``launch`` says what else is started.
    ``corpus`` is what earlier turns have written of the same counts. ``tick``: seconds between two
    looks at the counts. ``began``: when the turn did, by the monotonic clock; its core is taken
    from then on, also while the target is not fuzzed yet, or not any more.
    """

    def __init__(
        self,
        plan: TargetPlan,
        folder: CampaignFolder,
        *,
        seed: int,
        jobs: int,
        tick: float,
        began: float,
        launch: Launch | None,
        corpus: CorpusFiles,
    ) -> None:
        self.plan = plan
        self.settings: LibFuzzerSettings = plan.settings or LibFuzzerSettings()
        self._seed = seed
        self._jobs = jobs
        self._tick = tick
        if launch is None:
            check_program(plan.program)
        self.launch = launch or of_program(plan.program)
        self.folder = folder
        self.folder.make()
        self._record = self.folder.agreed(self.launch.build, self._kind())
        self._seeds = SeedFiles(self.folder, plan.corpus)
        self._crashes = Crashes(
            *(self.folder, plan.program.name, self.launch, self._seeds),
            self._record.get("skipped", []),
        )
        self._seconds = float(self._record.get("seconds", 0.0))
        self._core_seconds = float(self._record.get("core_seconds", self._seconds))
        self._counted_until = began
        self._corpus = corpus
        self._interrupted = False
        self._processes: list[FuzzingProcess | None] = [None] * jobs
        self._starts = self._short_lives = self._n_at_start = 0
        self.fruitless: list[str] = []
        """How processes ended, one after the other, that made no input and showed no bad seed."""
        self.made = 0
        """Inputs of this turn."""
        self._known_inputs = int(self._record.get("inputs", 0))
        self._state = State(self.folder.state) if self.folder.state_exists() else None
        self._saved = 0.0

    def _kind(self) -> dict[str, object]:
        """What must not change when the campaign goes on."""
        settings = self.settings
        return {
            "measure": settings.measure,
            "per_seed": settings.per_seed,
            "species": settings.species,
            "jobs_share": self.plan.jobs > 1,
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
    def state(self) -> State | None:
        """The counts; None before a process has begun them."""
        return self._state if self._state and self._state.ready else None

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self._interrupted = True

    def run(self, seconds: float, watch: Callable[[], None]) -> None:
        """Fuzz for so long; ``watch`` is called at each look at the counts.

        To get through the corpus may take longer. NothingYet where it was interrupted before.
        """
        with self.folder.only_one():
            try:
                self._save()
                self._adopt_orphans()
                self._go_on(seconds, watch)
            except OSError as error:
                raise BadInput(
                    f"{self.folder.out}: the campaign cannot go on ({error})."
                ) from error
            finally:
                for process in self._processes:
                    if process:
                        process.kill()
                self._take_core()
                self._save()

    def _go_on(self, seconds: float, watch: Callable[[], None]) -> None:
        start = clock = time.monotonic()
        first: int | None = None
        while True:
            self._tend()
            self._nap()
            now = time.monotonic()
            self._seconds += now - clock
            clock = now
            self._take_core()
            if self.state is None:
                self._give_up_early()
                if self._interrupted:
                    raise NothingYet("Interrupted before the target ran its first input.")
                continue
            first = self._inputs if first is None else first
            self.made = self._inputs - first
            if self._inputs > self._n_at_start:
                self._seeds.executed()
            if now >= self._saved + SAVE_EVERY:
                self._saved = now
                self._save()
            watch()
            is_loading = not self.made and not self.fruitless
            allowed = max(seconds, LOADING) if is_loading else seconds
            if self._interrupted or self._done() or now - start >= allowed:
                self._finish()
                return

    def _take_core(self) -> None:
        """Count the time that has passed, on all cores of the turn."""
        now = time.monotonic()
        self._core_seconds += (now - self._counted_until) * self._jobs
        self._counted_until = now

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
        wait_for_any([process for process in self._processes if process], self._tick)

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
        program = self.plan.program.name
        environment = {
            **sanitizer_environment(),
            **self.launch.variables,
            "FUZZWISE_STATE": str(self.folder.state.resolve()),
            "FUZZWISE_PARENT": str(os.getpid()),
            "FUZZWISE_JOB": str(job),
            "FUZZWISE_JOBS": str(max(self.plan.jobs, self._jobs)),
            "FUZZWISE_FIRST": str(int(first)),
            "FUZZWISE_MEASURE": str(int(settings.measure)),
            "FUZZWISE_PER_SEED": str(int(settings.per_seed)),
            "FUZZWISE_SCHEDULE": str(SCHEDULES.index(settings.schedule)),
            "FUZZWISE_SPECIES": str(SPECIES.index(settings.species)),
            "FUZZWISE_INPUTS": str(settings.inputs or 0),
            "FUZZWISE_MILLISECONDS": str(int(self._seconds * 1000)),
            "FUZZWISE_CAMPAIGN": json.dumps(f"{program} seed {self._seed}"),
            "FUZZWISE_SUBJECT": json.dumps(program),
        }
        command = [
            *self.launch.words,
            f"-seed={self._random_seed(job)}",
            f"-artifact_prefix={self.folder.crashes.resolve()}/",
            "-verbosity=0",
            "-print_final_stats=0",
            "-detect_leaks=0",
            "-len_control=100",  # libFuzzer's default, which it drops where there is a mutator
            *self._seed_option(),
            *self._limits(),
            *settings.options,
        ]
        if settings.schedule != "observe":
            command.append("-reduce_inputs=0")
        try:
            process = FuzzingProcess(command, environment, self.folder.scratch)
        except OSError as error:
            if not self.folder.scratch.is_dir():
                raise  # about the campaign's folder, not about the target
            raise BadInput(f"{self.plan.program}: cannot be started ({error.strerror}).") from error
        self._n_at_start = self._inputs
        self._wait_for_state(process, job)
        return process

    def _limits(self) -> list[str]:
        settings, dictionary = self.settings, self.plan.dictionary
        words = [f"-timeout={max(1, round(settings.seconds))}"]
        words.append(f"-rss_limit_mb={settings.memory_mib}")
        if dictionary:
            words.append(f"-dict={dictionary.resolve()}")
        if settings.max_length:
            words.append(f"-max_len={settings.max_length}")
        return words

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
        words = f"{self._seed} {made} {self._starts} {job}"
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
                f"{self.plan.program} ends ({ending.kind}) on nearly every input: {HOPELESS} "
                f"processes in a row died within {HOPELESS} inputs each. The crashes are in "
                f"{self.folder.crashes}. Fix the first one, then run again."
            )

    def _explain(self, ending: Ending) -> str:
        last = " ".join(ending.output.split())[-400:]
        return f"{self.plan.program} ended with status {ending.status}. Its last words: {last!r}"

    def _give_up_early(self) -> None:
        """No state yet: either the target is slow to start, or it is no observed target."""
        if self._starts > 3 and not self._state:
            if self.launch.variables:
                raise BadInput(
                    f"{self.plan.program} ends before it has run an input, each time it starts."
                )
            raise BadInput(
                f"{self.plan.program} does not count. Build it with `fuzzwise build`, with "
                "CC='fuzzwise cc', or with LIB_FUZZING_ENGINE=$(fuzzwise engine)."
            )

    # ── what it shows ─────────────────────────────────────────────────────────────────────────

    @property
    def is_measuring(self) -> bool:
        """Whether the truth is being measured, with the corpus frozen."""
        return bool(self._state and self._state.head.measure_left)

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
                "target": str(self.plan.program),
                "command": list(self.launch.words),
                "seconds": self._seconds,
                "core_seconds": self._core_seconds,
                "inputs": self._inputs if self._state else self._known_inputs,
                "skipped": sorted(self._crashes.skipped),
            }
        )
