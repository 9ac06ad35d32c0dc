"""Turns of a session, as many as it takes until something has come of them."""

from __future__ import annotations

from collections.abc import Callable

from fuzzwise.engines.contract import Session, Totals
from waiting import wait_until


def turns_until(
    session: Session,
    happened: Callable[[Totals], bool],
    what: str,
    seconds: float = 0.5,
    jobs: int = 1,
) -> Totals:
    """What the last of the turns told; on a busy machine, one alone may come to nothing."""
    told: list[Totals] = []

    def has_come() -> bool:
        told.append(session.turn(seconds, jobs))
        return happened(told[-1])

    wait_until(has_come, what)
    return told[-1]


def inputs_after(session: Session, n: int, seconds: float = 0.5) -> Totals:
    """Turns up to one after which there are more inputs than so many."""
    return turns_until(
        session, lambda told: told.observation.n > n, f"more than {n} inputs", seconds
    )
