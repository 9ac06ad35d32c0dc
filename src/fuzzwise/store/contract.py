"""What goes into the store after a turn, and what a resumed campaign gets back from it."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.model import Estimate, Observation
from fuzzwise.triage.bug_book import Bug


@dataclass(frozen=True)
class BugFound:
    """A bug of a target; ``report`` and ``inputs`` are files relative to the campaign's folder."""

    bug: Bug
    report: str
    inputs: tuple[str, ...]
    command: str


@dataclass(frozen=True, eq=False)
class FinishedTurn:
    """Totals of a target, and what was concluded from them.

    ``inputs``, ``seconds`` and ``discoveries`` are totals of the generation, ``bugs`` all bugs of
    the target so far with absolute counts.
    """

    generation: str
    inputs: int
    seconds: float
    species: int
    discoveries: int
    corpus: int
    crashes: int
    risk: Estimate | None
    trend: str
    seconds_left: Estimate | None
    warnings: tuple[str, ...]
    observation: Observation
    bugs: tuple[BugFound, ...]


@dataclass(frozen=True)
class Added:
    """What the totals of a turn added to those before.

    ``fresh_bugs`` are new to the target, ``new_bugs`` to the whole campaign.
    """

    inputs: int = 0
    seconds: float = 0.0
    discoveries: int = 0
    fresh_bugs: tuple[str, ...] = ()
    new_bugs: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetMemory:
    """What a resumed campaign must know of a target.

    ``inputs`` and ``seconds`` are those of all generations, ``discoveries`` those of the present
    one. ``bugs``: shown by it; ``new_bugs``: shown by it first; ``singletons``: with one crash.
    ``discovery_rate``: discoveries to expect a second, the risk times inputs a second; 0 where
    nothing is known. ``in_flight``: it was being fuzzed when an earlier run was killed, and
    nothing was heard of it since. ``signature``: of its files when it left the schedule.
    """

    state: str
    reason: str
    detail: str
    generation: str
    inputs: int
    seconds: float
    species: int
    discoveries: int
    looked: int
    looked_high: float | None
    bugs: int
    new_bugs: int
    singletons: int
    discovery_rate: float
    in_flight: bool
    finds_coverage: bool
    engine: str
    corpus: int = 0
    signature: str = ""


@dataclass(frozen=True)
class BugTime:
    """When a target first showed a bug: the campaign's clock, its own inputs, its own time."""

    target: str
    bug: str
    at: float
    after_inputs: int
    after_seconds: float
