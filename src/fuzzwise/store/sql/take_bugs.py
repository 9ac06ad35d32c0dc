"""Takes the bugs of a turn into the database: those that are new, and those that have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from fuzzwise.store.contract import BugFound, FinishedTurn
from fuzzwise.store.sql.schema import bugs

Written = Mapping[tuple[int, str], BugFound]
"""Bugs of targets as they are in the database already: most turns have nothing new to say."""


@dataclass(frozen=True)
class Seen:
    """What a turn tells of bugs: those new to the target, those whose rows were written."""

    first: list[str]
    written: dict[tuple[int, str], BugFound]
    is_news: bool


def take_bugs(
    connection: Connection,
    target: int,
    at: float,
    turn: FinishedTurn,
    before: tuple[int, float],
    written: Written,
) -> Seen:
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
        return Seen([], {}, False)
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
    return Seen([row["bug"] for row in made], changed, is_news or bool(made))


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


def new_to_campaign(connection: Connection, target: int, fresh: list[str]) -> tuple[str, ...]:
    """Those bugs that no other target has shown."""
    if not fresh:
        return ()
    others = select(bugs.c.bug).where(bugs.c.bug.in_(fresh), bugs.c.target_id != target)
    known = set(connection.scalars(others))
    return tuple(bug for bug in fresh if bug not in known)
