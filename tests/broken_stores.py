"""Stores and readers of which each breaks one clause of the contract, and is sound otherwise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fuzzwise.store.contract import Added, Choice, FinishedTurn, TargetMemory
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import CampaignState, Stretch

WHY = Choice("why")


class Passing:
    """All of a store, with something changed in a subclass."""

    def __init__(self, store: Any, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.target_of: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def start_epoch(self, at: float, target: str, choice: Choice) -> int:
        number: int = self.store.start_epoch(at, target, choice)
        self.target_of[number] = target
        return number


class EndsTwice(Passing):
    """An epoch that has ended can be finished again."""

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        added: Added = self.store.finish_epoch(epoch, at, turn)
        return added if added != Added() else self.store.recover(at, self.target_of[epoch], turn)


class Sums(Passing):
    """Takes totals for what a turn has added."""

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        added = self.store.finish_epoch(epoch, at, turn)
        return replace(added, inputs=turn.inputs)


class OneByOne(Passing):
    """Starts epochs one by one, also where it comes to one that it has to refuse."""

    def start_epochs(self, at: float, choices: Any) -> tuple[int, ...]:
        return tuple(self.start_epoch(at, target, choice) for target, choice in choices)


class Backwards(Passing):
    """Takes the last of several epochs first."""

    def finish_epochs(self, at: float, turns: dict[int, Any]) -> dict[int, Added]:
        found: dict[int, Added] = self.store.finish_epochs(at, dict(reversed(turns.items())))
        return found


class Recovers(Passing):
    """Makes an epoch of totals that are known."""

    def recover(self, at: float, target: str, turn: FinishedTurn) -> Added:
        return self.store.finish_epoch(self.store.start_epoch(at, target, WHY), at, turn)


class CountsBugsTwice(Passing):
    """What is new to a target counts as new to the campaign."""

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        added = self.store.finish_epoch(epoch, at, turn)
        return replace(added, new_bugs=added.fresh_bugs)


class Unlooking(Passing):
    """Forgets the stop rule's last look."""

    def set_looked(self, target: str, n: int, high: float | None) -> None:
        pass


class Careless(Passing):
    """Forgets what a killed run was at."""

    def memory(self) -> dict[str, TargetMemory]:
        known = self.store.memory()
        return {name: replace(kept, in_flight=False) for name, kept in known.items()}


class TurnsBack(Passing):
    """Its clock is set to whatever it is told."""

    told = 0.0

    def tick(self, seconds: float) -> None:
        self.store.tick(seconds)
        self.told = seconds

    def seconds(self) -> float:
        return self.told or self.store.seconds()


class Lazy(Passing):
    """Writes an event only with the next call."""

    waiting: tuple[Any, ...] = ()

    def event(self, *words: Any) -> None:
        self.waiting = words

    def tick(self, seconds: float) -> None:
        self.store.event(*self.waiting)
        self.store.tick(seconds)


class Stale:
    """A reader that sees the campaign as it first was."""

    def __init__(self, folder: Path) -> None:
        self.reader = open_reader(folder)
        self.is_running = self.reader.is_running

    @cache  # noqa: B019
    def state(self) -> CampaignState:
        return self.reader.state()


class Torn:
    """A reader that tells of bugs as of another moment than of epochs."""

    def __init__(self, folder: Path) -> None:
        self.reader = open_reader(folder)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def state(self) -> CampaignState:
        state = self.reader.state()
        return replace(state, bugs=state.bugs[:10])


class Sorted(Torn):
    """A reader that sorts events by their times."""

    def state(self) -> CampaignState:
        state = self.reader.state()
        return replace(state, events=tuple(sorted(state.events, key=lambda event: event.at)))


class Sampling(Torn):
    """A reader that leaves out epochs of the time line, and says that these are all."""

    def stretch(self, start: float, end: float, most: int = 1000) -> Stretch:
        found = self.reader.stretch(start, end, most)
        return replace(found, epochs=found.epochs[::2])
