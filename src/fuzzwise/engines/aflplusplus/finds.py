"""Crashes and hangs that AFL++ saved, examined beside the fuzzing and put into the bug book."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.places import AflPlaces
from fuzzwise.engines.aflplusplus.program import reproducing
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.seeds import name_of
from fuzzwise.received import read_limited
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examinations import Examinations
from fuzzwise.triage.examine import Limits, Verdict, absolute, from_report
from fuzzwise.triage.workers import Task, Workers

AT_ONCE = 4
"""Inputs that are examined at the same time."""

DEPTH = 5


class Finds:
    """What is in AFL++'s folders of crashes and hangs is still to be examined.

    An examined input is moved to its bug's folder, or to OUT/not-shown where it does not fail
    again; so each is examined once, also when somebody was killed in between.
    """

    def __init__(
        self, job: Job, folder: CampaignFolder, workers: Workers, stop: threading.Event
    ) -> None:
        self.book = BugBook(folder.crashes, job.program.name)
        self._folder = folder
        self._places = AflPlaces(folder)
        self._command = absolute(job.surroundings.before(reproducing(job.command)))
        self._hang = job.hang
        # Under gdb and with a symbolizer everything takes longer than the run that crashed.
        self._limits = Limits(10 + 2 * job.hang, max(16, job.memory_mib or 4096))
        self._hanging = Limits(max(job.hang, 0.1), self._limits.memory_mib)
        self._examinations = Examinations(workers, stop)

    @property
    def problem(self) -> str:
        """Why crashes cannot be examined; "" where they can."""
        return self._examinations.problem

    def look(self, n: int, seconds: float, patience: float = 0.0) -> bool:
        """Take in what has been examined, begin with others; whether nothing is left.

        ``n`` and ``seconds`` are how far the campaign is, ``patience`` is how long to wait.
        """
        self._examinations.begin(patience)
        while waiting := list(islice(self._places.finds(), AT_ONCE)):
            kinds = dict(waiting)
            done = self._examinations.verdicts(
                {path: self._task(path, kind) for path, kind in waiting}
            )
            for path, verdict in done.items():
                # When afl-fuzz is started again, they are put aside, and come by other names.
                if path.exists():
                    self.take(path, verdict, kinds[path], n, seconds)
            if not done or not self._examinations.possible:
                return False
        return True

    def take(self, path: Path, verdict: Verdict, kind: str, n: int, seconds: float) -> None:
        """An input was examined: move it to where it belongs."""
        named = self._folder.crashes / f"{kind}-{name_of(path)}"
        if verdict.ending == "none" or (verdict.ending == "timeout" and kind != "timeout"):
            shutil.move(path, named)
            self._folder.put_aside(named)
            return
        if verdict.ending == "timeout":
            verdict = took_too_long(self._hang)
        shutil.move(path, named)
        self.book.add(verdict, [named], n, seconds)

    def examine_seed(self, path: Path, kind: str, n: int, seconds: float) -> None:
        """A seed that ended the target: a copy of it is examined like what AFL++ saves."""
        home = self._places.to_examine / ("hangs" if kind == "timeout" else "crashes")
        home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, home / f"id:seed,{name_of(path)}")
        self.look(n, seconds)

    def _task(self, path: Path, kind: str) -> Task:
        limits = self._hanging if kind == "timeout" else self._limits
        return Task(self._command, partial(_content, path), path.name, limits, DEPTH)


def _content(path: Path) -> bytes:
    try:
        return read_limited(path, follow=False)
    except FileNotFoundError:
        return b""


def took_too_long(seconds: float) -> Verdict:
    """The bug that an input takes too long."""
    said = f"This input took longer than {seconds:g} s."
    seen = from_report("ERROR: libFuzzer: timeout after 1 seconds")
    assert seen.bug is not None
    bug = replace(seen.bug, kind="timeout", severity="resource")
    return replace(seen, bug=bug, summary=said, report=said)
