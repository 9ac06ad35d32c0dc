"""What the manager asks of an engine: fuzz this target for an epoch, and tell what it showed.

A session keeps the counts of its target in the target's folder, so that they survive the process.
Everything it tells is a total since those counts began, never a difference: who is told twice, or
misses a turn, counts nothing twice and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fuzzwise.model import Observation
from fuzzwise.triage.bug_book import Bug


@dataclass(frozen=True)
class Totals:
    """What is known of a target after a turn.

    ``generation`` names the counts: it changes when they had to begin again (a new build, damaged
    files), and totals of two generations do not add up. ``seconds`` is the time on a core that
    its turns have taken, ``bugs`` are all bugs of the target, of whatever generation.
    ``unsettled``: why a low risk is not to be accepted yet; the same words as long as it is so.
    """

    generation: str
    observation: Observation
    seconds: float
    corpus: int
    bugs: tuple[Bug, ...]
    crashes: int
    warnings: tuple[str, ...] = ()
    unsettled: str = ""


class Session(Protocol):
    """One target at work; made without side effects, errors come with the first turn.

    ``turn`` raises BadInput where the target cannot be fuzzed; the sentence says what is wrong.
    """

    @property
    def finds_coverage(self) -> bool:
        """Whether its species are coverage; those of others are bugs."""
        ...

    def totals(self) -> Totals | None:
        """What the folder knows, without running anything; None where there is nothing yet."""
        ...

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long, on so many cores."""
        ...

    def interrupt(self) -> None:
        """Called from another thread: end the present turn at once, and keep everything."""
        ...
