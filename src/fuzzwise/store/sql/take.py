"""Takes the totals of a turn into the database: what they add, and the bugs among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from fuzzwise.model import Estimate
from fuzzwise.store.contract import Added, BugFound, FinishedTurn
from fuzzwise.store.sql.observations import pack
from fuzzwise.store.sql.schema import bugs, generations, observations, targets
from fuzzwise.store.sql.states import estimate_row

Written = Mapping[tuple[int, str], BugFound]
"""Bugs of targets as they are in the database already: most turns have nothing new to say."""


@dataclass(frozen=True)
class Taken:
    """What was taken from a turn.

    ``added`` are differences to the totals before, ``totals`` the values of the epoch's other
    columns, ``written`` those bugs whose rows were made or changed.
    """

    added: Added
    totals: dict[str, Any] = field(default_factory=dict)
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


def take(
    connection: Connection, target: Row[Any], at: float, turn: FinishedTurn, written: Written
) -> Taken:
    """Write the totals of a turn, and tell what they added.

    Totals below those of the same generation that were told before come from a turn that ended
    late: they add nothing, and what is shown of the target stays as it is.
    """
    counts = _counts(connection, target.id, turn.generation)
    inputs = max(int(turn.inputs), counts.inputs)
    seconds = max(float(turn.seconds), counts.seconds)
    discoveries = max(int(turn.discoveries), counts.discoveries)
    life_inputs = target.inputs + inputs - counts.inputs
    life_seconds = target.seconds + seconds - counts.seconds
    connection.execute(
        update(generations)
        .where(generations.c.id == counts.id)
        .values(inputs=inputs, seconds=seconds, discoveries=discoveries)
    )
    before = (life_inputs - inputs, life_seconds - seconds)
    seen = _take_bugs(connection, target.id, at, turn, before, written)
    new_bugs = _new_to_campaign(connection, target.id, seen.first)
    row: dict[str, Any] = {"inputs": life_inputs, "seconds": life_seconds}
    row["new_bugs"] = target.new_bugs + len(new_bugs)
    if turn.inputs >= counts.inputs:
        row |= _shown(turn)
        _put_observation(connection, target.id, pack(turn.observation))
    connection.execute(update(targets).where(targets.c.id == target.id).values(row))
    totals = {
        "generation_id": counts.id,
        "total_inputs": inputs,
        "total_seconds": life_seconds,
        "total_species": int(turn.species),
        "total_discoveries": discoveries,
        **_risk_columns(turn.risk),
    }
    more = (inputs, seconds, discoveries) != (counts.inputs, counts.seconds, counts.discoveries)
    added = Added(
        *(inputs - counts.inputs, seconds - counts.seconds, discoveries - counts.discoveries),
        *(tuple(seen.first), new_bugs),
    )
    return Taken(
        added,
        totals=totals,
        written=seen.written,
        is_news=more or turn.generation != target.generation or seen.is_news,
    )


def _counts(connection: Connection, target: int, generation: str) -> Row[Any]:
    """The highest totals of a generation so far; a new one begins at 0."""
    mine = (generations.c.target_id == target, generations.c.name == generation)
    query = select(generations).where(*mine)
    known = connection.execute(query).first()
    if known is None:
        row = {"inputs": 0, "seconds": 0.0, "discoveries": 0}
        connection.execute(insert(generations), {"target_id": target, "name": generation} | row)
        known = connection.execute(query).one()
    return known


def _shown(turn: FinishedTurn) -> dict[str, Any]:
    return {
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
    }


def _risk_columns(risk: Estimate | None) -> dict[str, float | None]:
    if risk is None:
        return {}
    return {"risk": risk.value, "risk_low": risk.low, "risk_high": risk.high}


def _put_observation(connection: Connection, target: int, content: bytes) -> None:
    mine = observations.c.target_id == target
    done = connection.execute(update(observations).where(mine).values(content=content))
    if done.rowcount == 0:
        connection.execute(insert(observations), {"target_id": target, "content": content})


@dataclass(frozen=True)
class _Seen:
    """What a turn tells of bugs: those new to the target, those whose rows were written."""

    first: list[str]
    written: dict[tuple[int, str], BugFound]
    is_news: bool


def _take_bugs(
    connection: Connection,
    target: int,
    at: float,
    turn: FinishedTurn,
    before: tuple[int, float],
    written: Written,
) -> _Seen:
    """Write those bugs of a target that are not as they were written last.

    ``before``: inputs and seconds of the target's other generations. The times of a bug that is
    new count from the beginning of its generation, those in the database from that of the target.
    """
    changed = {
        (target, found.bug.id): found
        for found in turn.bugs
        if written.get((target, found.bug.id)) != found
    }
    if not changed:
        return _Seen([], {}, False)
    query = select(bugs.c.bug, bugs.c.crashes).where(bugs.c.target_id == target)
    crashes = {row.bug: row.crashes for row in connection.execute(query)}
    made: list[dict[str, Any]] = []
    altered: list[dict[str, Any]] = []
    is_news = False
    for found in changed.values():
        bug, row = found.bug, _bug_row(found)
        known = crashes.get(bug.id)
        if known is None:
            first = {
                "at": at,
                "after_inputs": before[0] + min(int(bug.found_at), int(turn.inputs)),
                "after_seconds": before[1] + min(float(bug.seconds), float(turn.seconds)),
            }
            made.append({"target_id": target, "bug": bug.id} | row | first)
        else:
            is_news = is_news or row["crashes"] > known
            row["crashes"] = max(known, row["crashes"])
            altered.append({"of_target": target, "of_bug": bug.id} | row)
    if made:
        connection.execute(insert(bugs), made)
    if altered:
        connection.execute(_ALTER_BUG, altered)
    return _Seen([row["bug"] for row in made], changed, is_news or bool(made))


_ALTER_BUG = update(bugs).where(
    bugs.c.target_id == bindparam("of_target"), bugs.c.bug == bindparam("of_bug")
)


def _bug_row(found: BugFound) -> dict[str, Any]:
    bug = found.bug
    return {
        "kind": bug.kind,
        "severity": bug.severity,
        "frames": list(bug.frames),
        "summary": bug.summary,
        "file": bug.file,
        "line": bug.line,
        "flaky": bool(bug.flaky),
        "checked": bug.flaky is not None,
        "crashes": int(bug.count),
        "inputs": list(found.inputs),
        "report": found.report,
        "command": found.command,
    }


def _new_to_campaign(connection: Connection, target: int, fresh: list[str]) -> tuple[str, ...]:
    """Those bugs that no other target has shown."""
    if not fresh:
        return ()
    others = select(bugs.c.bug).where(bugs.c.bug.in_(fresh), bugs.c.target_id != target)
    known = set(connection.scalars(others))
    return tuple(bug for bug in fresh if bug not in known)
