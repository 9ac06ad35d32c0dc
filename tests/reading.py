"""What tests read of a campaign in a folder, in one call each."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.store.contract import BugTime
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import CampaignState, DecisionState, TargetHistory


def read_state(folder: Path) -> CampaignState:
    return open_reader(folder).state()


def state_so_far(folder: Path) -> CampaignState | None:
    """The same of a campaign that may only be about to begin."""
    try:
        return read_state(folder)
    except BadInput:
        return None


def read_history(folder: Path, points: int = 400) -> tuple[TargetHistory, ...]:
    return open_reader(folder).history(points)


def read_decisions(folder: Path, target: str = "", last: int = 50) -> tuple[DecisionState, ...]:
    return open_reader(folder).decisions(target, last)


def read_observations(folder: Path) -> dict[str, Observation]:
    return open_reader(folder).observations()


def read_bug_times(folder: Path) -> tuple[BugTime, ...]:
    return open_reader(folder).bug_times()
