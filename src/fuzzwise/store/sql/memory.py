"""What a resumed campaign must know of its targets, from the rows of its database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, case, func, select

from fuzzwise.store.contract import TargetMemory
from fuzzwise.store.sql.schema import bugs, generations, targets
from fuzzwise.store.sql.states import PRESENT_COUNTS, estimate_of


def memory_of(connection: Connection, begun: bool) -> dict[str, TargetMemory]:
    """Each target by name; ``begun``: epochs under way are of this run, not of a killed one."""
    shown = (
        select(
            bugs.c.target_id,
            func.count().label("bugs"),
            func.sum(case((bugs.c.crashes == 1, 1), else_=0)).label("singletons"),
        )
        .group_by(bugs.c.target_id)
        .subquery()
    )
    query = (
        select(
            *(targets, shown.c.bugs, shown.c.singletons, generations.c.discoveries),
            *(generations.c.inputs.label("counted"), generations.c.seconds.label("spent")),
        )
        .outerjoin(generations, PRESENT_COUNTS)
        .outerjoin(shown, shown.c.target_id == targets.c.id)
        .order_by(targets.c.position)
    )
    return {row.name: _one(row, begun) for row in connection.execute(query)}


def _rate(row: Row[Any], speed: float) -> float:
    """As it was judged; an older fuzzwise has not kept that, but the risk."""
    if row.discovery_rate is not None:
        return float(row.discovery_rate)
    risk = estimate_of(row.risk)
    return 0.0 if risk is None else risk.value * speed


def _one(row: Row[Any], begun: bool) -> TargetMemory:
    speed = row.counted / row.spent if row.spent else 0.0
    return TargetMemory(
        state=row.state,
        reason=row.reason,
        detail=row.detail,
        generation=row.generation,
        inputs=row.inputs,
        seconds=row.seconds,
        species=row.species,
        discoveries=row.discoveries or 0,
        looked=row.looked,
        looked_high=row.looked_high,
        bugs=row.bugs or 0,
        new_bugs=row.new_bugs,
        singletons=row.singletons or 0,
        discovery_rate=_rate(row, speed),
        in_flight=row.in_flight or (not begun and row.running > 0),
        finds_coverage=row.finds_coverage,
        engine=row.engine,
        corpus=row.corpus,
        signature=row.signature,
    )
