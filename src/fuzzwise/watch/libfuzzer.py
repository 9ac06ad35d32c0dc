"""Campaigns of libFuzzer, read from what it prints: one log, or the logs of a ``-jobs`` run."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from fuzzwise.engines.libfuzzer_lines import looks_like
from fuzzwise.errors import BadInput
from fuzzwise.tail import Tail
from fuzzwise.text import printable
from fuzzwise.watch import processes
from fuzzwise.watch.curve import observation, together
from fuzzwise.watch.libfuzzer_log import LogReader
from fuzzwise.watch.libfuzzer_notes import notes
from fuzzwise.watch.reading import Process, Reading

JOB_LOG = re.compile(r"fuzz-\d+\.log")


class LibFuzzerLog:
    """One log: of one process, or of several that came one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = _GrowingLog(path)

    def read(self) -> Reading:
        """The campaign as the log tells now."""
        log = self._log.read()
        if not log.lines:
            raise BadInput(f"{printable(str(self.path))}: {_nothing_yet(_fuzzers(self.path))}")
        return Reading(
            kind="libFuzzer",
            name=self.path.name,
            path=self.path,
            observation=observation(log.curve(), log.seconds),
            corpus=log.corpus,
            crashes=log.crashes,
            hangs=log.hangs,
            processes=self._processes(log),
            exact=log.is_exact,
            said_the_end=log.is_over,
            notes=(*notes(log), *_still_counting(log)),
        )

    def _processes(self, log: LogReader) -> tuple[Process, ...]:
        """The process that writes the log; in fork mode, first the jobs at work.

        It waits for them in system(), which keeps SIGINT from it, and ends when one of them was
        interrupted.
        """
        found = _fuzzers(self.path.resolve())
        above = found if log.is_forked else []
        jobs = [job for pid in above for job in processes.descendants_like(pid)]
        return tuple(map(Process, (*jobs, *found)))


class LibFuzzerJobs:
    """The logs ``fuzz-0.log``, ``fuzz-1.log`` … of a ``-jobs`` run in one folder: one campaign."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._logs: dict[str, _GrowingLog] = {}

    def read(self) -> Reading:
        """The campaign as the logs tell now.

        libFuzzer does not print times. A log is taken to end when it was last written, and to have
        begun its own running time before; in between its process is as fast as on average.
        """
        for name in job_logs(self.path):
            self._logs.setdefault(name, _GrowingLog(self.path / name))
        read = [(log.read(), log.modified) for log in self._logs.values()]
        ready = [(log, modified) for log, modified in read if log.lines]
        if not ready:
            raise BadInput(
                f"{printable(str(self.path))}: its {len(read):,} logs of libFuzzer have no status "
                "line yet. Wait until the fuzzer has loaded its corpus."
            )
        begun = [modified - (log.seconds or 0.0) for log, modified in ready]
        first = min(begun)
        curves = [log.curve(began - first) for (log, _), began in zip(ready, begun, strict=True)]
        is_timed = all(log.seconds is not None for log, _ in ready)
        seconds = max(float(curve.times[-1]) for curve in curves) if is_timed else None
        own = dict.fromkeys(note for log, _ in ready for note in notes(log))
        return Reading(
            kind="libFuzzer",
            name=self.path.resolve().name,
            path=self.path,
            observation=observation(together(curves), seconds),
            corpus=max(log.corpus or 0 for log, _ in ready),
            crashes=sum(log.crashes for log, _ in ready),
            hangs=sum(log.hangs for log, _ in ready),
            processes=self._processes(),
            exact=len(ready) == 1 and ready[0][0].is_exact,
            said_the_end=all(log.is_over for log, _ in ready),
            notes=(
                *own,
                f"{len(ready):,} logs of jobs count as one campaign: their inputs add up, in an "
                "order worked out from speeds and from when each log was last written. What two "
                "jobs found independently counts twice.",
            ),
        )

    def _processes(self) -> tuple[Process, ...]:
        """The jobs, and first the process that would start the next ones.

        That one waits in system(), which keeps SIGINT from it.
        """
        jobs = [pid for name in self._logs for pid in _fuzzers(self.path / name)]
        above = dict.fromkeys(pid for job in jobs for pid in processes.ancestors_like(job))
        return (
            *(Process(pid, signal.SIGTERM) for pid in above),
            *(Process(pid) for pid in jobs if pid not in above),
        )


class _GrowingLog:
    """A log, and what was read of it so far."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._log = LogReader(path)

    @property
    def modified(self) -> float:
        return self._tail.modified

    def read(self) -> LogReader:
        self._tail.read(lambda piece: self._log.take(piece), self._forget)
        return self._log

    def _forget(self) -> None:
        self._log = LogReader(self._tail.path)


def is_log(start: bytes, end: bytes) -> bool:
    """Whether a file with this start and end is a log of libFuzzer."""
    return looks_like(start) or looks_like(end)


def job_logs(folder: Path) -> list[str]:
    """The logs of a ``-jobs`` run in a folder, in the order of the jobs."""
    names = [name for name in os.listdir(folder) if JOB_LOG.fullmatch(name)]  # noqa: PTH208
    return sorted(names, key=lambda name: (len(name), name))


def _fuzzers(path: Path) -> list[int]:
    return [pid for pid in processes.writers(path) if processes.is_libfuzzer(pid)]


def _nothing_yet(fuzzers: list[int]) -> str:
    if fuzzers:
        return (
            "has no status line of libFuzzer yet. Wait until the fuzzer has loaded its corpus, and "
            "keep its standard error in the log (2>&1)."
        )
    return (
        "has no status line of libFuzzer, and no fuzzer writes it: it has ended before its first "
        "input, or its standard error is not in the log (2>&1)."
    )


def _still_counting(log: LogReader) -> tuple[str, ...]:
    if log.is_forked or log.is_over:
        return ()
    return (
        "libFuzzer prints a line for a discovery and at each doubling of its inputs: up to half of "
        "all inputs may be younger than the last line, and are not counted yet.",
    )
