"""libFuzzer at work on one target for a turn: started, watched, started again, counted, ended."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable
from typing import Any

from fuzzwise.engines.contract import NothingYet, TargetPlan
from fuzzwise.engines.libfuzzer.crashes import Crashes
from fuzzwise.engines.libfuzzer.endings import (
    check_options,
    explain,
    has_begun,
    in_short,
    is_unseen,
    manner,
    where_it_waits,
)
from fuzzwise.engines.libfuzzer.launch import Launch, of_program
from fuzzwise.engines.libfuzzer.lives import ENDLESS, KILLED, Lives
from fuzzwise.engines.libfuzzer.program import check_program
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.libfuzzer.words import options, variables
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.observed import CorpusFiles, refusal
from fuzzwise.engines.observer.seeds import SeedFiles
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.engines.starting import LOADING, Start, no_input, overdue
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import BugBook

STOP_WAIT = 1.0
"""Seconds that processes have to end after their present input, before they are killed."""

SAVE_EVERY = 1.0
"""Seconds between two looks at what must be written; that is what a kill may cost."""

MEASURING = "measuring the truth with the corpus frozen"


class Fuzzing:
    """A turn; ``run`` goes on until its time is over, all inputs are made, or ``interrupt``.

    The target is a program with the engine in it, unless ``launch`` says what else is started.
    ``corpus`` is what earlier turns have written of the same counts, ``lives`` how their last
    processes ended. ``tick``: seconds between two
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
        lives: Lives,
    ) -> None:
        self.plan = plan
        self.settings: LibFuzzerSettings = plan.settings or LibFuzzerSettings()
        self._seed = seed
        self._jobs = jobs
        self._tick = tick
        if launch is None:
            check_program(plan.program)
        self.launch = launch or of_program(plan.program, plan.surroundings)
        self.folder = folder
        self.folder.make()
        self._record = self.folder.agreed(self.launch.build, self._kind())
        self._seeds = SeedFiles(
            *(self.folder, plan.corpus, self._record.get("at_once")),
            takes_folders=launch is None,  # what libFuzzer is loaded into runs what it is given
        )
        self._crashes = Crashes(
            *(self.folder, plan.program.name, self.launch, self._seeds),
            self._record.get("skipped", []),
        )
        self._seconds = float(self._record.get("seconds", 0.0))
        self._core_seconds = float(self._record.get("core_seconds", self._seconds))
        self._counted_until = began
        self._corpus = corpus
        self._interrupted = self._options_checked = False
        self._processes: list[FuzzingProcess | None] = [None] * jobs
        self._starts = self._n_at_start = self._executed_at_start = 0
        self._lives = lives
        self.start = Start(self.settings.startup)
        """How far it has come in this turn."""
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
                self._save(self.folder.begin_turn)
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
                self._save(self.folder.end_turn)

    def _go_on(self, seconds: float, watch: Callable[[], None]) -> None:
        start = clock = time.monotonic()
        first = (self._inputs, self._executed)
        while True:
            self._tend()
            started = time.monotonic()  # what it took to find its files is not the target's
            self._nap()
            interrupted = self._interrupted  # who has seen counts in the folder may have done it
            self._meet_state()
            now = time.monotonic()
            passed, clock = now - clock, now
            self._seconds += passed
            self._take_core()
            no_core = min((p.kept_waiting() for p in self._processes if p), default=0.0)
            executed, made = self._executed - first[1], self._inputs - first[0]
            self.start.look(now - started, executed, made, no_core)
            self.start.files, self.start.through = self._seeds.files, self._executed_since_start
            if self.start.made:
                self._lives.has_made_one()
            if self._inputs > self._n_at_start:
                self._seeds.executed()
            if now >= self._saved + SAVE_EVERY:
                self._saved = now
                self._save()
            self._end_overdue()
            watch()
            if self._is_over(now - start, seconds, interrupted):
                if not interrupted:  # files are written while the target goes on, not after it
                    self._corpus.write(self._state)
                    self._seconds += time.monotonic() - now
                printed = sum(process.printed for process in self._processes if process)
                self._lives.heard(printed, executed)
                self._finish()
                return

    def _end_overdue(self) -> None:
        """Kill what is at one input for longer than it may be, and also not about to start."""
        waited = self.start.waited
        if not self.start.made or waited < self.settings.startup + overdue(self.settings.seconds):
            return
        for job, process in enumerate(self._processes):
            if process:
                process.kill()
                self._processes[job] = None
        self._unended(waited)
        self.start.waited = 0.0

    def _unended(self, seconds: float) -> None:
        self._adopt_orphans()  # killed after it had written a crash
        self._lives.unended(seconds, ENDLESS)
        self._lives.check_unended(self.plan.program, self._core_seconds)

    def _is_over(self, used: float, seconds: float, interrupted: bool) -> bool:
        """Whether the turn ends here; BadInput where it is of no use to wait any longer.

        What gets through its corpus has longer than the turn, and the rest of it later; so has what
        dies at its start, until it is known to be broken.
        """
        if interrupted and self.state is None:
            raise NothingYet("Interrupted before the target ran its first input.")
        if interrupted or self._done():
            return True
        self._give_up_early()
        self._check_options()
        if used < (seconds if self.start.made else max(seconds, LOADING)):
            return False
        if not self.start.made:
            self._record["at_once"] = max(1, self.start.executed // 2)
        return True

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

    @property
    def _executed(self) -> int:
        """Runs of the target so far, also on files of its corpus."""
        return int(self._state.head.executed) if self._state else 0

    @property
    def _executed_since_start(self) -> int:
        return self._executed - self._executed_at_start

    @property
    def _ran_since_start(self) -> bool:
        """Whether the latest process has run the target to its end; with several jobs, any has."""
        before = self._executed_at_start if self._jobs == 1 else 0
        return self._executed > before

    # ── processes ─────────────────────────────────────────────────────────────────────────────

    def _tend(self) -> None:
        """Start what should run; look after what ended."""
        self._meet_state()
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
        return bool(state.head.inputs >= limit and not state.is_measuring)

    def _start(self, job: int) -> FuzzingProcess:
        first = all(process is None for process in self._processes)
        if first and self.folder.state_exists():
            State(self.folder.state).resume()
        self._starts += 1
        known = (self.plan, self.settings, self.launch, self.folder)
        environment = variables(
            *known, job=job, jobs=self._jobs, first=first, seconds=self._seconds, seed=self._seed
        )
        command = [
            *self.launch.words,
            *options(self.plan, self.settings, self.folder, self._random_seed(job)),
            *self._seed_option(),
        ]
        try:
            workplace = self.launch.surroundings.folder
            process = FuzzingProcess(command, environment, self.folder.scratch, workplace)
        except OSError as error:
            if not self.folder.scratch.is_dir():
                raise  # about the campaign's folder, not about the target
            raise BadInput(f"{self.plan.program}: cannot be started ({error.strerror}).") from error
        self._n_at_start, self._executed_at_start = self._inputs, self._executed
        if self._jobs > 1:
            self._wait_for_state(process, job)
        return process

    def _meet_state(self) -> None:
        """The counts, once a process has begun them."""
        if self._state is None and self.folder.state_exists():
            self._state = State(self.folder.state)

    def _wait_for_state(self, process: FuzzingProcess, job: int) -> None:
        """Until the process has opened the state, so that jobs come one after the other."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and not self._interrupted:
            self._meet_state()
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
        asked = self._interrupted or self._done() or bool(self._state and self._state.head.stop)
        alone = ending.kind != "killed" and not (ending.kind == "done" and asked)
        ran = max(made, self._executed - self._executed_at_start)  # a measurement counts none
        skipped = len(self._crashes.skipped)
        if ending.kind in ("crash", "timeout", "out-of-memory", "exit"):
            self._crashed(ending, made)
        elif ending.kind == "done" and alone:
            self._vanished(ending, made)
        elif ending.kind == "killed":
            if made:
                self._lives.vanished(KILLED, fruitless=False)
            elif not self._ran_since_start:
                self._lives.fruitless.append(KILLED)
            if not any(self._processes):
                self._adopt_orphans()  # killed after it had written a crash
        elif ending.kind == "state":
            raise refusal(ending.output, self._explain(ending))
        at_seed = len(self._crashes.skipped) > skipped
        self._lives.ended(alone and not at_seed, ran)
        self._lives.check_hopeless(self.plan.program, in_short(ending), self.folder.crashes)

    def _crashed(self, ending: Ending, made: int) -> None:
        known = len(self._crashes.skipped)
        artifacts = self.folder.artifacts()
        if not artifacts and is_unseen(ending):
            self._vanished(ending, made)
            return
        if not artifacts and not self._ran_since_start:
            raise BadInput(self._explain(ending))
        self._crashes.add(ending, artifacts, self._inputs, self._seconds)
        is_fruitless = not self._ran_since_start and len(self._crashes.skipped) == known
        self._lives.crashed(ending.kind, fruitless=is_fruitless)

    def _vanished(self, ending: Ending, made: int) -> None:
        """Nobody knows by which input; BadInput where the target has not been seen to fuzz."""
        if not made and not (self._inputs and has_begun(ending.output)):
            raise BadInput(self._explain(ending))
        self._lives.vanished(manner(ending), fruitless=not made)

    def _explain(self, ending: Ending) -> str:
        """Why a process ended that should not have."""
        return explain(self.plan.program, ending, self._ran_since_start)

    def _give_up_early(self) -> None:
        """Where a target runs nothing: it is no observed one, it dies each time, or it is stuck."""
        program = self.plan.program
        if self._starts > 3 and not self._state:
            if self.launch.variables:
                raise BadInput(f"{program} ends before it has run an input, each time it starts.")
            raise BadInput(
                f"{program} does not count. Build it with `fuzzwise build`, with "
                "CC='fuzzwise cc', or with LIB_FUZZING_ENGINE=$(fuzzwise engine); or fuzz it as it "
                "is: --engine stock if it takes libFuzzer's options, else --engine black-box."
            )
        self._lives.check(program, self.folder.crashes, self.start.made)
        if self.start.is_stuck:
            said = "".join(process.output for process in self._processes if process)
            raise BadInput(no_input(program, self.settings.startup, where_it_waits(said)))

    def _check_options(self) -> None:
        """BadInput where libFuzzer says that it does not know an option, and goes on without it."""
        if not self.start.executed or self._options_checked:
            return
        self._options_checked = True
        for process in self._processes if self.settings.options else ():
            if process:
                check_options(self.plan.program, process.output)

    # ── what it shows ─────────────────────────────────────────────────────────────────────────

    @property
    def doing(self) -> str:
        """What it is at besides fuzzing; no risk is accepted meanwhile."""
        if self._state and self._state.is_measuring:
            return MEASURING
        if self.start.doing:
            return self.start.doing
        return "files of its corpus are left for its next turns" if self._seeds.waiting else ""

    # ── what is on disk ───────────────────────────────────────────────────────────────────────

    def _finish(self) -> None:
        """Let the processes end after their present input, then by force."""
        if self._state:
            self._state.stop()
        began, unended = time.monotonic(), 0.0
        for job, process in enumerate(self._processes):
            if process is None:
                continue
            while process.ending() is None and time.monotonic() < began + self._patience:
                wait_for_any([process], 0.1)
            ending = process.ending()
            if ending is None:
                process.kill()
                unended = 0.0 if self._interrupted else time.monotonic() - began
            self._processes[job] = None
            if ending is not None:
                self._ended(ending)
        self._crashes.take_failures(self._inputs, self._seconds)
        self._take_core()
        if unended >= overdue(self.settings.seconds):
            self._unended(unended)

    @property
    def _patience(self) -> float:
        """Seconds that processes have, in the end, for their present inputs.

        What has run nothing has nothing to lose. An input may outlast its turn up to its limit, or
        turns that are shorter would never show that one does not end; where that is known, not.
        """
        if not self.start.executed:
            return 0.0
        known = any(bug.kind == "timeout" for bug in self.book.bugs.values())
        if known or self._interrupted or not self._ran_since_start:
            return STOP_WAIT
        return overdue(self.settings.seconds)

    def _save(self, write: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._corpus.write(self._state)
        write = write or self.folder.write
        write(
            {
                **self._record,
                "target": str(self.plan.program),
                "command": self.launch.command,
                "seconds": self._seconds,
                "core_seconds": self._core_seconds,
                "inputs": self._inputs if self._state else self._known_inputs,
                "skipped": sorted(self._crashes.skipped),
            }
        )
