"""From the crashes of a session to its bugs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from fuzzwise.engines.blackbox.tally import (
    MOST_KEPT,
    SILENT,
    Crash,
    Tally,
    smallest,
)
from fuzzwise.files import write_whole
from fuzzwise.received import read_limited
from fuzzwise.triage.bug_book import MOST_INPUTS, BugBook
from fuzzwise.triage.examinations import Examinations
from fuzzwise.triage.examine import Limits, Verdict
from fuzzwise.triage.workers import Task

CHECKS = 2
"""How often the input of a new bug is run again to see whether it shows it every time."""

CANDIDATES = 3
"""Inputs of a new bug, the smallest first, that are tried before it is called flaky."""

DEPTH = 5


@dataclass(frozen=True)
class Findings:
    """Has crashes examined, and keeps the inputs of bugs.

    ``make`` makes the input of a crash, ``save`` writes the tally: after each examination, which
    takes longer than a thousand runs.
    """

    tally: Tally
    book: BugBook
    folder: Path
    make: Callable[[Crash], bytes]
    command: tuple[str, ...]
    suffix: str
    limits: Limits
    examinations: Examinations
    jobs: int
    save: Callable[[], None]

    def look_at_traces(self) -> None:
        """Examine one crash of each new stack, and another where the first did not show again."""
        while self.examinations.possible:
            new = [
                (name, smallest(trace.waiting))
                for name, trace in self.tally.traces.items()
                if trace.bug is None and trace.waiting
            ][: self.jobs]
            if not new:
                break
            found = self.examinations.verdicts(
                {("trace", name, crash): self._task(crash) for name, crash in new}
            )
            for (_, name, crash), seen in found.items():
                bug = self._enter(seen, crash, self.tally.traces[name].first)
                self.tally.examined(name, crash, bug)
                self.tally.traces[name].kept += bug != SILENT
                self._write_count(bug)
            self.save()
        self._keep_more()

    def look_at_others(self) -> None:
        """Examine the crashes without a known stack that were chosen."""
        while self.examinations.possible and self.tally.waiting:
            found = self.examinations.verdicts(
                {crash: self._task(crash) for crash in self.tally.waiting[: self.jobs]}
            )
            for crash, seen in found.items():
                bug = self._enter(seen, crash, crash)
                self.tally.examined_alone(crash, bug)
                self._write_count(bug)
            self.save()

    def check(self) -> None:
        """Put the smallest input of each new bug first that shows it every time."""
        for bug in tuple(self.tally.unchecked):
            names = self._by_size(bug)
            best = None
            for name in names[:CANDIDATES]:
                shows = self._shows_again(bug, name)
                if shows is None:
                    return  # the time is over
                if shows:
                    best = name
                    break
            inputs = names if best is None else [best, *(name for name in names if name != best)]
            flaky = best is None
            self.book.put(replace(self.book.bugs[bug], inputs=tuple(inputs), flaky=flaky))
            self.tally.unchecked.remove(bug)
            self.save()

    def _task(self, crash: Crash) -> Task:
        return self._task_of(lambda: self.make(crash))

    def _task_of(self, load: Callable[[], bytes]) -> Task:
        return Task(self.command, load, f"input{self.suffix}", self.limits, DEPTH)

    def _enter(self, seen: Verdict, crash: Crash, first: Crash) -> str:
        """Record what an examination has shown; ``first`` is the first crash with that stack."""
        if seen.bug is None:
            return SILENT
        bug = self.book.id_of(seen.bug)
        if not {bug} & {*self.tally.bugs, *self.tally.earlier, *self.tally.unchecked}:
            self.tally.unchecked.append(bug)
        self.book.add(seen, [self._written(crash)], first.n, first.seconds, count=0)
        return bug

    def _write_count(self, bug: str) -> None:
        """Crashes are counted by the tally: the record gets the number, it does not add to it."""
        if bug != SILENT:
            self.book.put(replace(self.book.bugs[bug], count=self.tally.count_of(bug)))

    def _keep_more(self) -> None:
        """Keep some further inputs of known stacks."""
        for trace in self.tally.traces.values():
            if trace.bug and trace.waiting:
                room = MOST_INPUTS - len(self.book.bugs[trace.bug].inputs)
                chosen = trace.waiting[: max(0, min(room, MOST_KEPT - trace.kept))]
                trace.kept += len(chosen)
                trace.waiting.clear()
                if chosen:
                    self.book.keep(trace.bug, [self._written(crash) for crash in chosen])

    def _written(self, crash: Crash) -> Path:
        """The input of a crash as a file, named by its content, for the book to take."""
        data = self.make(crash)
        path = self.folder / content_name(data, self.suffix)
        write_whole(path, data, to_disk=False)
        return path

    def _by_size(self, bug: str) -> list[str]:
        sizes = {
            name: path.stat().st_size
            for name in self.book.bugs[bug].inputs
            if (path := self.book.path(name)).is_file()
        }
        return sorted(sizes, key=lambda name: (sizes[name], name))

    def _shows_again(self, bug: str, name: str) -> bool | None:
        """Whether an input shows the bug every time; None where the time does not suffice."""
        task = self._task_of(partial(read_limited, self.book.path(name), follow=False))
        for number in range(CHECKS):
            if not self.examinations.possible:
                return None
            seen = self.examinations.verdicts({("check", name, number): task})
            if not seen:
                return None
            for verdict in seen.values():
                if verdict.bug is None or self.book.id_of(verdict.bug) != bug:
                    return False
        return True


def content_name(data: bytes, suffix: str) -> str:
    """A file name that is the same for the same content."""
    return f"{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
