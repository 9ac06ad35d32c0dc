"""Inputs on which a fuzz test failed: recorded as bugs, and kept out of what Go starts from.

Go's fuzzer ends at the first one and writes it beside the seeds, where it would fail at every later
start.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from fuzzwise.engines.go.corpus import Corpus, name_of
from fuzzwise.engines.go.counts import GoFolder
from fuzzwise.engines.go.module import FuzzTest
from fuzzwise.engines.go.place import Place
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.engines.go.toolchain import at
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examine import Verdict, from_report

WRITTEN = re.compile(r"Failing input written to testdata/fuzz/Fuzz\w*/([0-9a-f]{8,64})\b")
SEED = re.compile(r"failure while testing seed corpus entry: Fuzz\w*/(.{1,255})")
_DIED = "fuzzing process hung or terminated unexpectedly"
_FAIL = "--- FAIL: "
TIMEOUT = "timeout"
GRACE = 5.0
"""Seconds that a test has to start, and to tell that its time is over."""


class Failures:
    """The bugs of a fuzz test, and the seeds that Go is not started from as it fails on them.

    ``n`` and ``seconds``, below, are how far the campaign is.
    """

    def __init__(
        self,
        test: FuzzTest,
        settings: GoSettings,
        folder: GoFolder,
        corpus: Corpus,
        skipped: Iterable[str],
    ) -> None:
        self.place = Place(test, folder.scratch)
        self.book = BugBook(folder.crashes, f"{test.package.name}.{test.function}")
        self.skipped = set(skipped)
        """Names of the user's seeds, and of contents."""
        self._test, self._settings = test, settings
        self._folder, self._corpus = folder, corpus

    def lay(self) -> None:
        """Make the folder in which the test runs; what failed there before is not lost."""
        for path in self.place.left():
            self._put_with_crashes(path, "crash")
        self.place.lay(self.skipped)

    def take(self, output: str, n: int, seconds: float, *, hung: bool) -> bool:
        """A process ended: whether it was by a failing input, or by a seed of the user's.

        ``hung``: its input was broken off; whether it was too slow is then seen when it runs again,
        unless that is known of another one.
        """
        report = output[max(0, output.rfind(f"\n{_FAIL}")) :]
        if written := WRITTEN.search(output):
            path = self.place.inputs / written[1]
            artifact = self._put_with_crashes(path, TIMEOUT if hung else "crash")
            if hung and not any(bug.kind == TIMEOUT for bug in self.book.bugs.values()):
                return True
            seen = self.timed_out() if hung else self._told(report)
            if not hung and _DIED in report:
                seen = self._seen_again(artifact) or seen
            self.book.add(seen, [artifact], n, seconds)
            return True
        if (seed := SEED.search(output)) and seed[1] in self.place.seed_names():
            name = seed[1]
            self.skipped.add(name)
            (self.place.inputs / name).unlink(missing_ok=True)
            artifact = self._folder.crashes / f"crash-{name_of(self.place.seed(name).read_bytes())}"
            shutil.copyfile(self.place.seed(name), artifact)
            self.book.add(self._told(report), [artifact], n, seconds)
            return True
        return False

    def slow(self, n: int, seconds: float) -> None:
        """Inputs that were broken off have had their time: they are too slow."""
        for artifact in self._folder.artifacts():
            if artifact.name.startswith(TIMEOUT):
                self.book.add(self.timed_out(), [artifact], n, seconds)

    def adopt_orphans(self, n: int, seconds: float, is_over: Callable[[], bool]) -> None:
        """Inputs that were written, but not recorded, before somebody was killed: run again.

        ``is_over`` says when to leave the rest for later.
        """
        for artifact in self._folder.artifacts():
            ending = self._run(artifact, is_over)
            if is_over():
                return
            if ending is not None and ending.status == 0:
                self._folder.put_aside(artifact)
                continue
            seen = self.timed_out() if ending is None else self._told(ending.output)
            self.book.add(seen, [artifact], n, seconds)

    def timed_out(self) -> Verdict:
        """What is told of an input that takes too long."""
        words = f"panic: test timed out after {self._settings.seconds:g}s"
        return from_report(f"{words}\n\ngoroutine 1 [running]:\n")

    def _told(self, report: str) -> Verdict:
        """What a report shows; a failed test names its file without a folder."""
        seen, package = from_report(report), self._test.package
        if seen.file and "/" not in seen.file and (package / seen.file).is_file():
            return replace(seen, file=str(package / seen.file))
        return seen

    def _put_with_crashes(self, path: Path, kind: str) -> Path:
        content = path.read_bytes() if path.is_file() else b""
        artifact = self._folder.crashes / f"{kind}-{name_of(content)}"
        if path.is_file():
            shutil.move(path, artifact)
        else:
            artifact.touch()
        self.skipped.add(name_of(content))
        self._corpus.drop(content)
        return artifact

    def _seen_again(self, artifact: Path) -> Verdict | None:
        """What ended a worker is only told by a run of its own; None where it shows nothing."""
        ending = self._run(artifact, lambda: False)
        if ending is None:
            return self.timed_out()
        return self._told(ending.output) if ending.status else None

    def _run(self, artifact: Path, is_over: Callable[[], bool]) -> Ending | None:
        """How the test ends on an input; None where it does not within its time."""
        name = "again"
        shutil.copyfile(artifact, self.place.inputs / name)
        words = [
            str(self._folder.program.absolute()),
            f"-test.run=^{self._test.function}$/^{name}$",
            f"-test.timeout={self._settings.seconds + 1:g}s",
        ]
        command = at(self.place.package, words, memory_limit(self._settings))
        process = FuzzingProcess(command, {}, self._folder.scratch)
        deadline = time.monotonic() + self._settings.seconds + GRACE
        while (ending := process.ending()) is None and time.monotonic() < deadline:
            if is_over():
                break
            wait_for_any([process], 0.1)
        if ending is None:
            process.kill()
        (self.place.inputs / name).unlink(missing_ok=True)
        return ending


def memory_limit(settings: GoSettings) -> str:
    """A word for the shell: Go reserves far more addresses than it uses, so these do not count."""
    return f"ulimit -d {settings.memory_mib * 1024}; "
