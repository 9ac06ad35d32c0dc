"""What the files of another fuzzer say at one moment."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise.model import Observation

FEW = 0.05
"""Share of the preferred seeds that may be untried: new ones come all the time."""

ENOUGH = 10
"""Seeds that have to be tried before they tell anything of the others."""


@dataclass(frozen=True)
class Untried:
    """Seeds that a fuzzer prefers (AFL++: favored): those it has not mutated yet, and all of them.

    Discoveries so far come from the others, so that the estimate is raised for what those that wait
    will show (``estimators.waiting``). ``tried``: all seeds that it has mutated, preferred or not;
    None where it does not say.
    """

    waiting: int
    preferred: int
    tried: int | None = None

    @property
    def share(self) -> float:
        """The share of the preferred seeds that waits."""
        return min(1.0, self.waiting / self.preferred)

    @property
    def are_many(self) -> bool:
        """Whether the estimate rests on what others showed, to a degree worth a warning."""
        return self.share > FEW

    @property
    def are_unknown(self) -> bool:
        """Whether too few were tried to tell anything of those that wait: no risk is accepted."""
        return self.are_many and (self.tried is None or self.tried < ENOUGH)

    def __str__(self) -> str:
        """What is so."""
        return (
            f"{self.waiting:,} of the {self.preferred:,} queue entries that AFL++ favors had not "
            "been mutated when it last said so (once a minute)"
        )


@dataclass(frozen=True)
class Process:
    """A fuzzer at work: its process, and the signal on which it ends cleanly."""

    pid: int
    stop_signal: signal.Signals = signal.SIGINT


@dataclass(frozen=True)
class Reading:
    """A campaign, as far as its files tell.

    ``kind``: "AFL++", "libFuzzer", "honggfuzz", "Centipede" or "fuzzwise". ``name``: for people;
    it may hold any character that a file's name can. ``observation``: inputs made by mutation,
    numbers of those that showed something new, over all restarts. ``corpus``, ``crashes``,
    ``hangs``: None where the files do not say. ``processes``: those that write these files now, as
    far as can be made sure. ``exact``: whether each discovery has the number of its input; else
    those between two lines of the file are spread evenly between them. ``untried``: None where the
    fuzzer chooses each seed anew, or does not say. ``notes``: sentences on what
    was corrected, left out, or cannot be known, in order of importance.
    """

    kind: str
    name: str
    path: Path
    observation: Observation
    version: str = ""
    corpus: int | None = None
    crashes: int | None = None
    hangs: int | None = None
    processes: tuple[Process, ...] = ()
    exact: bool = True
    untried: Untried | None = None
    notes: tuple[str, ...] = ()

    @property
    def with_waiting(self) -> Observation:
        """What was observed, with the share of preferred seeds that wait."""
        return replace(self.observation, waiting=self.untried.share if self.untried else None)
