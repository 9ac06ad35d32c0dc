"""Where turns run, in one file: read this first to write another executor.

The manager decides which target gets the next turn; an executor has the sessions, and the cores
they run on. What holds:

- *Capacity.* ``free`` is how many cores can be given out. A turn takes as many as it says, from
  ``start`` until it is about to end, ``ahead`` seconds before that at most; at the latest until its
  result was handed out. One that is started on cores that are not left yet waits for them: its time
  begins when it has them.
- *Every turn has one result*, in whichever order they come: totals, or a sentence about what is
  wrong with the target, or that it was ``lost``. A lost turn says nothing about its target: where
  it ran is gone, and the target is given out again.
- *On time.* A turn ends when its time is over; the executor sees to that, whatever the target does.
  ``interrupt`` asks all turns to end now, and their results come soon.
- *Tokens.* A turn carries the number of its epoch. A result for an epoch that is over, or a second
  one for the same, is never handed out.
- *News.* What happens to where turns run is told in sentences, each once.
- *Threads.* One thread, the manager's, calls all of this.

``fuzzwise.testing.check_executor`` holds an executor to all of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fuzzwise.engines.contract import Totals


@dataclass(frozen=True)
class Turn:
    """An epoch to be run: which target, how long, on how many cores."""

    target: str
    epoch: int
    seconds: float
    cores: int


@dataclass(frozen=True)
class Result:
    """What came of a turn: totals, or a sentence about what went wrong with the target.

    ``lost``: nobody knows, and nobody will; neither says anything then. ``took``: seconds for which
    it had its cores.
    """

    turn: Turn
    totals: Totals | None = None
    problem: str = ""
    lost: bool = False
    took: float = 0.0


class Executor(Protocol):
    """Runs turns: see the module's text for what holds."""

    @property
    def cores(self) -> int:
        """Cores that there are now."""
        ...

    @property
    def ahead(self) -> float:
        """Seconds before its end at which the cores of a turn count as free, at most."""
        ...

    @property
    def free(self) -> int:
        """Cores without work, or about to be; less than 0 where turns wait for some."""
        ...

    @property
    def running(self) -> Sequence[Turn]:
        """Turns whose results were not handed out yet."""
        ...

    def start(self, turn: Turn) -> None:
        """Begin a turn; its cores must be free."""
        ...

    def wait(self, seconds: float) -> list[Result]:
        """The results that are there, or the first that come within so many seconds.

        It may return sooner, without any, when there is something else to see.
        """
        ...

    def under_way(self, turn: Turn) -> float:
        """For how many seconds a turn has had its cores, as far as is known; 0 where it waits."""
        ...

    def totals(self, target: str) -> Totals | None:
        """What is known of a target now, also in the midst of a turn; None where nothing is."""
        ...

    def news(self) -> list[str]:
        """What has happened to where turns run since the last call, in sentences for people."""
        ...

    def interrupt(self) -> None:
        """Ask all turns to end."""
        ...

    def close(self, seconds: float) -> None:
        """Close all sessions, within so many seconds and a moment for those that have to hurry."""
        ...
