"""Why a fuzz test cannot be fuzzed, in sentences; and how its processes ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.go.failures import SEED
from fuzzwise.engines.go.module import FuzzTest
from fuzzwise.engines.process import Ending
from fuzzwise.engines.starting import no_input
from fuzzwise.errors import BadInput
from fuzzwise.text import clean, printable
from fuzzwise.triage.examine import Verdict, from_report

FRUITLESS = 3
"""Processes in a row that were killed before they had made an input: it cannot be fuzzed."""

HOPELESS, SHORT = 20, 3
"""Processes in a row that failed within SHORT inputs each: the target is broken, not buggy.

Go's fuzzer ends at every failure, so that a bug that is easily hit leaves each of them few."""

_MOST_WORDS = 400


@dataclass(frozen=True)
class FailingSeed:
    """A seed in the source of the test on which it fails: what it shows, and what to do."""

    seen: Verdict
    words: str


class Lives:
    """How processes ended, one after the other, over all turns of a session."""

    def __init__(self) -> None:
        self.loaded = 0
        """How many seeds the latest one has run before it made inputs."""
        self._fruitless = self._short = 0

    def has_made_one(self) -> None:
        """The present process makes inputs."""
        self._fruitless = 0

    def failed(self, made: int, *, at_seed: bool = False) -> None:
        """A process ended by an input that fails; ``at_seed``: by a file that no other is given."""
        self._short = self._short + 1 if made <= SHORT and not at_seed else 0

    def killed(self, made: int) -> None:
        """A process was killed, by somebody or for want of memory."""
        self._fruitless = 0 if made else self._fruitless + 1

    def check(self, name: str, crashes: Path, made: int) -> None:
        """BadInput where one after the other is killed before it has made an input."""
        if self._fruitless >= FRUITLESS and not made:
            raise BadInput(
                f"{name} is killed, by itself or for want of memory, before it has made an input, "
                f"{self._fruitless} times in a row. What it showed is in {crashes}."
            )

    def check_hopeless(self, name: str, crashes: Path) -> None:
        """BadInput where one after the other fails after a few inputs."""
        if self._short >= HOPELESS:
            raise BadInput(
                f"{name} fails on nearly every input: {HOPELESS} processes in a row ended within "
                f"{SHORT} inputs each. The inputs are in {crashes}. Fix the first one, then "
                "run again."
            )


def failing_seed(test: FuzzTest, output: str) -> FailingSeed | None:
    """The seed in the source on which the test fails, where that is why a process ended."""
    seed = SEED.search(output)
    if seed is None:
        return None
    seen = from_report(output)
    name = printable(seed[1])
    return FailingSeed(
        seen,
        f"{test.function} in {test.package} fails on its own seed {name} ({seen.summary}): "
        "Go fuzzes only what passes all seeds of f.Add. Mend it, or take the seed out.",
    )


def explain(test: FuzzTest, ending: Ending) -> str:
    """Why a process ended that should not have."""
    lines = [line.strip() for line in clean(ending.output).splitlines()]
    own = [line for line in lines if line and not line.startswith(("fuzz: ", "DEBUG ", "FAIL"))]
    words = " ".join(" ".join(own).split())[-_MOST_WORDS:]
    how = f"signal {-ending.status}" if ending.status < 0 else f"status {ending.status}"
    said = f"Its last words: {printable(words)!r}" if words else "It said nothing."
    return f"{test.function} in {test.package} ended with {how} before it was fuzzed. {said}"


def stuck(test: FuzzTest, seconds: float) -> str:
    """Why a test is given up that has run nothing."""
    return no_input(
        test.package / test.function,
        seconds,
        "does it wait, or loop, on one of its seeds, or before f.Fuzz?",
    )
