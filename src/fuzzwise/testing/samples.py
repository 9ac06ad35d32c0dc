"""What the check of stores writes into them: runs, turns and bugs, made up and easy to recount."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzzwise.model import Estimate, Observation
from fuzzwise.store.contract import BugFound, Choice, FinishedTurn, RunEntry, TargetEntry
from fuzzwise.triage.bug_book import Bug

A, B = "a", "b"
"""The targets of every run."""

WHY = Choice("as the check has it", 0.5, B, 0.25)


def sample_run(name: str = "checked") -> RunEntry:
    """A run of two targets, one of which has coverage."""
    targets = (
        TargetEntry(A, "libfuzzer", True, "medium", 1e-4),
        TargetEntry(B, "black-box", False, "high", None),
    )
    return RunEntry(name, 600.0, 2, "risk-rate", 5.0, 0.95, targets)


def sample_turn(n: int, *bugs: BugFound, generation: str = "first") -> FinishedTurn:
    """Totals of n inputs: a tenth of a second and, every tenth, a discovery for each."""
    return FinishedTurn(
        generation=generation,
        inputs=n,
        seconds=n / 10,
        species=n + 7,
        discoveries=n // 10,
        corpus=3,
        crashes=sum(found.bug.count for found in bugs),
        risk=Estimate(1 / n, 0.5 / n, 2 / n, 0.95, "reset", n, "a note"),
        trend="falling",
        seconds_left=Estimate(12.0, None, None, None, "power law", n),
        warnings=("It is slow.",),
        observation=Observation(n, n / 10, discoveries=np.arange(1, n // 10 + 1)),
        bugs=bugs,
        seconds_to_decision=20.0,
        discovery_rate=0.125,
    )


def sample_bug(name: str, count: int = 1) -> BugFound:
    """A bug that was shown so many times, first by the fifth input."""
    bug = Bug(name, "SEGV", "read", ("f", "main"), count, (f"{name}/input",), 5, 0.5)
    return BugFound(bug, f"crashes/{name}/report", (f"crashes/{name}/input",), f"show {name}")


def counted_again(found: BugFound, count: int) -> BugFound:
    """The same bug, shown so many times by now."""
    return replace(found, bug=replace(found.bug, count=count))
