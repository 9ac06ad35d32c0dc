"""Crashes and hangs that AFL++ saved, examined beside the fuzzing and put into the bug book."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.places import NOTHING, AflPlaces
from fuzzwise.engines.aflplusplus.program import reproducing
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.seeds import name_of
from fuzzwise.received import read_limited
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examinations import Examinations
from fuzzwise.triage.examine import Limits, Verdict, absolute, from_report
from fuzzwise.triage.kinds import RESOURCE
from fuzzwise.triage.workers import Task, Workers

AT_ONCE = 4
"""Inputs that are examined at the same time."""

DEPTH = 5

EXAMINING = 10.0
"""Seconds more than a run may take that it has under gdb, and with a symbolizer."""

START = "start"
"""The examination that tells how long the target takes to start."""


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
        self._hang, self._startup = job.hang, job.startup
        # Each run starts the target, which AFL++ has its fork server do once.
        limit = job.startup + EXAMINING + 2 * job.hang
        self._limits = Limits(limit, max(16, job.memory_mib or 4096))
        self._start: float | None = None
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
            done = self._examinations.verdicts(self._tasks(kinds))
            for key, verdict in done.items():
                if not isinstance(key, Path):
                    self._started(verdict)
                # When afl-fuzz is started again, they are put aside, and come by other names.
                elif key.exists():
                    self.take(key, verdict, kinds[key], n, seconds)
            if not done or not self._examinations.possible:
                return False
        return True

    def _tasks(self, kinds: Mapping[Path, str]) -> dict[Path | str, Task]:
        """What to have examined; hangs when it is known how long the target takes to start."""
        tasks: dict[Path | str, Task] = {}
        for path, kind in kinds.items():
            limits = self._limits if kind != "timeout" else self._hanging()
            if limits is not None:
                content = partial(_content, path)
                tasks[path] = Task(self._command, content, path.name, limits, DEPTH)
            else:
                tasks[START] = Task(self._command, lambda: NOTHING, START, self._limits, DEPTH)
        return tasks

    def _started(self, verdict: Verdict) -> None:
        """The target was run on next to nothing; what has no end tells of no start."""
        self._start = self._startup if verdict.ending == "timeout" else verdict.seconds

    def _hanging(self) -> Limits | None:
        """What an input may take that AFL++ saw hang; None as long as that is not known.

        AFL++ counts from where its fork server begins. A start does not always take the same.
        """
        if self._start is None:
            return None
        return Limits(max(self._hang, 0.1) + 2 * self._start, self._limits.memory_mib)

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
    bug = replace(seen.bug, kind="timeout", severity=RESOURCE)
    return replace(seen, bug=bug, summary=said, report=said)
