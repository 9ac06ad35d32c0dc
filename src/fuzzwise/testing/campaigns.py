"""Campaigns that the check of stores makes, to write them and to read them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fuzzwise.store.contract import Added, FinishedTurn, Reader, Store
from fuzzwise.store.states import Stopped, TargetState
from fuzzwise.testing.broken import Contract
from fuzzwise.testing.samples import WHY, A, sample_run

A_STORE = Contract("A store")
OVER = Stopped("time-budget", "The time is over.")

OpenStore = Callable[[Path], AbstractContextManager[Store]]
OpenReader = Callable[[Path], Reader]


class Given:
    """What is checked."""

    def __init__(self, open_store: OpenStore, open_reader: OpenReader, folder: Path) -> None:
        self.open = open_store
        self.reader = open_reader
        self._folder = folder

    def campaign(self, name: str) -> Path:
        """The folder of a campaign."""
        home = self._folder / name
        home.mkdir(parents=True, exist_ok=True)
        return home

    @contextmanager
    def begun(self, name: str) -> Iterator[tuple[Store, Reader]]:
        """A store in which a run is begun, and a reader of the same campaign."""
        home = self.campaign(name)
        with self.open(home) as store:
            store.begin_run(sample_run())
            yield store, self.reader(home)


def shown_of(reader: Reader, name: str = A) -> TargetState:
    """What a reader shows of a target."""
    return next(target for target in reader.state().targets if target.name == name)


def epoch(store: Store, at: float, target: str, turn: FinishedTurn) -> Added:
    """A whole epoch of a target; what it added."""
    return store.finish_epoch(store.start_epoch(at - 1, target, WHY), at, turn)
