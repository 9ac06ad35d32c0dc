"""A black-box target at work: runs, crashes and bugs, kept in the target's folder.

The folder holds the counts (progress.json), the bugs (crashes/ID) and some inputs that took too
long or too much memory (hangs). Species are bugs: a campaign stops a target when the next run is
unlikely to show another one.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from fuzzwise.engines.blackbox import tally as tallies
from fuzzwise.engines.blackbox.check import check
from fuzzwise.engines.blackbox.findings import Findings, content_name
from fuzzwise.engines.blackbox.identity import difference, fingerprint_of
from fuzzwise.engines.blackbox.lanes import Lanes, Slice, lane_seed
from fuzzwise.engines.blackbox.model import Mutation, Target
from fuzzwise.engines.blackbox.mutation import make_input
from fuzzwise.engines.blackbox.program import find_program
from fuzzwise.engines.blackbox.settings import BlackBoxSettings
from fuzzwise.engines.blackbox.tally import Crash, Tally
from fuzzwise.engines.blackbox.warnings import warnings
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.reproduce import reproduce
from fuzzwise.engines.telling import Telling
from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders, write_whole
from fuzzwise.received import read_limited
from fuzzwise.triage.bug_book import BugBook, own_id
from fuzzwise.triage.examinations import Examinations
from fuzzwise.triage.examine import Limits, Verdict, absolute
from fuzzwise.triage.workers import Workers

PROGRESS = "progress.json"
CRASHES = "crashes"
HANGS = "hangs"
MOST_HANGS = 10
"""Inputs that are kept of runs that took too long or too much memory."""

SLICE = 0.5
"""Seconds of fuzzing between two looks at the crashes."""

SAVE = 10.0
"""Seconds of work that a killed process has to do again at most."""

LEAST_TRIAGE, MOST_TRIAGE = 2.0, 60.0
"""Seconds that a turn has for examining crashes, however short or long it is."""


class BlackBoxSession:
    """One program with one seed file at work.

    An interrupt outside of a turn ends the next one at once, so that none can be missed.
    """

    def __init__(self, plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> None:
        self._plan = plan
        self._settings: BlackBoxSettings = plan.settings or BlackBoxSettings()
        self._folder = folder
        self._seed = seed
        self._telling = Telling(self._read)
        self._stop = threading.Event()
        self._examinations = Examinations(workers, self._stop)
        self._lanes: Lanes | None = None

    def totals(self) -> Totals | None:
        """What is known: in the midst of a turn, how far it was a moment ago."""
        return self._telling.totals()

    def _read(self) -> Totals | None:
        try:
            tally = tallies.load(self._folder / PROGRESS)
            book = self._book()
        except OSError as error:
            raise self._unusable(error) from error
        if tally is None:
            return None
        self._name_anew(tally, book)
        return self._told(tally, book)

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long, on so many cores, and examine what crashed."""
        try:
            with self._telling.turn():
                return self._turn(seconds, jobs)
        except OSError as error:
            raise self._unusable(error) from error
        finally:
            self._stop.clear()

    def close(self) -> None:
        """Between turns there is nothing to end but examinations, which their workers end."""

    def reproduce(self, data: bytes) -> Verdict:
        """Run the program once on an input."""
        limits = self._settings.limits
        return reproduce(self._plan.command, data, limits.seconds, limits.memory_mib)

    def interrupt(self) -> None:
        """End the present turn at once, or the next one."""
        self._stop.set()
        if (lanes := self._lanes) is not None:
            lanes.interrupt()

    def _turn(self, seconds: float, jobs: int) -> Totals:
        program = find_program(self._plan.command[0])
        target, mutation = self._target(), self._settings.mutation
        make_folders(self._folder / CRASHES)
        _tidy(self._folder)
        book = self._book()
        tally = self._tally(fingerprint_of(program, target, mutation, self._seed), book)
        self._check(tally, target)
        tally.lanes += [0] * (jobs - len(tally.lanes))
        tally.choose()  # what a killed process has left
        findings = self._findings(tally, book, target, jobs)
        self._examinations.begin(max(LEAST_TRIAGE, min(seconds, MOST_TRIAGE)))
        settings = (target, self._seed, mutation, self._settings.limits, jobs, self._stop)
        with Lanes(*settings) as self._lanes:
            try:
                self._fuzz(self._lanes, findings, seconds)
            finally:
                self._lanes = None
        clock = time.monotonic()
        tally.choose()
        findings.look_at_others()
        findings.check()
        tally.seconds += jobs * (time.monotonic() - clock)
        tally.save(self._folder / PROGRESS, to_disk=True)
        return self._told(tally, book)

    def _findings(self, tally: Tally, book: BugBook, target: Target, jobs: int) -> Findings:
        limits = self._settings.limits
        return Findings(
            tally=tally,
            book=book,
            folder=self._folder / CRASHES,
            make=partial(self._input, target.seed, self._settings.mutation),
            command=absolute(self._plan.command),
            suffix=target.suffix,
            # Under gdb and with a symbolizer everything takes longer than the run that crashed.
            limits=Limits(10 + 10 * limits.seconds, max(16, limits.memory_mib)),
            examinations=self._examinations,
            jobs=jobs,
            save=partial(tally.save, self._folder / PROGRESS),
        )

    def _fuzz(self, lanes: Lanes, findings: Findings, seconds: float) -> None:
        tally, jobs = findings.tally, findings.jobs
        left, saved = seconds, time.monotonic()
        most = self._settings.inputs
        while left > 0 and not self._stop.is_set() and (most is None or tally.n < most):
            clock = time.monotonic()
            runs = None if most is None else _shared(most - tally.n, jobs)
            part = lanes.run(tally.lanes[:jobs], min(SLICE, left), runs)
            left -= time.monotonic() - clock
            self._count(tally, part, jobs, findings)
            findings.look_at_traces()
            tally.seconds += jobs * (time.monotonic() - clock)
            if part.problem or time.monotonic() - saved >= SAVE:
                findings.save()
                saved = time.monotonic()
            if part.problem:
                raise part.problem
            self._telling.say(self._told(tally, findings.book))

    def _count(self, tally: Tally, part: Slice, jobs: int, findings: Findings) -> None:
        for lane, event in part.events:
            tally.lanes[lane] = event.run
            if event.kind == "mark":
                continue
            seconds = tally.seconds + jobs * event.microseconds / 1e6
            crash = Crash(lane, event.run, tally.n, round(seconds, 6), event.input_length)
            if event.kind == "crash":
                tally.crash(crash, event.trace)
                continue
            if event.kind == "hang":
                tally.hangs += 1
            else:
                tally.out_of_memory += 1
            if tally.hangs_kept < MOST_HANGS:
                tally.hangs_kept += 1
                self._keep_hang(findings.make(crash), findings.suffix)

    def _keep_hang(self, data: bytes, suffix: str) -> None:
        home = self._folder / HANGS
        home.mkdir(exist_ok=True)
        write_whole(home / content_name(data, suffix), data)

    def _tally(self, fingerprint: str, book: BugBook) -> Tally:
        """The counts so far, or new ones where those belong to something else or are damaged."""
        path = self._folder / PROGRESS
        known = tallies.load(path)
        if known is not None:
            self._name_anew(known, book)
        if known is not None and known.bugs.keys() <= book.bugs.keys():
            if known.fingerprint == fingerprint:
                return known
            what = difference(known.fingerprint, fingerprint)
            began = f"The {what} changed: the counts began again."
            earlier = {bug: known.count_of(bug) for bug in {*known.bugs, *known.earlier}}
        else:
            began = (
                f"Files in {self._folder} were damaged or removed: the counts began again."
                if path.exists()
                else ""
            )
            earlier = {}
        self._examinations.forget()
        return Tally(os.urandom(8).hex(), fingerprint, began=began, earlier=earlier)

    def _check(self, tally: Tally, target: Target) -> None:
        """Refuse, once in a generation, a target that cannot be fuzzed."""
        if tally.checked:
            return
        if problems := check(target, self._settings.limits, self._stop):
            raise BadInput(problems[0])
        if self._stop.is_set():
            return  # it may not have been checked to the end
        tally.checked = True
        tally.save(self._folder / PROGRESS)

    def _target(self) -> Target:
        if len(self._plan.corpus) != 1:
            raise BadInput(
                f"{self._plan.name}: a black-box target has one seed file, not "
                f"{len(self._plan.corpus)}. Make each seed file a target of its own."
            )
        path = self._plan.corpus[0]
        try:
            seed = read_limited(path)
        except OSError as error:
            raise BadInput(f"The seed file {path} cannot be read: {error.strerror}.") from error
        return Target(self._plan.command, seed, self._plan.name, suffix=path.suffix[:64])

    def _book(self) -> BugBook:
        return BugBook(self._folder / CRASHES, self._plan.program.name)

    def _name_anew(self, tally: Tally, book: BugBook) -> None:
        """Bugs without frames have another id than an older fuzzwise gave them."""
        for bug in {*tally.bugs, *tally.earlier, *tally.unchecked} - book.bugs.keys():
            own = own_id(bug, self._plan.program.name)
            if own in book.bugs:
                tally.rename(bug, own)

    def _input(self, seed: bytes, mutation: Mutation, crash: Crash) -> bytes:
        return make_input(seed, lane_seed(self._seed, crash.lane), crash.run, mutation)

    def _told(self, tally: Tally, book: BugBook) -> Totals:
        limits = self._settings.limits
        bugs = (
            replace(bug, count=tally.count_of(bug.id) or max(1, bug.count))
            for bug in sorted(book.bugs.values(), key=lambda bug: (bug.found_at, bug.id))
        )
        return Totals(
            generation=tally.generation,
            observation=tally.observation(),
            seconds=tally.seconds,
            corpus=1,
            bugs=tuple(bugs),
            crashes=tally.crashes,
            warnings=warnings(tally, limits, self._folder / HANGS, self._examinations.problem),
        )

    def _unusable(self, error: OSError) -> BadInput:
        where = error.filename or self._folder
        return BadInput(
            f"{where}: {error.strerror or error}. Is there free disk space, and may it be written?"
        )


def _shared(runs: int, jobs: int) -> list[int]:
    """Runs as they are shared among so many lanes."""
    return [runs // jobs + (lane < runs % jobs) for lane in range(jobs)]


def _tidy(folder: Path) -> None:
    """Remove what a killed process was about to write; its crashes are still to be examined."""
    for path in (folder / CRASHES).iterdir():
        if path.is_file():
            path.unlink()
    for path in folder.rglob("*.[0-9]*.part"):  # not inputs, which may end so
        path.unlink()
