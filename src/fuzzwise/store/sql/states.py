"""The state of a campaign from the rows of its database; reads no epochs."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from fuzzwise.errors import BadInput
from fuzzwise.model import Estimate
from fuzzwise.store.sql.schema import bugs, events, generations, runs, targets
from fuzzwise.store.sql.soundness import MOST, Unsound
from fuzzwise.store.states import (
    BROKEN,
    FUZZING,
    BugState,
    BuildState,
    CampaignState,
    EventState,
    Stopped,
    TargetState,
)

KILLED = Stopped(
    "killed",
    "The last run ended without a word: it was killed, or the machine went down. "
    "Run the campaign again to go on.",
)

PRESENT_COUNTS = and_(
    generations.c.target_id == targets.c.id, generations.c.name == targets.c.generation
)
"""Joins a target with its present generation."""


OF_STATE = tuple(
    column for table in (runs, targets, generations, bugs, events) for column in table.columns
)
"""All that a state is read from."""


def check_words(connection: Connection) -> None:
    """Refuse text and JSON of which no state could be made, without making one."""
    for table in (runs, events):
        for _ in connection.exec_driver_sql(f"SELECT * FROM {table.name}"):  # noqa: S608
            pass  # text that is none is an error
    for row in connection.execute(select(targets)):
        words(row.warnings)
        builds_of(row.builds)
        for estimate in (row.risk, row.seconds_left):
            estimate_of(estimate)
    lists: set[str] = set()
    for row in connection.exec_driver_sql("SELECT frames, inputs, * FROM bugs"):
        lists.update(row[:2])
    for text in lists:
        words(json.loads(text))


def state_of(connection: Connection, folder: Path, running: bool) -> CampaignState:
    """The whole campaign, of the targets in its latest campaign file."""
    run = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if run is None:
        raise no_campaign(folder)
    found = _bugs(connection)
    shown = _target_states(connection, found, running)
    stopped = KILLED if run.stop_reason is None else Stopped(run.stop_reason, run.stop_detail or "")
    happened = connection.execute(
        select(events.c.at, events.c.kind, events.c.target, events.c.detail).order_by(events.c.id)
    )
    return CampaignState(
        folder=folder,
        name=run.name,
        running=running,
        budget=run.budget,
        seconds=run.seconds,
        cores=run.cores,
        scheduler=run.scheduler,
        epoch=run.epoch,
        confidence=run.confidence,
        epochs=sum(target.epochs for target in shown),
        targets=shown,
        bugs=tuple(_joined(rows) for rows in found.values()),
        events=tuple(EventState(*row) for row in happened),
        stopped=None if running else stopped,
        own_seconds=connection.scalar(select(func.sum(runs.c.own_seconds))),
    )


def no_campaign(folder: Path) -> BadInput:
    """The error for a folder without a campaign."""
    return BadInput(
        f"{folder} holds no campaign. Start one with: fuzzwise run CAMPAIGN.toml --out {folder}"
    )


def estimate_row(estimate: Estimate | None) -> dict[str, Any] | None:
    """An estimate as an object of JSON; plain numbers, wherever they come from."""
    if estimate is None:
        return None
    row = {
        key: float(value) if isinstance(value, float) else value
        for key, value in asdict(estimate).items()
    }
    return row | {"n": int(estimate.n)}


def estimate_of(row: dict[str, Any] | None) -> Estimate | None:
    """The estimate in an object of JSON."""
    if row is None:
        return None
    found = Estimate(**row)
    numbers = (found.value, found.low, found.high, found.confidence)
    if not isinstance(found.value, int | float) or not isinstance(found.n, int):
        raise Unsound("an estimate has no value")
    for number in numbers:
        if number is not None and not (isinstance(number, int | float) and number > -MOST):
            raise Unsound("a number of an estimate is none")
    for text in (found.method, found.note):
        words((text,))
    return found


def build_row(build: BuildState) -> dict[str, Any]:
    """A build of a target as an object of JSON."""
    return asdict(build) | {"risk": estimate_row(build.risk)}


def builds_of(rows: Any) -> tuple[BuildState, ...]:
    """The builds in a list of such objects; none where there is no list."""
    if rows is None:
        return ()
    found = tuple(BuildState(**row | {"risk": estimate_of(row["risk"])}) for row in rows)
    for build in found:
        words((build.engine,))
        counts = (build.inputs, build.discoveries, build.imported)
        if not all(type(count) is int and 0 <= count <= MOST for count in counts):
            raise Unsound("a count of a build is none")
        if not isinstance(build.seconds, int | float) or not 0 <= build.seconds <= MOST:
            raise Unsound("the time of a build is none")
    return found


def words(values: Any) -> tuple[str, ...]:
    """A list of words as it was written; names of files may hold any byte."""
    for value in values:
        os.fsencode(value)
    if not isinstance(values, list | tuple):
        raise Unsound("words are none")
    return tuple(values)


def _target_states(
    connection: Connection, found: dict[str, list[Row[Any]]], running: bool
) -> tuple[TargetState, ...]:
    own: dict[int, list[str]] = defaultdict(list)
    for bug, rows in found.items():
        for row in rows:
            own[row.target_id].append(bug)
    query = (
        select(targets, generations.c.discoveries)
        .outerjoin(generations, PRESENT_COUNTS)
        .where(targets.c.present)
        .order_by(targets.c.position)
    )
    kept = connection.execute(query).all()
    spent = sum(row.seconds for row in kept)
    return tuple(
        TargetState(
            name=row.name,
            engine=row.engine,
            finds_coverage=row.finds_coverage,
            state=FUZZING if running and row.running and row.state != BROKEN else row.state,
            reason=row.reason,
            detail=row.detail,
            share=row.share,
            accepted_risk=row.accepted_risk,
            epochs=row.epochs,
            inputs=row.inputs,
            seconds=row.seconds,
            share_of_time=row.seconds / spent if spent else 0.0,
            species=row.species,
            discoveries=row.discoveries or 0,
            corpus=row.corpus,
            risk=estimate_of(row.risk),
            trend=row.trend,
            seconds_left=estimate_of(row.seconds_left),
            seconds_to_decision=_to_decision(row),
            bugs=tuple(own[row.id]),
            crashes=row.crashes,
            warnings=words(row.warnings),
            stability=row.stability,
            builds=builds_of(row.builds),
        )
        for row in kept
    )


def _to_decision(row: Row[Any]) -> float | None:
    """As it was judged; an older fuzzwise has kept the forecast alone."""
    if row.seconds_to_decision is not None or row.seconds_left is None:
        return row.seconds_to_decision  # type: ignore[no-any-return]
    return float(row.seconds_left["value"])


def _bugs(connection: Connection) -> dict[str, list[Row[Any]]]:
    """For each bug, by first sight, its rows: the target that showed it first comes first."""
    query = (
        select(bugs, targets.c.name.label("target"))
        .join(targets, targets.c.id == bugs.c.target_id)
        .where(targets.c.present)
        .order_by(bugs.c.at, bugs.c.id)
    )
    found: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.bug].append(row)
    return found


def _joined(rows: list[Row[Any]]) -> BugState:
    first = rows[0]
    return BugState(
        id=first.bug,
        kind=first.kind,
        severity=first.severity,
        frames=words(first.frames),
        summary=first.summary,
        file=first.file,
        line=first.line,
        target=first.target,
        targets=tuple(row.target for row in rows),
        crashes=sum(row.crashes for row in rows),
        inputs=words(first.inputs),
        report=first.report,
        command=first.command,
        at=first.at,
        after_inputs=first.after_inputs,
        after_seconds=first.after_seconds,
        # An older fuzzwise has told of those only that it had checked and found flaky.
        flaky=first.flaky if first.flaky or first.checked else None,
    )
