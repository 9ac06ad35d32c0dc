"""What other processes read of a campaign, also while it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import JSON, BigInteger, Connection, Select, Text, bindparam, cast, func, select

from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.store.contract import BugTime
from fuzzwise.store.sql.database import Source
from fuzzwise.store.sql.observations import unpack
from fuzzwise.store.sql.schema import bugs, epochs, generations, observations, targets
from fuzzwise.store.sql.soundness import Unsound, check_epochs
from fuzzwise.store.sql.states import OF_STATE, PRESENT_COUNTS, state_of
from fuzzwise.store.sql.stretches import stretch_of
from fuzzwise.store.states import CampaignState, DecisionState, Stretch, TargetHistory
from fuzzwise.validation import problems


class SqlReader:
    """Reads a campaign from its database; each call sees one moment of it."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def is_running(self) -> bool:
        """Whether somebody runs the campaign now."""
        return self._source.is_running()

    def state(self) -> CampaignState:
        """The campaign as it is now."""
        with self._source.connected(*OF_STATE) as connection:
            home = self._source.home(connection)
            state = state_of(connection, home.folder, home.running)
            return replace(state, store=home.store, host=home.host)

    def history(self, points: int = 400, target: str = "") -> tuple[TargetHistory, ...]:
        """Each target over time: at most so many epochs, the first and the last always among them.

        Of one target, if it is named.

        They are spread evenly on the logarithm of the inputs. The database looks each of them up in
        an index, so that the time needed does not grow with the number of epochs.
        """
        with self._source.connected(targets.c.name, generations.c.id) as connection:
            query = (
                select(targets.c.name, generations.c.id)
                .outerjoin(generations, PRESENT_COUNTS)
                .where(targets.c.present)
                .order_by(targets.c.position)
            )
            if target:
                query = query.where(targets.c.name == target)
            return tuple(
                _history(name, _kept(connection, counts, max(2, points)))
                for name, counts in connection.execute(query).all()
            )

    def decisions(self, target: str = "", last: int = 50) -> tuple[DecisionState, ...]:
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
        with self._source.connected() as connection:
            if target:
                known = connection.scalar(select(targets.c.id).where(targets.c.name == target))
                if known is None:
                    raise BadInput(f"The campaign in {self._source} has no target {target!r}.")
                query = query.where(epochs.c.target_id == known)
            rows = connection.execute(query).all()
            check_epochs(rows, words=(1, 2, 4))
            return tuple(DecisionState(*row) for row in reversed(rows))

    def observations(self) -> dict[str, Observation]:
        """The latest observation of each target that has one."""
        query = (
            select(targets.c.name, observations.c.content)
            .join(targets, targets.c.id == observations.c.target_id)
            .where(targets.c.present)
            .order_by(targets.c.position)
        )
        with self._source.connected(targets.c.name, observations.c.content) as connection:
            found = {name: unpack(content) for name, content in connection.execute(query)}
            for name, observation in found.items():
                for field, what in problems(observation):
                    raise Unsound(f"the observation of {name}: {field} {what}")
            return found

    def bug_times(self) -> tuple[BugTime, ...]:
        """When each target first showed each of its bugs, in the order of first sight."""
        when = (bugs.c.at, bugs.c.after_inputs, bugs.c.after_seconds)
        query = (
            select(targets.c.name, bugs.c.bug, *when)
            .join(targets, targets.c.id == bugs.c.target_id)
            .where(targets.c.present)
            .order_by(bugs.c.at, bugs.c.id)
        )
        with self._source.connected(targets.c.name, bugs.c.bug, *when) as connection:
            return tuple(BugTime(*row) for row in connection.execute(query))

    def stretch(self, start: float, end: float, most: int = 1000) -> Stretch:
        """The epochs between two moments; the time needed does not grow with their number."""
        with self._source.connected() as connection:
            return stretch_of(connection, start, end, max(1, most))


_Rows = Sequence[Sequence[Any]]

_SHOWN = (
    *(epochs.c.ended, epochs.c.total_seconds, epochs.c.total_inputs, epochs.c.total_species),
    *(epochs.c.total_discoveries, epochs.c.risk, epochs.c.risk_low, epochs.c.risk_high),
)
_OF_COUNTS = epochs.c.generation_id == bindparam("counts")
_BY_INPUTS = (epochs.c.total_inputs, epochs.c.id)


def _nearest(database: str) -> Select[tuple[int]]:
    """The first epoch at or behind each number of a list, looked up in the index one by one."""
    given = bindparam("grid", type_=Text)
    if database == "sqlite":
        grid = func.json_each(given).table_valued("value")
        number: Any = grid.c.value
    else:
        grid = func.json_array_elements_text(cast(given, JSON)).table_valued("value")
        number = cast(grid.c.value, BigInteger)
    nearest = (
        select(epochs.c.id)
        .where(_OF_COUNTS, epochs.c.total_inputs >= number)
        .order_by(*_BY_INPUTS)
        .limit(1)
        .correlate(grid)
        .scalar_subquery()
    )
    return select(nearest).select_from(grid)


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
    grid = [low, *map(int, np.geomspace(max(low, 1), max(high, 1), points - 1)[1:].round())]
    chosen = _nearest(connection.dialect.name)
    picked = connection.scalars(chosen, of_counts | {"grid": json.dumps(grid)}).all()
    last = select(epochs.c.id).where(_OF_COUNTS).order_by(*(c.desc() for c in _BY_INPUTS)).limit(1)
    ids = {*picked, connection.scalar(last, of_counts)} - {None}
    shown = select(*_SHOWN).where(epochs.c.id.in_(ids)).order_by(*_BY_INPUTS)
    return connection.execute(shown).all()


def _history(name: str, rows: _Rows) -> TargetHistory:
    check_epochs(rows)
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
