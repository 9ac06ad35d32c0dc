"""A campaign as the store knows it: what the live view, ``status`` and ``report`` show.

Times called ``at`` are seconds of the campaign: its running time up to then, over all runs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.model import Estimate, Floats, Ints

ALONE = "none"
"""In place of a scheduler, where there is nothing to schedule: a campaign of ``fuzzwise fuzz``."""

WAITING, FUZZING, RETIRED, BROKEN = "waiting", "fuzzing", "retired", "broken"
"""The states of a target: not now; an epoch is running; risk accepted; cannot be fuzzed."""


@dataclass(frozen=True)
class BugState:
    """A bug of the campaign: crashes with one stack hash, in whichever targets.

    ``inputs`` are files, relative to the campaign's folder, the one that shows it first; ``report``
    is the file with the crash report; ``command`` a line for the shell that shows the bug.
    ``at``, ``after_inputs`` and ``after_seconds``: when it was first shown, by the campaign's
    clock, the inputs and the own time of the target that showed it first. ``flaky``: whether its
    input does not show it every time; None where nobody has tried.
    """

    id: str
    kind: str
    severity: str
    frames: tuple[str, ...]
    summary: str
    file: str
    line: int | None
    target: str
    targets: tuple[str, ...]
    crashes: int
    inputs: tuple[str, ...]
    report: str
    command: str
    at: float
    after_inputs: int
    after_seconds: float
    flaky: bool | None = None


@dataclass(frozen=True)
class BuildState:
    """One build of a target that has several, as of the target's latest finished epoch.

    ``discoveries`` are its own, ``imported`` the files that it was given from the others.
    """

    engine: str
    inputs: int
    seconds: float
    discoveries: int
    imported: int
    risk: Estimate | None


@dataclass(frozen=True)
class TargetState:
    """A target as of its latest finished epoch.

    ``seconds`` is time on cores, ``share_of_time`` its part of all that was spent. ``species`` are
    coverage features, or bugs for a black box (``finds_coverage`` tells). ``seconds_left`` is the
    time on a core until the accepted risk, ``seconds_to_decision`` until the stop rule can say so,
    which needs to be sure. ``reason`` and ``detail`` say why it is retired or
    broken. ``trend`` is falling, level, rising or "". ``stability`` is the share of its coverage
    that is the same when an input runs again, None where that is not known. ``builds`` are those of
    a target that has several: the risk is the highest of theirs.
    """

    name: str
    engine: str
    finds_coverage: bool
    state: str
    reason: str
    detail: str
    share: str
    accepted_risk: float | None
    epochs: int
    inputs: int
    seconds: float
    share_of_time: float
    species: int
    discoveries: int
    corpus: int
    risk: Estimate | None
    trend: str
    seconds_left: Estimate | None
    seconds_to_decision: float | None
    bugs: tuple[str, ...]
    crashes: int
    warnings: tuple[str, ...]
    stability: float | None = None
    builds: tuple[BuildState, ...] = ()

    @property
    def inputs_per_second(self) -> float:
        """Inputs a second of time on a core; 0 before the first."""
        return self.inputs / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class EventState:
    """Something that happened once and is worth a sentence: a retirement, a broken target."""

    at: float
    kind: str  # bug, retired, returned, broken, warning, resumed, recovered, stopped
    target: str  # "" for the campaign itself
    detail: str


@dataclass(frozen=True)
class DecisionState:
    """Why a target got an epoch, and what came of it; results are None while it runs.

    ``belief`` is what the scheduler expected of it (None where it had no belief yet: ``reason``
    says why it was its turn), ``other`` the next best target and what was expected of that one.
    """

    at: float
    target: str
    reason: str
    belief: float | None
    other: str
    other_belief: float | None
    seconds: float | None
    inputs: int | None
    discoveries: int | None
    new_bugs: int | None


@dataclass(frozen=True)
class EpochState:
    """An epoch on the time line; ``ended`` and what came of it are None while it runs."""

    number: int
    began: float
    ended: float | None
    target: str
    discoveries: int | None
    new_bugs: int | None


@dataclass(frozen=True)
class Stretch:
    """Epochs of a part of the campaign's time, in the order they began.

    ``whole``: all of them; if not, there were too many, and these are spread evenly over them.
    """

    epochs: tuple[EpochState, ...]
    whole: bool


@dataclass(frozen=True)
class Stopped:
    """Why the latest run ended: a word for programs, a sentence for people."""

    reason: str  # all-retired, time-budget, interrupted, nothing-to-fuzz, killed
    detail: str


@dataclass(frozen=True)
class CampaignState:
    """The whole campaign; ``running`` tells whether a process is at work on it now.

    ``stopped`` is None while it runs, and "killed" where the last run ended without a word.
    ``own_seconds``: time on cores of the processes that ran it, all of fuzzwise itself and nothing
    of its targets; None where that was not kept.
    ``store`` is the address of its store, "" where that is in the folder. ``host`` is the machine
    that has the folder, where that is not this one: none of the files that are named are here then.
    """

    folder: Path
    name: str
    running: bool
    budget: float | None
    seconds: float
    cores: int
    scheduler: str
    epoch: float
    confidence: float
    epochs: int
    targets: tuple[TargetState, ...]
    bugs: tuple[BugState, ...]
    events: tuple[EventState, ...]
    stopped: Stopped | None
    own_seconds: float | None = None
    store: str = ""
    host: str = ""

    @property
    def files(self) -> Path:
        """The folder to read its files from; nothing is to be found in it, where they are not here.

        Another machine's path may lead to anything on this one.
        """
        return Path(os.devnull) if self.host else self.folder


@dataclass(frozen=True, eq=False)
class TargetHistory:
    """A target over time: one element for each kept epoch of the present counts, in order.

    ``at`` and ``seconds`` are the campaign's clock and the target's own time at the end of the
    epoch, ``inputs`` and the others what was known then; risk is NaN where there was none.
    """

    name: str
    at: Floats
    seconds: Floats
    inputs: Ints
    species: Ints
    discoveries: Ints
    risk: Floats
    low: Floats
    high: Floats
