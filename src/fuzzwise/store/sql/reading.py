"""What other processes read of a campaign, also while it runs."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, select

from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.store.contract import BugTime
from fuzzwise.store.sql.migrations import STEPS, check_version, version_of
from fuzzwise.store.sql.observations import unpack
from fuzzwise.store.sql.schema import bugs, epochs, generations, observations, targets
from fuzzwise.store.sql.states import PRESENT_COUNTS, no_campaign, state_of
from fuzzwise.store.sqlite import FILE, open_for_reading, sentences
from fuzzwise.store.states import CampaignState, DecisionState, TargetHistory

LOCK = "lock"
"""The file in a campaign's folder that the running manager holds an exclusive lock on (flock)."""


def read_state(folder: Path) -> CampaignState:
    """The campaign in a folder as it is now."""
    with _reader(folder) as connection:
        return state_of(connection, folder, is_running(folder))


def is_running(folder: Path) -> bool:
    """Whether a manager holds the lock of the folder."""
    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def read_history(folder: Path, points: int = 400) -> tuple[TargetHistory, ...]:
    """Each target over time: at most so many epochs, the first and the last always among them.

    They are spread evenly on the logarithm of the inputs. The database looks each of them up in
    an index, so that the time needed does not grow with the number of epochs.
    """
    with _reader(folder) as connection:
        query = (
            select(targets.c.name, generations.c.id)
            .outerjoin(generations, PRESENT_COUNTS)
            .where(targets.c.present)
            .order_by(targets.c.position)
        )
        return tuple(
            _history(name, _kept(connection, counts, max(2, points)))
            for name, counts in connection.execute(query).all()
        )


def read_decisions(folder: Path, target: str = "", last: int = 50) -> tuple[DecisionState, ...]:
    """The latest decisions, of one target or of all; newest last."""
    other = targets.alias("other")
    results = (epochs.c.seconds, epochs.c.inputs, epochs.c.discoveries, epochs.c.new_bugs)
    query = (
        select(
            *(epochs.c.began, targets.c.name, epochs.c.reason, epochs.c.belief),
            *(func.coalesce(other.c.name, ""), epochs.c.other_belief, *results),
        )
        .join(targets, targets.c.id == epochs.c.target_id)
        .outerjoin(other, other.c.id == epochs.c.other_id)
        .order_by(epochs.c.id.desc())
        .limit(last)
    )
    with _reader(folder) as connection:
        if target:
            known = connection.scalar(select(targets.c.id).where(targets.c.name == target))
            if known is None:
                raise BadInput(f"The campaign in {folder} has no target {target!r}.")
            query = query.where(epochs.c.target_id == known)
        return tuple(DecisionState(*row) for row in reversed(connection.execute(query).all()))


def read_observations(folder: Path) -> dict[str, Observation]:
    """The latest observation of each target that has one."""
    query = (
        select(targets.c.name, observations.c.content)
        .join(targets, targets.c.id == observations.c.target_id)
        .where(targets.c.present)
        .order_by(targets.c.position)
    )
    with _reader(folder) as connection:
        return {name: unpack(content) for name, content in connection.execute(query)}


def read_bug_times(folder: Path) -> tuple[BugTime, ...]:
    """When each target first showed each of its bugs, in the order of first sight."""
    when = (bugs.c.at, bugs.c.after_inputs, bugs.c.after_seconds)
    query = (
        select(targets.c.name, bugs.c.bug, *when)
        .join(targets, targets.c.id == bugs.c.target_id)
        .where(targets.c.present)
        .order_by(bugs.c.at, bugs.c.id)
    )
    with _reader(folder) as connection:
        return tuple(BugTime(*row) for row in connection.execute(query))


@contextmanager
def _reader(folder: Path) -> Iterator[Connection]:
    """A connection in a transaction: all that it reads belongs to one moment."""
    path = folder / FILE
    if not path.is_file():
        raise no_campaign(folder)
    with sentences(path), open_for_reading(path) as connection, connection.begin():
        version = version_of(connection)
        check_version(version, path)
        if version == 0:
            raise no_campaign(folder)
        if version < len(STEPS):
            raise BadInput(
                f"{path} was written by an older fuzzwise. Run the campaign once more with this "
                "one, which brings the file up to date, or read it with the older one."
            )
        yield connection


_Rows = Sequence[Sequence[Any]]

_SHOWN = (
    *(epochs.c.ended, epochs.c.total_seconds, epochs.c.total_inputs, epochs.c.total_species),
    *(epochs.c.total_discoveries, epochs.c.risk, epochs.c.risk_low, epochs.c.risk_high),
)
_OF_COUNTS = epochs.c.generation_id == bindparam("counts")
_BY_INPUTS = (epochs.c.total_inputs, epochs.c.id)
_GRID = func.json_each(bindparam("grid")).table_valued("value")
_NEAREST = (
    select(epochs.c.id)
    .where(_OF_COUNTS, epochs.c.total_inputs >= _GRID.c.value)
    .order_by(*_BY_INPUTS)
    .limit(1)
    .correlate(_GRID)
    .scalar_subquery()
)


def _kept(connection: Connection, counts: int | None, points: int) -> _Rows:
    """The rows of a generation that are shown, by inputs."""
    if counts is None:
        return []
    of_counts = {"counts": counts}
    whole = select(*_SHOWN).where(_OF_COUNTS).order_by(*_BY_INPUTS).limit(points + 1)
    rows = connection.execute(whole, of_counts).all()
    if len(rows) <= points:
        return rows
    ends = select(func.min(epochs.c.total_inputs), func.max(epochs.c.total_inputs))
    low, high = connection.execute(ends.where(_OF_COUNTS), of_counts).one()
    grid = [low, *np.geomspace(max(low, 1), max(high, 1), points - 1)[1:].round().tolist()]
    chosen = select(_NEAREST).select_from(_GRID)
    picked = connection.scalars(chosen, of_counts | {"grid": json.dumps(grid)}).all()
    last = select(epochs.c.id).where(_OF_COUNTS).order_by(*(c.desc() for c in _BY_INPUTS)).limit(1)
    ids = {*picked, connection.scalar(last, of_counts)} - {None}
    shown = select(*_SHOWN).where(epochs.c.id.in_(ids)).order_by(*_BY_INPUTS)
    return connection.execute(shown).all()


def _history(name: str, rows: _Rows) -> TargetHistory:
    columns = list(zip(*rows, strict=True)) or [()] * len(_SHOWN)
    at, seconds, inputs, species, discoveries, risk, low, high = columns
    return TargetHistory(
        name,
        at=np.array(at, np.float64),
        seconds=np.array(seconds, np.float64),
        inputs=np.array(inputs, np.int64),
        species=np.array(species, np.int64),
        discoveries=np.array(discoveries, np.int64),
        # None, for a risk that was not known, becomes NaN.
        risk=np.array(risk, np.float64),
        low=np.array(low, np.float64),
        high=np.array(high, np.float64),
    )
