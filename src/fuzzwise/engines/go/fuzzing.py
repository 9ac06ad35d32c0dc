"""Go's fuzzer at work on one test for a turn: compiled, started, watched, counted, ended."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzzwise.engines.contract import NothingYet, TargetPlan
from fuzzwise.engines.go.corpus import Corpus
from fuzzwise.engines.go.counts import KIND, Counts, GoFolder, counts_in
from fuzzwise.engines.go.failures import Failures, memory_limit
from fuzzwise.engines.go.module import FuzzTest
from fuzzwise.engines.go.problems import Lives, explain, failing_seed, stuck
from fuzzwise.engines.go.process import GoProcess
from fuzzwise.engines.go.replay import words
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.engines.go.toolchain import at, compiled
from fuzzwise.engines.observer.folder import fingerprint
from fuzzwise.engines.process import Ending, wait_for_any
from fuzzwise.engines.starting import LOADING, Start
from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders

SAVE_EVERY = 1.0
"""Seconds between two looks at what must be written; that is what a kill may cost."""

LINES_APART = 3.0
"""Seconds between two lines of Go's fuzzer."""

COMPILING = "being compiled"


class Fuzzing:
    """A turn; ``run`` goes on until its time is over, all inputs are made, or ``interrupt``.

    ``lives`` is how processes of earlier turns ended. ``began``: when the turn did, by the
    monotonic clock; its cores are taken from then on.
    """

    def __init__(
        self,
        plan: TargetPlan,
        folder: GoFolder,
        *,
        jobs: int,
        tick: float,
        began: float,
        lives: Lives,
    ) -> None:
        self.plan = plan
        self.test = FuzzTest(Path(plan.command[0]), plan.command[1])
        self.settings: GoSettings = plan.settings or GoSettings()
        self.folder = folder
        self.counts = Counts()
        self.corpus = Corpus(plan, self.test, folder)
        self.lives = lives
        self.start = Start(self.settings.startup)
        """How far it has come in this turn."""
        self.failures = Failures(self.test, self.settings, folder, self.corpus, ())
        self._record: dict[str, Any] = {}
        self._jobs, self._tick = jobs, tick
        self._clock = self._counted_until = began
        self._process: GoProcess | None = None
        self._interrupted = self._asked = False
        self._first = self._files = 0
        self._saved = 0.0
        self._hung = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether the test is compiled, and its counts are known."""
        return bool(self._record)

    @property
    def generation(self) -> str:
        """The name of these counts."""
        return str(self._record.get("generation", ""))

    @property
    def doing(self) -> str:
        """What it is at besides fuzzing; no risk is accepted meanwhile."""
        return self.start.doing if self.is_ready else COMPILING

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self._interrupted = True

    def run(self, seconds: float, watch: Callable[[], None]) -> None:
        """Fuzz for so long; ``watch`` is called at each look at the counts.

        To compile the test, and to get through the corpus, may take longer. NothingYet where it was
        interrupted before.
        """
        self.folder.make()
        with self.folder.only_one():
            try:
                if not compiled(self.test, self.folder, lambda: self._interrupted):
                    raise NothingYet("Interrupted while the test was compiled.")
                self._open()
                self._go_on(seconds, watch)
            except OSError as error:
                raise BadInput(
                    f"{self.folder.out}: the campaign cannot go on ({error})."
                ) from error
            finally:
                if self._process:
                    self._process.kill()
                if self.is_ready:
                    self._pass_time()
                    self._save()

    def _open(self) -> None:
        """Take up the counts, and lay everything out."""
        record = self.folder.agreed(fingerprint(self.folder.program), KIND)
        if self.folder.state_exists():
            self.counts = counts_in(self.folder)
        self._record = record
        self._first = self.counts.n
        self.failures.skipped |= set(record.get("skipped", []))
        shutil.rmtree(self._temporary, ignore_errors=True)  # of processes that were killed
        make_folders(self._temporary)
        self.corpus.take_in(self.failures.skipped)
        self.failures.lay()
        self._save()
        now = self.counts.n, self.counts.seconds
        self.failures.adopt_orphans(*now, lambda: self._interrupted)

    @property
    def _temporary(self) -> Path:
        return self.folder.scratch / "tmp"

    def _go_on(self, seconds: float, watch: Callable[[], None]) -> None:
        began = self._clock = time.monotonic()
        while True:
            self._tend()
            if self._process:
                wait_for_any([self._process], self._tick)
            self._look()
            if self._clock >= self._saved + SAVE_EVERY:
                self._saved = self._clock
                self._save()
            watch()
            if self._is_over(self._clock - began, seconds):
                self._finish()
                return

    def _look(self) -> None:
        """Count what was said, and the time that has passed."""
        passed = self._pass_time()
        said = self._process.lines.said if self._process else None
        if self._process and said:
            self._count(self._process)
        made = self.counts.n - self._first
        executed = self.start.executed
        if said:
            executed += said.executed > 0
            made = max(made, int(said.loaded is not None))  # it tells how many later
        self.start.look(passed, executed, made)
        if self._process and said and said.loaded is not None and self._process.ending() is None:
            self._break_off(self._process, self.settings.seconds + LINES_APART)

    def _count(self, process: GoProcess) -> None:
        before = self.counts.n
        self.counts.look(process.lines.said, process.lines.groups)
        if self.counts.n > before:
            self.lives.has_made_one()

    def _break_off(self, process: GoProcess, seconds: float) -> None:
        """Where an input has taken so long, end it; Go then keeps it as a failing one."""
        quiet = time.monotonic() - process.lines.said.grown
        if quiet >= seconds and not self._hung:
            self._hung = quiet
            process.abort_inputs()
            process.wait(1.0)

    def _is_over(self, used: float, seconds: float) -> bool:
        """Whether the turn ends here; BadInput where it is of no use to wait any longer."""
        if self._interrupted and not self.counts.n:
            raise NothingYet("Interrupted before the target ran its first input.")
        if self._interrupted or self._has_all:
            return True
        self.lives.check(self.plan.name, self.folder.crashes, self.start.made)
        if self.start.is_stuck:
            raise BadInput(stuck(self.test, self.settings.startup))
        is_loading = not self.start.made
        return used >= (max(seconds, LOADING) if is_loading else seconds)

    @property
    def _has_all(self) -> bool:
        return self.settings.inputs is not None and self.counts.n >= self.settings.inputs

    def _pass_time(self) -> float:
        """Count the time that has passed, also on the cores."""
        now = time.monotonic()
        passed, self._clock = max(0.0, now - self._clock), now
        self.counts.seconds += passed
        self.counts.core_seconds += self._jobs * (now - self._counted_until)
        self._counted_until = now
        return passed

    # ── the process ───────────────────────────────────────────────────────────────────────────

    def _tend(self) -> None:
        """Look after a process that ended; start what should run."""
        if self._process and (ending := self._process.ending()) is not None:
            process, self._process = self._process, None
            self._ended(process, ending)
        if self._process is None and not (self._has_all or self._interrupted):
            self._process = self._started()

    def _started(self) -> GoProcess:
        self._hung = 0.0
        self.counts.begin_process()
        self._files = sum(1 for _ in self.corpus.files())
        known = [
            str(self.folder.program.absolute()),
            "-test.run=^$",
            f"-test.fuzz=^{self.test.function}$",
            f"-test.fuzzcachedir={self.folder.corpus.absolute()}",
            f"-test.parallel={self._jobs}",
            "-test.fuzzminimizetime=0x",  # what it executes for that are no inputs, but count
        ]
        if self.settings.inputs is not None:
            # Go counts its corpus too; what is not made for that is made by the next process.
            seeds = max(self._files + len(self.failures.place.seed_names()), self.lives.loaded)
            known.append(f"-test.fuzztime={max(1, self.settings.inputs - self.counts.n + seeds)}x")
        command = at(self.failures.place.package, known, memory_limit(self.settings))
        return GoProcess(command, self._variables(), self.folder.scratch)

    def _variables(self) -> dict[str, str]:
        """Coverage is told with fuzzdebug; workers that are killed leave files behind."""
        known = os.environ.get("GODEBUG")
        return {
            "GODEBUG": f"{known},fuzzdebug=1" if known else "fuzzdebug=1",
            "GOMAXPROCS": str(self._jobs),
            "TMPDIR": str(self._temporary.absolute()),
        }

    def _ended(self, process: GoProcess, ending: Ending) -> None:
        """A process ended: a failing input is kept and counted, anything else must be explained."""
        self._count(process)
        said = process.lines.said
        self._weigh(process, in_order=ending.status >= 0)
        now = self.counts.n, self.counts.seconds
        skipped = len(self.failures.skipped)
        if ending.status == 0:
            if said.loaded is None and not self._asked:
                raise BadInput(explain(self.test, ending))
            return
        if self.failures.take(ending.output, *now, hung=self._hung > 0):
            if self._hung >= self.settings.seconds + LINES_APART:
                self.failures.slow(*now)
            at_seed = said.loaded is None and len(self.failures.skipped) > skipped
            self.lives.failed(said.made, at_seed=at_seed)
        elif ending.kind == "killed" or "terminated by unexpected signal" in ending.output:
            self.lives.killed(said.made)
        elif seed := failing_seed(self.test, ending.output):
            self.failures.book.add(seed.seen, [], *now)
            raise BadInput(seed.words)
        else:
            raise BadInput(explain(self.test, ending))
        self.lives.check_hopeless(self.plan.name, self.folder.crashes)

    def _weigh(self, process: GoProcess, *, in_order: bool) -> None:
        """What the start of a process has cost, and what is not known of its end."""
        said, counts = process.lines.said, self.counts
        if said.loaded is None:
            return
        self.lives.loaded = said.corpus - said.found
        counts.loading += said.loaded - process.began
        if not in_order:
            counts.killed += 1
            counts.uncounted += said.uncounted(time.monotonic())
            files = sum(1 for _ in self.corpus.files())
            counts.pending += max(0, files - self._files - said.found)

    def _finish(self) -> None:
        """Let the process end in good order, then by force."""
        process, self._process = self._process, None
        if process is None:
            return
        self._asked = True
        if process.lines.said.loaded is not None and not self._interrupted:
            self._break_off(process, LINES_APART + 1)
        if process.ending() is None:
            process.end()
        ending = process.ending()
        with suppress(NothingYet):
            if ending is None or ending.kind == "killed":  # by us
                self._count(process)
                self._weigh(process, in_order=False)
            elif process.lines.said.loaded is not None or ending.status > 0:
                self._finished(process, ending)
        self._pass_time()

    def _finished(self, process: GoProcess, ending: Ending) -> None:
        """One that was asked to end before it had begun may say anything."""
        if process.lines.said.loaded is None and "Failing input" not in ending.output:
            return
        self._ended(process, ending)

    # ── what is on disk ───────────────────────────────────────────────────────────────────────

    def _save(self) -> None:
        self.counts.save(
            self.folder,
            {
                **self._record,
                "target": f"{self.test.package}/{self.test.function}",
                "package": str(self.test.package),
                "command": list(words(self.test)),
                "skipped": sorted(self.failures.skipped),
            },
        )
