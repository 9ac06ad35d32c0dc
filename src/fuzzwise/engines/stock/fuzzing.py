"""Stock libFuzzer at work on one target for a turn: started, watched, counted, ended."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable

from fuzzwise.engines.contract import NothingYet, TargetPlan
from fuzzwise.engines.libfuzzer.crashes import Crashes
from fuzzwise.engines.libfuzzer.endings import check_options, has_begun, in_short, is_unseen, manner
from fuzzwise.engines.libfuzzer.launch import Launch
from fuzzwise.engines.libfuzzer.lives import DEAF, ENDLESS, HOPELESS, KILLED, Lives
from fuzzwise.engines.libfuzzer.program import check_program
from fuzzwise.engines.process import Ending, wait_for_any
from fuzzwise.engines.starting import LOADING, Start, overdue
from fuzzwise.engines.stock.corpus import Corpus
from fuzzwise.engines.stock.counts import KIND, Counts, StockFolder, counts_in
from fuzzwise.engines.stock.lines import Said
from fuzzwise.engines.stock.parts import build_of, parts_of
from fuzzwise.engines.stock.problems import explain, mute, stuck
from fuzzwise.engines.stock.process import AFTER_INPUT, StockProcess
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.engines.stock.words import options, variables
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import BugBook

SAVE_EVERY = 1.0
"""Seconds between two looks at what must be written; that is what a kill may cost."""

QUIET, QUIET_SHARE = 10.0, 0.1
"""Seconds without a line, and which share of all, after which a process has to tell its count."""

FEW = 0.5
"""Seconds in which a process may have made next to nothing; libFuzzer's first lines come later."""

DYING = 2.0
"""Seconds between the last word of a process and its end, at most."""

CHEAP = 0.02
"""The share of a process's life that its start may have taken if another is to take its place."""


RUNS_A_BYTE, QUIET_RUNS = 100, 1000
"""libFuzzer's limit on the length of inputs rises by about a byte for so many inputs, and not for
about so many after a discovery; in each process it begins with the longest seed."""

MAX_LENGTH, ALL_LENGTHS = 4096, 0.5
"""The longest input by default; and the share of it to which one process would have come, from
which on inputs are not held back any more: each process would only begin to rise again."""


class Fuzzing:
    """A turn; ``run`` goes on until its time is over, all inputs are made, or ``interrupt``.

    ``lives`` is how processes of earlier turns ended. ``began``: when the turn did, by the
    monotonic clock; its core is taken from then on.
    """

    def __init__(
        self,
        plan: TargetPlan,
        folder: StockFolder,
        *,
        seed: int,
        tick: float,
        began: float,
        lives: Lives,
    ) -> None:
        self.plan = plan
        self.settings: StockSettings = plan.settings or StockSettings()
        check_program(plan.program)
        build = build_of(parts_of(plan.program))
        words = (str(plan.program.resolve()),)
        self._launch = Launch(words, build, surroundings=plan.surroundings)
        self.folder = folder
        self.folder.make()
        self._record = folder.agreed(self._launch.build, KIND)
        self.counts = counts_in(folder, self._record) if folder.state_exists() else Counts()
        self.corpus = Corpus(folder, plan.corpus, self._record.get("at_once"))
        self._crashes = Crashes(
            *(folder, plan.program.name, self._launch, self.corpus),
            self._record.get("skipped", []),
        )
        self._seed, self._tick = seed, tick
        self._clock = self._counted_until = self._started_at = began
        self._process: StockProcess | None = None
        self._interrupted = self._options_checked = self._renewing = self._unheard = False
        self._asked_at = began
        self._first = self.counts.n
        self._species_at_start = self._found_at_start = 0
        self._saved = 0.0
        self.lives = lives
        self.start = Start(self.settings.startup)
        """How far it has come in this turn."""

    @property
    def book(self) -> BugBook:
        """The bugs."""
        return self._crashes.book

    @property
    def generation(self) -> str:
        """The name of these counts."""
        return str(self._record["generation"])

    @property
    def doing(self) -> str:
        """What it is at besides fuzzing; no risk is accepted meanwhile."""
        return self.start.doing

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
                if self._process:
                    self._process.kill()
                self._pass_time()
                self._save()

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
            self._end_overdue()
            watch()
            if self._is_over(self._clock - began, seconds):
                self._finish()
                return

    def _look(self) -> None:
        """Count what was said, and the time that has passed."""
        passed = self._pass_time()
        process = self._process
        said = process.lines.glance if process else None
        if process and said:
            has_news = len(self.counts.found), self.counts.n
            self.counts.look(process.lines.said)
            if (len(self.counts.found), self.counts.n) != has_news:
                self.lives.has_made_one()
        made = self.counts.n - self._first
        if said and said.loaded is not None:
            made = max(1, made)  # it is through with its corpus, and tells how many later
        executed = self.start.executed + 1 if said and said.has_run else self.start.executed
        no_core = process.kept_waiting() if process else 0.0
        self.start.look(min(passed, self._clock - self._started_at), executed, made, no_core)
        self.start.files = self.corpus.given
        self.start.through = said.through if said else 0
        if process and said and said.loaded is not None and not self._renewing:
            self._renew(process)

    def _renew(self, process: StockProcess) -> None:
        """Have a process that has long said nothing tell its count, if its start was cheap."""
        said = process.lines.glance
        assert said.loaded is not None
        quiet = self._clock - said.latest
        cheap = said.loaded - process.began <= CHEAP * (self._clock - process.began)
        if cheap and quiet > max(QUIET, QUIET_SHARE * self.counts.seconds):
            self._renewing, self._asked_at = True, self._clock
            process.ask_to_end()

    def _is_over(self, used: float, seconds: float) -> bool:
        """Whether the turn ends here; BadInput where it is of no use to wait any longer."""
        if self._interrupted and not self.counts.n:
            raise NothingYet("Interrupted before the target ran its first input.")
        if self._interrupted or self._has_all:
            return True
        self._check_lives()
        if self.start.is_stuck:
            said = self._process.output if self._process else ""
            raise BadInput(stuck(self.plan.program, self.settings.startup, said))
        self._check_options()
        self._check_voice()
        if used < (max(seconds, LOADING) if self._is_loading else seconds):
            return False
        if self._is_loading and self.start.executed:
            self._record["at_once"] = max(1, self.corpus.chosen // 4)
        return True

    @property
    def _is_loading(self) -> bool:
        """Whether nothing was made in this turn, as the corpus is still being executed."""
        if self.start.made:
            return False
        return self._process is None or self._process.lines.glance.loaded is None

    @property
    def _has_all(self) -> bool:
        return self.settings.inputs is not None and self.counts.n >= self.settings.inputs

    def _pass_time(self) -> float:
        """Count the time that has passed, also on the core."""
        now = time.monotonic()
        passed, self._clock = max(0.0, now - self._clock), now
        self.counts.seconds += passed
        self.counts.core_seconds += now - self._counted_until
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

    def _started(self) -> StockProcess:
        self._renewing = False
        self._species_at_start = self.counts.species
        self._found_at_start = len(self.counts.found)
        self.counts.begin_process()
        seed = self._random_seed()
        given = self.corpus.words(self._crashes.skipped, random.Random(seed))  # noqa: S311
        runs = None
        if self.settings.inputs is not None:
            # libFuzzer counts its corpus too, and the empty input.
            runs = self.settings.inputs - self.counts.n + self.corpus.given + 1
        known = (self.plan, self.settings, self.folder)
        free = self._length >= ALL_LENGTHS * (self.settings.max_length or MAX_LENGTH)
        words = options(*known, seed, runs, all_lengths=free)
        command = [*self._launch.words, *words, *given]
        self._started_at = time.monotonic()  # what it took to find its files is not the target's
        try:
            around = self.plan.surroundings
            return StockProcess(command, variables(around), self.folder.scratch, around.folder)
        except OSError as error:
            if not self.folder.scratch.is_dir():
                raise  # about the campaign's folder, not about the target
            raise BadInput(f"{self.plan.program}: cannot be started ({error.strerror}).") from error

    def _random_seed(self) -> int:
        """Another one for every process, lest it make the same inputs again."""
        words = f"{self._seed} {self.counts.n} {self.counts.starts}"
        return 1 + zlib.crc32(words.encode()) % (2**31 - 1)

    def _ended(self, process: StockProcess, ending: Ending) -> None:
        """A process ended: a crash is kept and counted, anything else must be explained."""
        said = process.lines.said
        self.counts.look(said)
        self._weigh(process)
        asked = self._interrupted or self._has_all or self._renewing
        alone = ending.kind not in ("killed", "interrupted") and not (
            ending.kind == "done" and (asked or said.made)
        )
        made = _made(said)
        self._unheard = not (said.has_run or has_begun(ending.output))
        skipped = len(self._crashes.skipped)
        if ending.kind in ("crash", "timeout", "out-of-memory", "exit", "state"):
            self._crashed(ending, said.has_run, made)
        elif ending.kind == "done" and not (asked or said.is_complete):
            self._vanished(ending, said.has_run, made)
        elif ending.kind == "killed":
            if made:
                self.lives.vanished(KILLED, fruitless=False)
            else:
                self.lives.fruitless.append(KILLED)
            self._adopt_orphans()  # killed after it had written a crash
        at_seed = len(self._crashes.skipped) > skipped
        self.lives.ended(alone and not at_seed, made)
        self.lives.check_hopeless(self.plan.program, in_short(ending), self.folder.crashes)

    @property
    def _length(self) -> float:
        """How long inputs would be by now in a process that never ended."""
        return float(self._record.get("length", 0))

    def _weigh(self, process: StockProcess) -> None:
        """What the start of a process has cost, and what is not known of its end."""
        said, counts = process.lines.glance, self.counts
        if said.loaded is None:
            return
        quiet = max(0, said.made - QUIET_RUNS * (len(counts.found) - self._found_at_start))
        self._record["length"] = max(said.limit, round(self._length + quiet / RUNS_A_BYTE))
        if known := self._species_at_start:
            counts.lost = max(counts.lost, 1 - said.initial_features / known)
        counts.loading += said.loaded - process.began
        counts.uncounted += said.uncounted(time.monotonic())
        counts.killed += not said.is_complete

    def _crashed(self, ending: Ending, has_run: bool, made: int) -> None:
        known = len(self._crashes.skipped)
        artifacts = self.folder.artifacts()
        if not artifacts and is_unseen(ending):
            self._vanished(ending, has_run, made)
            return
        if not artifacts and (ending.kind == "state" or not has_run):
            raise BadInput(explain(self.plan.program, ending, has_run))
        self._crashes.add(ending, artifacts, self.counts.n, self.counts.seconds)
        is_fruitless = made == 0 and len(self._crashes.skipped) == known
        self.lives.crashed(ending.kind, fruitless=is_fruitless)

    def _vanished(self, ending: Ending, has_run: bool, made: int) -> None:
        """Nobody knows by which input; BadInput where the target has not been seen to fuzz."""
        if not made and not (self.counts.n and has_run):
            raise BadInput(explain(self.plan.program, ending, has_run))
        self.lives.vanished(manner(ending), fruitless=not made)

    def _check_options(self) -> None:
        """BadInput where libFuzzer says that it does not know an option, and goes on without it."""
        if not self.start.executed or self._options_checked:
            return
        self._options_checked = True
        if self.settings.options and self._process:
            check_options(self.plan.program, self._process.output)

    def _check_lives(self) -> None:
        """BadInput where processes only crash; where libFuzzer was not heard, that may be why."""
        try:
            self.lives.check(self.plan.program, self.folder.crashes, self.start.made)
        except BadInput as error:
            if not self._unheard:
                raise
            raise BadInput(f"{error} {mute(self.plan.program)}") from None

    def _check_voice(self) -> None:
        """BadInput where nothing can be heard of a process any more: it closed its stderr."""
        process = self._process
        if process and process.is_mute:
            wait_for_any([process], DYING)
            if process.ending() is None:
                raise BadInput(mute(self.plan.program))

    def _finish(self) -> None:
        """Let the process end after its present input, then by force."""
        process, self._process = self._process, None
        if process is None:
            return
        asked, silent = time.monotonic(), process.is_deaf and not process.lines.glance.made
        process.end(lambda: AFTER_INPUT if silent else self._patience)
        self._renewing = True
        self.lives.heard(process.printed, process.lines.glance.made)
        ending = process.ending()
        if ending is None or ending.kind == "killed":  # by us
            self.counts.look(process.lines.said)
            self._weigh(process)
        else:
            self._ended(process, ending)
        self._pass_time()
        if silent and not self._interrupted:
            self._unended(asked - process.began, DEAF)
        elif not self._interrupted and self._clock - asked > overdue(self.settings.seconds):
            self._unended(self._clock - asked, ENDLESS)

    @property
    def _patience(self) -> float:
        """Seconds that a process has, in the end, for its present input.

        An input may outlast its turn up to its limit, or turns that are shorter would never show
        that one does not end; where that is known, not.
        """
        known = any(bug.kind == "timeout" for bug in self.book.bugs.values())
        if known or self._interrupted or not self.start.made:
            return AFTER_INPUT
        return overdue(self.settings.seconds)

    def _end_overdue(self) -> None:
        """Kill a process that was asked for its count and does not come to it."""
        process, waited = self._process, self._clock - self._asked_at
        if process and self._renewing and waited > overdue(self.settings.seconds):
            self._process, why = None, DEAF if process.is_deaf else ENDLESS
            process.kill()
            self._weigh(process)
            self._unended(waited, why)

    def _unended(self, seconds: float, why: str) -> None:
        self._adopt_orphans()  # killed after it had written a crash
        self.lives.unended(seconds, why)
        self.lives.check_unended(self.plan.program, self.counts.core_seconds)

    # ── what is on disk ───────────────────────────────────────────────────────────────────────

    def _adopt_orphans(self) -> None:
        self._crashes.adopt_orphans(self.counts.n, self.counts.seconds, lambda: self._interrupted)

    def _save(self) -> None:
        self.counts.save(
            self.folder,
            {
                **self._record,
                "target": str(self.plan.program),
                "command": self._launch.command,
                "skipped": sorted(self._crashes.skipped),
            },
        )


def _made(said: Said) -> int:
    """The inputs of a process that has ended, about so many if it could not tell them any more."""
    if said.loaded is None or said.is_complete or time.monotonic() < said.loaded + FEW:
        return said.made
    return max(said.made, HOPELESS)
