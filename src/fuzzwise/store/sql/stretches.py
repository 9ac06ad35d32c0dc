"""What ran when: the epochs of a part of the campaign's time, however many there are.

Epochs are numbered in the order in which they began, so that a moment is found in the table by
halving, without an index of its own.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from fuzzwise.store.sql.schema import epochs, targets
from fuzzwise.store.sql.soundness import check_epochs
from fuzzwise.store.states import EpochState, Stretch

BEFORE = 256
"""Epochs before a moment that are looked at, for those among them that were still under way."""


def stretch_of(connection: Connection, start: float, end: float, most: int) -> Stretch:
    """All epochs that were under way between two moments, or ``most``, spread over them."""
    ends = select(func.min(epochs.c.id), func.max(epochs.c.id))
    lowest, highest = connection.execute(ends).one()
    if lowest is None or not start <= end:
        return Stretch((), whole=True)
    first = _first_since(connection, start, lowest, highest + 1)
    behind = _first_since(connection, end, first, highest + 1)
    first = max(lowest, first - BEFORE)
    whole = behind - first <= max(most, 2 * BEFORE)
    numbers = epochs.c.id.between(first, behind - 1)
    if not whole:
        step = (behind - first) / most
        numbers = epochs.c.id.in_([first + int(i * step) for i in range(most)])
    query = (
        select(
            *(epochs.c.id, epochs.c.began, epochs.c.ended, targets.c.name),
            *(epochs.c.discoveries, epochs.c.new_bugs),
        )
        .join(targets, targets.c.id == epochs.c.target_id)
        .where(numbers, epochs.c.lost.is_(False))
        .order_by(epochs.c.id)
    )
    rows = connection.execute(query).all()
    check_epochs(rows, words=(3,))
    found = (EpochState(*row) for row in rows)
    shown = (e for e in found if (e.began or 0.0) <= end and (e.ended is None or e.ended >= start))
    return Stretch(tuple(shown), whole)


def _first_since(connection: Connection, at: float, low: int, high: int) -> int:
    """The number of the first epoch that began at a moment or later; ``high`` where none did."""
    while low < high:
        middle = (low + high) // 2
        near = select(epochs.c.id, epochs.c.began).where(epochs.c.id >= middle)
        row = connection.execute(near.order_by(epochs.c.id).limit(1)).first()
        if row is not None:
            check_epochs([row])
        if row is None or (row.began or 0.0) >= at:
            high = middle
        else:
            low = int(row.id) + 1
    return low
