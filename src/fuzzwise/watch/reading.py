"""What the files of another fuzzer say at one moment."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise.engines.aflplusplus.stats import Untried
from fuzzwise.model import Observation


@dataclass(frozen=True)
class Process:
    """A fuzzer at work: its process, and the signal on which it ends cleanly."""

    pid: int
    stop_signal: signal.Signals = signal.SIGINT


@dataclass(frozen=True)
class Reading:
    """A campaign, as far as its files tell.

    ``kind``: "AFL++", "libFuzzer", "honggfuzz", "Centipede", "go test" or "fuzzwise". ``name``: for
    people; it may hold any character that a file's name can. ``observation``: inputs made by
    mutation, numbers of those that showed something new, over all restarts. ``corpus``,
    ``crashes``, ``hangs``: None where the files do not say. ``processes``: those that write these
    files now, as far as can be made sure. ``exact``: whether each discovery has the number of its
    input; else those between two lines of the file are spread evenly between them. ``untried``:
    None where the fuzzer chooses each seed anew. ``stability``: the share of coverage that is the
    same when an input runs again, None where the files do not say. ``said_the_end``: whether the
    files have the fuzzer's last words; another may have been started since. ``notes``: sentences on
    what was corrected, left out, or cannot be known, in order of importance.
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
    stability: float | None = None
    said_the_end: bool = False
    notes: tuple[str, ...] = ()

    @property
    def with_waiting(self) -> Observation:
        """What was observed, with the share of preferred seeds that wait."""
        if self.untried is None:
            return self.observation
        return replace(self.observation, waiting=self.untried.share, tried=self.untried.tried)
