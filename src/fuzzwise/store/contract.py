"""What a store is to the rest, in one file: read this first to write one.

A store keeps a campaign: its runs, its targets, every epoch with the decision behind it, bugs and
events. One ``Store`` writes, any number of ``Reader`` read. What holds:

- *Durable.* What a method of the store has returned from is kept, also if the machine goes down
  right after. A method that raises has changed nothing; ``StoreFull`` says that there is no space,
  and the same call may be made again. So ``start_epochs`` and ``finish_epochs`` keep all that they
  are given or nothing of it, and readers see none of it or all.
- *Absolute.* ``finish_epochs`` and ``recover`` are given totals. What they add is the difference to
  the totals of the same generation before; totals that are told twice, or late, add nothing. An
  epoch ends once: to finish it again adds nothing.
- *Many at once.* Several epochs in one call are the same as one by one, in that order, and cheaper:
  a campaign on a thousand cores ends hundreds in a second.
- *One writer.* A campaign has one store at a time, and one thread uses it. Who opens it while
  another has it is refused, or takes over and the other is refused from then on.
- *Readers* never wait for the writer, nor it for them. All that one call of a reader tells belongs
  to one moment, and that moment is no earlier than the latest write before the call.
- *Damage* is never repaired by guessing and never deleted: it is put aside, ``notes`` says so, and
  what the folders of the targets hold is counted again.

``fuzzwise.testing.check_store`` holds a store to all of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from fuzzwise.errors import BadInput
from fuzzwise.model import Estimate, Observation
from fuzzwise.store.states import (
    BuildState,
    CampaignState,
    DecisionState,
    Stopped,
    Stretch,
    TargetHistory,
)
from fuzzwise.triage.bug_book import Bug


class StoreFull(BadInput):
    """There is no space for the campaign's store; nothing of the change was kept."""


class Damaged(BadInput):
    """The store cannot be read as one."""


@dataclass(frozen=True)
class TargetEntry:
    """A target as the store knows it: what the views tell of it."""

    name: str
    engine: str
    finds_coverage: bool
    share: str
    accepted_risk: float | None


@dataclass(frozen=True)
class RunEntry:
    """A run of a campaign; ``budget`` is until when it may run, in seconds of the campaign."""

    name: str
    budget: float | None
    cores: int
    scheduler: str
    epoch: float
    confidence: float
    targets: tuple[TargetEntry, ...]


@dataclass(frozen=True)
class Choice:
    """Why a target gets an epoch.

    ``belief`` is what the scheduler expected of it, ``other`` the next best target ("" for none)
    and ``other_belief`` what was expected of that one; None where there was no belief.
    """

    reason: str
    belief: float | None = None
    other: str = ""
    other_belief: float | None = None


@dataclass(frozen=True)
class BugFound:
    """A bug of a target; ``report`` and ``inputs`` are files relative to the campaign's folder."""

    bug: Bug
    report: str
    inputs: tuple[str, ...]
    command: str


@dataclass(frozen=True, eq=False)
class FinishedTurn:
    """Totals of a target, and the judgement that was made of them.

    ``inputs``, ``seconds`` and ``discoveries`` are totals of the generation, ``bugs`` all bugs of
    the target so far with absolute counts. ``seconds_to_decision``: until the stop rule can say
    stop, None where that is not known; ``discovery_rate``: discoveries to expect in a second;
    ``stability``: see ``Totals``; ``builds``: each build of a target that has several. ``looked``:
    what else ``set_looked`` is told, where the stop rule had a look.
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
    seconds_to_decision: float | None = None
    discovery_rate: float | None = None
    stability: float | None = None
    builds: tuple[BuildState, ...] = ()
    looked: tuple[int, float | None] | None = None


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
    ``discovery_rate``: discoveries to expect in a second, as it was judged; 0 where nothing is
    known. ``in_flight``: it was being fuzzed when an earlier run was killed, and
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


class Store(Protocol):
    """The writing side; times called ``at`` are seconds of the campaign."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was damaged and put aside."""
        ...

    def __enter__(self) -> Self:
        """Hold the campaign."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Let go of it."""
        ...

    def has_runs(self) -> bool:
        """Whether the campaign was begun."""
        ...

    def has_ended(self) -> bool:
        """Whether the latest run said why it ended; one that was killed, or was never, did not."""
        ...

    def seconds(self) -> float:
        """Seconds of the campaign so far, over all runs."""
        ...

    def begin_run(self, run: RunEntry) -> None:
        """A new run of the campaign; epochs that an earlier one left under way are lost."""
        ...

    def end_run(self, seconds: float, stopped: Stopped) -> None:
        """Save why the run ended."""
        ...

    def tick(self, seconds: float) -> None:
        """Save the campaign's clock; it never goes back."""
        ...

    def start_epoch(self, at: float, target: str, choice: Choice) -> int:
        """A target gets an epoch; the number of the epoch."""
        ...

    def start_epochs(self, at: float, choices: Sequence[tuple[str, Choice]]) -> tuple[int, ...]:
        """Targets get an epoch each; the numbers of the epochs, which grow."""
        ...

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        """What came of an epoch that was under way; one that has ended already adds nothing."""
        ...

    def fail_epoch(self, epoch: int, at: float) -> None:
        """An epoch of which nothing came."""
        ...

    def finish_epochs(
        self, at: float, turns: Mapping[int, FinishedTurn | None]
    ) -> dict[int, Added]:
        """What came of epochs, by their numbers; None where nothing did."""
        ...

    def recover(self, at: float, target: str, turn: FinishedTurn) -> Added:
        """Totals that an earlier, killed run left behind: an epoch, if there is news in them."""
        ...

    def set_state(self, target: str, state: str, reason: str, detail: str) -> None:
        """A target is now waiting, retired or broken, and why."""
        ...

    def set_looked(self, target: str, n: int, high: float | None) -> None:
        """The stop rule's last look at a target: after how many inputs, the risk's upper end."""
        ...

    def set_signature(self, target: str, signature: str) -> None:
        """What the files of a target were when it left the schedule: others bring it back."""
        ...

    def event(self, at: float, kind: str, target: str, detail: str) -> None:
        """Something that is worth a sentence."""
        ...

    def memory(self) -> dict[str, TargetMemory]:
        """What a resumed campaign must know of each target, by name."""
        ...

    def state(self) -> CampaignState:
        """The campaign as it is now."""
        ...


class Reader(Protocol):
    """The reading side, for any process, also while the campaign runs."""

    def is_running(self) -> bool:
        """Whether somebody runs the campaign now."""
        ...

    def state(self) -> CampaignState:
        """The campaign as it is now."""
        ...

    def history(self, points: int = 400, target: str = "") -> tuple[TargetHistory, ...]:
        """Each target over time: at most so many epochs, the first and the last among them.

        Of one target, if it is named; of none, if there is none of that name.
        """
        ...

    def decisions(self, target: str = "", last: int = 50) -> tuple[DecisionState, ...]:
        """The latest decisions, of one target or of all; newest last."""
        ...

    def observations(self) -> dict[str, Observation]:
        """The latest observation of each target that has one."""
        ...

    def bug_times(self) -> tuple[BugTime, ...]:
        """When each target first showed each of its bugs, in the order of first sight."""
        ...

    def stretch(self, start: float, end: float, most: int = 1000) -> Stretch:
        """The epochs between two moments of the campaign, or as many of them as is asked for."""
        ...
