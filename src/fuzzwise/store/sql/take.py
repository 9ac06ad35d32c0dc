"""Takes the totals of turns into the database: what they add, and the bugs among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Column, Connection, Executable, Row, bindparam, insert, select, update

from fuzzwise.model import Estimate
from fuzzwise.store.contract import Added, BugFound, FinishedTurn
from fuzzwise.store.sql.observations import pack
from fuzzwise.store.sql.schema import generations, observations, targets
from fuzzwise.store.sql.states import build_row, estimate_row
from fuzzwise.store.sql.take_bugs import Written, new_to_campaign, take_bugs

OF_TARGET: tuple[Column[Any], ...] = (
    *(targets.c.id, targets.c.inputs, targets.c.seconds, targets.c.new_bugs),
    *(targets.c.generation, targets.c.in_flight),
)
"""What is to be known of a target to take its totals."""


@dataclass(frozen=True)
class Taken:
    """What was taken from a turn.

    ``added`` are differences to the totals before, ``totals`` the values of the epoch's other
    columns, ``shown`` those of the target's, and ``written`` those bugs whose rows were made or
    changed.
    """

    added: Added
    totals: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    written: dict[tuple[int, str], BugFound] = field(default_factory=dict)
    is_news: bool = False

    def epoch_row(self) -> dict[str, Any]:
        """The columns of the epoch."""
        return self.totals | {
            "inputs": self.added.inputs,
            "seconds": self.added.seconds,
            "discoveries": self.added.discoveries,
            "new_bugs": len(self.added.new_bugs),
        }


@dataclass
class _Sums:
    """What a target, or a generation of one, came to so far."""

    id: int
    inputs: int
    seconds: float
    discoveries: int = 0
    new_bugs: int = 0
    generation: str = ""


def take(
    connection: Connection,
    at: float,
    told: Sequence[tuple[Row[Any], FinishedTurn]],
    written: Written,
) -> list[Taken]:
    """Write the totals of turns, and tell what each of them added.

    All that is needed is read before, and all that is new written after the last one: a statement
    takes as long for one turn as for ten. The rows of the targets are left to the caller.
    """
    intake = _Intake(connection, told, written)
    found = [intake.take(target.id, at, turn) for target, turn in told]
    intake.write()
    return found


def execute_all(connection: Connection, change: Executable, rows: Iterable[dict[str, Any]]) -> None:
    """Make the same change with the values of each row, which may have different columns."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        alike.setdefault(tuple(row), []).append(row)
    for some in alike.values():
        connection.execute(change, some)


class _Intake:
    """Totals of turns on their way into the database."""

    def __init__(
        self,
        connection: Connection,
        told: Sequence[tuple[Row[Any], FinishedTurn]],
        written: Written,
    ) -> None:
        self._connection = connection
        self._written = written
        self._lives = {
            row.id: _Sums(row.id, row.inputs, row.seconds, 0, row.new_bugs, row.generation)
            for row, _ in told
        }
        self._observed: set[int] = set()
        self._counts: dict[tuple[int, str], _Sums] = {}
        self._read_counts()
        self._begin_generations({(row.id, turn.generation) for row, turn in told})
        self._changed: dict[int, _Sums] = {}
        self._contents: dict[int, bytes] = {}

    def _read_counts(self) -> None:
        """The highest totals of each generation so far, and who has an observation."""
        same = observations.c.target_id == generations.c.target_id
        query = (
            select(generations, observations.c.target_id.label("observed"))
            .outerjoin(observations, same)
            .where(generations.c.target_id.in_(list(self._lives)))
        )
        for row in self._connection.execute(query):
            sums = _Sums(row.id, row.inputs, row.seconds, row.discoveries)
            self._counts[row.target_id, row.name] = sums
            if row.observed is not None:
                self._observed.add(row.target_id)

    def _begin_generations(self, wanted: set[tuple[int, str]]) -> None:
        """A new generation begins at 0."""
        nothing = {"inputs": 0, "seconds": 0.0, "discoveries": 0}
        fresh = [
            {"target_id": target, "name": name} | nothing
            for target, name in sorted(wanted - self._counts.keys())
        ]
        if fresh:
            made = insert(generations).returning(
                *(generations.c.id, generations.c.target_id, generations.c.name)
            )
            for row in self._connection.execute(made, fresh):
                self._counts[row.target_id, row.name] = _Sums(row.id, 0, 0.0)

    def take(self, target: int, at: float, turn: FinishedTurn) -> Taken:
        """What a turn adds to the totals before.

        Totals below those of the same generation that were told before come from a turn that ended
        late: they add nothing, and what is shown of the target stays as it is.
        """
        life, counts = self._lives[target], self._counts[target, turn.generation]
        is_late = turn.inputs < counts.inputs
        added = _raise(counts, life, turn)
        self._changed[counts.id] = counts
        before = (life.inputs - counts.inputs, life.seconds - counts.seconds)
        seen = take_bugs(self._connection, target, at, turn, before, self._written)
        new_bugs = new_to_campaign(self._connection, target, seen.first)
        life.new_bugs += len(new_bugs)
        is_other = turn.generation != life.generation
        if not is_late:
            life.generation = turn.generation
            self._contents[target] = pack(turn.observation)
        return Taken(
            replace(added, fresh_bugs=tuple(seen.first), new_bugs=new_bugs),
            totals=_totals(turn, life, counts),
            shown=_shown(turn, life, is_late=is_late),
            written=seen.written,
            is_news=added != Added() or is_other or seen.is_news,
        )

    def write(self) -> None:
        """Write generations and observations; bugs were written as they came."""
        connection, kept = self._connection, self._contents.items()
        execute_all(connection, _SET_COUNTS, map(_counts_row, self._changed.values()))
        old = [
            {"of_target": target, "content": c} for target, c in kept if target in self._observed
        ]
        execute_all(connection, _SET_OBSERVATION, old)
        new = [
            {"target_id": target, "content": c}
            for target, c in kept
            if target not in self._observed
        ]
        execute_all(connection, insert(observations), new)


def _raise(counts: _Sums, life: _Sums, turn: FinishedTurn) -> Added:
    """Set the totals of a generation, and of its target, to those of a turn if these are higher."""
    before = (counts.inputs, counts.seconds, counts.discoveries)
    counts.inputs = max(int(turn.inputs), counts.inputs)
    counts.seconds = max(float(turn.seconds), counts.seconds)
    counts.discoveries = max(int(turn.discoveries), counts.discoveries)
    life.inputs = life.inputs + counts.inputs - before[0]
    life.seconds = life.seconds + counts.seconds - before[1]
    return Added(
        counts.inputs - before[0], counts.seconds - before[1], counts.discoveries - before[2]
    )


_SET_COUNTS = update(generations).where(generations.c.id == bindparam("of_id"))
_SET_OBSERVATION = update(observations).where(observations.c.target_id == bindparam("of_target"))


def _counts_row(counts: _Sums) -> dict[str, Any]:
    return {
        "of_id": counts.id,
        "inputs": counts.inputs,
        "seconds": counts.seconds,
        "discoveries": counts.discoveries,
    }


def _totals(turn: FinishedTurn, life: _Sums, counts: _Sums) -> dict[str, Any]:
    """The columns of an epoch that tell where its target was at its end."""
    return {
        "generation_id": counts.id,
        "total_inputs": counts.inputs,
        "total_seconds": life.seconds,
        "total_species": int(turn.species),
        "total_discoveries": counts.discoveries,
        **_risk_columns(turn.risk),
    }


def _shown(turn: FinishedTurn, life: _Sums, *, is_late: bool) -> dict[str, Any]:
    """The columns of a target."""
    sums: dict[str, Any] = {
        "inputs": life.inputs,
        "seconds": life.seconds,
        "new_bugs": life.new_bugs,
    }
    if turn.looked is not None:
        sums |= {"looked": int(turn.looked[0]), "looked_high": turn.looked[1]}
    if is_late:
        return sums
    return sums | {
        "generation": turn.generation,
        "species": int(turn.species),
        "corpus": int(turn.corpus),
        "crashes": int(turn.crashes),
        "risk": estimate_row(turn.risk),
        "trend": turn.trend,
        "seconds_left": estimate_row(turn.seconds_left),
        "seconds_to_decision": turn.seconds_to_decision,
        "discovery_rate": turn.discovery_rate,
        "stability": turn.stability,
        "warnings": list(dict.fromkeys(turn.warnings)),
        "builds": [build_row(build) for build in turn.builds] or None,
    }


def _risk_columns(risk: Estimate | None) -> dict[str, float | None]:
    if risk is None:
        return dict.fromkeys(("risk", "risk_low", "risk_high"))
    return {"risk": risk.value, "risk_low": risk.low, "risk_high": risk.high}
