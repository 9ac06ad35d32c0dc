"""A campaign of ``fuzzwise fuzz`` on a target of AFL++: one long turn, with a view."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from fuzzwise.engines.aflplusplus.fuzzing import Fuzzing
from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.program import check_target
from fuzzwise.engines.leftovers import Guard
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.progress import Judge, NothingYet, Progress, interrupted
from fuzzwise.engines.settings import Settings
from fuzzwise.errors import BadInput
from fuzzwise.stopping import Decision
from fuzzwise.triage.examine import absolute
from fuzzwise.triage.workers import Workers

LOADING = 60.0
"""Seconds that afl-fuzz has at least to get through its corpus."""

LAST_LOOK = 60.0
"""Seconds to examine, in the end, what is not examined yet."""


class AflSupervisor:
    """One campaign; ``run`` goes on until a rule says stop, or ``interrupt`` is called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        _refuse(settings)
        self._job = job_of(settings)
        record = CampaignFolder(settings.out).record()
        self.resumed = bool(record and record.get("seconds"))
        self._stop = threading.Event()
        self._hurry = threading.Event()

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self._stop.set()
        self._hurry.set()

    def run(self, watch: Callable[[Progress], None]) -> Progress:
        """Fuzz until a rule says stop."""
        settings = self._settings
        folder = CampaignFolder(settings.out)
        folder.make()
        try:
            with folder.only_one(), Guard(settings.out), Workers(1) as workers:
                fuzzing = Fuzzing(self._job, workers, self._hurry)
                judge = Judge(settings.limits, fuzzing.looked)
                try:
                    return self._go_on(fuzzing, judge, watch)
                finally:
                    fuzzing.end()
                    fuzzing.save()
        except OSError as error:
            raise BadInput(f"{settings.out}: the campaign cannot go on ({error}).") from error

    def _go_on(self, fuzzing: Fuzzing, judge: Judge, watch: Callable[[Progress], None]) -> Progress:
        fuzzing.go_on()
        while True:
            fuzzing.wait(self._settings.tick)
            if not fuzzing.n:
                self._give_up_early(fuzzing)
                continue
            fuzzing.bugs.look(fuzzing.n, fuzzing.seconds)
            progress = _progress(fuzzing, judge)
            progress.stopped = self._decide(progress, fuzzing, judge)
            fuzzing.looked = judge.since
            fuzzing.save()
            watch(progress)
            if progress.stopped:
                fuzzing.end()
                fuzzing.bugs.look(fuzzing.n, fuzzing.seconds, LAST_LOOK)
                final = _progress(fuzzing, judge)
                final.stopped, final.decision = progress.stopped, progress.decision
                # As when it was decided: an afl-fuzz that ends counts anew what waits.
                waited = progress.observation.waiting
                final.observation = replace(final.observation, waiting=waited)
                final.warnings = progress.warnings
                return final

    def _give_up_early(self, fuzzing: Fuzzing) -> None:
        """No input yet: afl-fuzz is still at the corpus."""
        if self._stop.is_set():
            raise NothingYet("Interrupted before the target ran its first input.")
        limit = self._settings.seconds
        if limit is not None and fuzzing.seconds > max(limit, LOADING):
            raise NothingYet(
                f"afl-fuzz did not get through the corpus in {fuzzing.seconds:.0f} s. Give it more "
                "time, or fewer files; a target that is slow to start needs a fork server."
            )

    def _decide(self, progress: Progress, fuzzing: Fuzzing, judge: Judge) -> Decision | None:
        if self._stop.is_set():
            return interrupted(progress.observation.n)
        stopped = judge(progress.observation, fuzzing.seconds, unsettled=fuzzing.unsettled)
        progress.decision = judge.latest
        if judge.held_back:
            progress.warnings = (*progress.warnings, judge.held_back)
        return stopped


def job_of(settings: Settings) -> Job:
    """What the user of ``fuzzwise fuzz`` asked for, as a job for afl-fuzz."""
    check_target(settings.target)
    settings.check_corpus()
    return Job(
        command=absolute((str(settings.target.absolute()), *settings.arguments)),
        out=settings.out,
        corpus=tuple(place.absolute() for place in settings.corpus),
        options=settings.options,
        per_seed=settings.per_seed,
        species=settings.species,
        inputs=settings.inputs,
    )


def _refuse(settings: Settings) -> None:
    """What only libFuzzer can do."""
    if settings.measure:
        raise BadInput(
            "--measure hides coverage from the fuzzer, which works with libFuzzer targets only. "
            "Leave it out; --per-seed keeps the counts of each seed."
        )
    if settings.jobs > 1:
        raise BadInput(
            "--jobs: one afl-fuzz a campaign. For more, start several campaigns with --out folders "
            "of their own, or `fuzzwise run`."
        )
    if settings.schedule not in ("fresh", "observe"):
        raise BadInput(
            f"--schedule {settings.schedule}: AFL++ chooses its seeds itself. Leave it out, or "
            "give AFL++'s own schedule with --afl '-p explore'."
        )
    if settings.species == "path":
        raise BadInput("--species path: AFL++ knows no paths. Take feature or edge.")


def _progress(fuzzing: Fuzzing, judge: Judge) -> Progress:
    state = fuzzing.state
    assert state is not None
    return Progress(
        observation=fuzzing.observation(),
        corpus=int(state.head.seeds),
        bugs=tuple(fuzzing.bugs.book.bugs.values()),
        lost=int(state.head.lost),
        decision=judge.latest,
        warnings=fuzzing.warnings(),
    )
