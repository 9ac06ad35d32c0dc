"""Inputs that ended a target under libFuzzer, or failed in one: recorded as bugs."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from fuzzwise.engines.libfuzzer.launch import Launch, left_behind
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examine import Verdict, from_report
from fuzzwise.triage.kinds import RESOURCE
from fuzzwise.triage.surroundings import NEEDED
from fuzzwise.triage.symbolizer import environment as symbolizer_environment

PATIENCE = 30.0
"""Seconds that an input has to show its bug again."""

_CRASH = "exitcode=77"
NEEDED_TO_FUZZ = f"{NEEDED}:{_CRASH}"
"""Options of sanitizers that fuzzing relies on: libFuzzer's exit status for what they see."""

_RESOURCES = ("timeout", "out-of-memory")


class Seeds(Protocol):
    """The files that processes are started from."""

    def among(self, artifacts: Sequence[Path]) -> set[str]:
        """The names of those contents that are of such files."""
        ...


class Crashes:
    """The bugs of a campaign, and the seeds that no process is started from as they end it.

    ``n`` and ``seconds``, below, are how far the campaign is.
    """

    def __init__(
        self,
        folder: CampaignFolder,
        program: str,
        launch: Launch,
        seeds: Seeds,
        skipped: Iterable[str],
    ) -> None:
        self.book = BugBook(folder.crashes, program)
        self.skipped = set(skipped)
        self._folder = folder
        self._launch = launch
        self._seeds = seeds

    def add(self, ending: Ending, artifacts: list[Path], n: int, seconds: float) -> None:
        """A process ended by a bug, and wrote these inputs."""
        self._skip(artifacts)
        kind = "crash" if ending.kind == "exit" else ending.kind
        self.book.add(_verdict(ending.output, kind), artifacts, n, seconds)

    def take_failures(self, n: int, seconds: float) -> None:
        """Bugs that did not end a process."""
        if not self._launch.lives_on:
            return
        for path, failure in left_behind(self._folder.crashes):
            artifact = self._folder.crashes / f"crash-{hashlib.sha1(failure.data).hexdigest()}"  # noqa: S324
            artifact.write_bytes(failure.data)
            self.book.add(_verdict(failure.report, "crash"), [artifact], n, seconds, failure.count)
            path.unlink(missing_ok=True)

    def adopt_orphans(self, n: int, seconds: float, is_over: Callable[[], bool]) -> None:
        """Inputs that were written, but not recorded, before somebody was killed: run again.

        Not those of failures, which come with their reports. ``is_over`` says when to leave the
        rest for later.
        """
        self.take_failures(n, seconds)
        for artifact in self._folder.artifacts():
            if is_over():
                return
            command = [*self._launch.words, str(artifact.resolve())]
            around = self._launch.surroundings
            variables = around.joined(sanitizer_environment(), NEEDED_TO_FUZZ)
            process = FuzzingProcess(command, variables, self._folder.scratch, around.folder)
            deadline = time.monotonic() + PATIENCE
            while (ending := process.ending()) is None and time.monotonic() < deadline:
                if is_over():
                    process.kill()
                    return
                wait_for_any([process], 0.1)
            if ending is None:
                process.kill()
            elif ending.kind == "done":
                self._folder.put_aside(artifact)  # not whole, or of a bug that does not show again
                continue
            output = ending.output if ending else "libFuzzer: timeout"
            kind = ending.kind if ending and ending.kind in _RESOURCES else "crash"
            self._skip([artifact])
            self.book.add(_verdict(output, kind), [artifact], n, seconds)

    def _skip(self, artifacts: list[Path]) -> None:
        """Start no process from an input that ends it."""
        self.skipped |= self._seeds.among(artifacts)


def sanitizer_environment(*, detect_leaks: bool = False) -> dict[str, str]:
    """Readable reports, and libFuzzer's exit status whichever runtime sees the crash first.

    Programs that would only print what UBSan or TSan sees, and go on, end: libFuzzer keeps the
    input then. Who has set that otherwise has it so.
    """
    variables = symbolizer_environment(detect_leaks)
    variables["TSAN_OPTIONS"] = os.environ.get("TSAN_OPTIONS", "")
    for name in ("UBSAN_OPTIONS", "TSAN_OPTIONS"):
        variables[name] = f"halt_on_error=1:{variables[name]}"
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        variables[name] += f":{_CRASH}"
    return variables


def _verdict(output: str, kind: str) -> Verdict:
    """The bug that a report shows; that an input was slow or large is not in every report."""
    seen = from_report(output)
    if kind == "crash":
        return seen
    assert seen.bug is not None
    return replace(seen, bug=replace(seen.bug, kind=kind, severity=RESOURCE))
