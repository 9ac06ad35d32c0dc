"""From the start of a target to its first input: how long that may take, and what is said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STARTUP = 30.0
"""Seconds that a target has, unless it is told otherwise, to run its first input.

Large programs with sanitizers take a few seconds to start, harnesses that import much some ten."""

SOON = 5.0
"""Seconds without an input after which it is told that the target is being waited for."""

LOADING = 60.0
"""Seconds that a target has at least to get through its corpus, however short the turn."""

GRACE = 5.0
"""Seconds that the fuzzer has to end an input beyond its limit, and half of that, as libFuzzer
looks at the clock twice within it."""

EXECUTING = "executing its corpus"
"""What a target is doing that runs, but has more files to run than a turn is long."""

_HOW = "If it only needs longer, raise startup in [target.limits], or --startup of `fuzzwise fuzz`."


def overdue(seconds: float) -> float:
    """Seconds after which an input with such a limit is ended from outside."""
    return 1.5 * seconds + GRACE


def no_input(program: Path, seconds: float, likely: str) -> str:
    """Why a target is given up that has run nothing; ``likely`` says where it may be stuck."""
    end = "" if likely.endswith("?") else "."
    return f"{program} has run no input within {seconds:g} s of its start: {likely}{end} {_HOW}"


def slow_to_load(program: Path, seconds: float) -> str:
    """Why a harness is given up that is still being loaded."""
    return (
        f"{program} takes longer than {seconds:g} s to load: is there a loop, or a wait, in what "
        f"it does when it is imported? {_HOW}"
    )


@dataclass
class Start:
    """How far a target has come since it was started, as somebody sees who looks now and then.

    ``executed`` counts all that it ran, files of the corpus included; ``made`` the inputs that the
    fuzzer made. Both begin at 0 with the turn.
    """

    limit: float
    executed: int = 0
    made: int = 0
    waited: float = 0.0
    """Seconds since it last ran something, but for those in which a busy machine gave it no core:
    these are no fault of the target."""
    files: int = 0
    """Files that it was given; 0 where that is not known."""
    through: int = 0
    """How many of them it has executed, as far as it has told."""

    def look(self, passed: float, executed: int, made: int, no_core: float = 0.0) -> None:
        """So many seconds later; in ``no_core`` of them it could have run, and had no core."""
        waited = self.waited + max(0.0, passed - no_core)
        self.waited = 0.0 if executed > self.executed else waited
        self.executed, self.made = executed, made

    @property
    def is_stuck(self) -> bool:
        """Whether it has had its time, and the fuzzer has still made nothing."""
        return not self.made and self.waited >= self.limit

    @property
    def doing(self) -> str:
        """What is to be told of it; "" once the fuzzer makes inputs."""
        if self.made:
            return ""
        if not self.executed:
            return "starting: it has run no input yet"
        if not self.files:
            return EXECUTING
        return f"{EXECUTING}: {min(self.through, self.files):,} of {self.files:,} files"

    @property
    def warning(self) -> str:
        """What is to be told of one that is slow; the same words as long as it is so."""
        if self.made or self.executed or self.waited < SOON:
            return ""
        return (
            f"has run no input for {SOON:g} s since it was started; without one after "
            f"{self.limit:g} s it counts as broken"
        )
