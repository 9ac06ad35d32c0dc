"""What turns on a fleet cost besides fuzzing: time between them on a core, and bytes moved."""

from __future__ import annotations

import statistics
from collections import deque

from fuzzwise.campaign.fleet.messages import Answer
from fuzzwise.text import many

MOST = 100_000
"""Gaps that are kept in mind: the last ones."""


class Costs:
    """Adds up what machines tell with their answers."""

    def __init__(self) -> None:
        self._turns = 0
        self._gaps: deque[float] = deque(maxlen=MOST)
        self._stored = self._fetched = 0

    def add(self, answer: Answer) -> None:
        """A turn is over."""
        self._turns += 1
        self._stored += answer.moved[0]
        self._fetched += answer.moved[1]
        if answer.idle is not None:
            self._gaps.append(answer.idle)

    def told(self) -> str:
        """A sentence about it all; "" where there is nothing to tell."""
        if not self._turns:
            return ""
        stored, fetched = self._stored / self._turns, self._fetched / self._turns
        said = (
            f"{many(self._turns, 'turn')} on machines of the fleet, {_size(stored)} stored and "
            f"{_size(fetched)} fetched for each"
        )
        if len(self._gaps) < 2:
            return f"{said}."
        half = 1000 * statistics.median(self._gaps)
        most = 1000 * statistics.quantiles(self._gaps, n=10, method="inclusive")[-1]
        return (
            f"{said}; between two on a core lay {half:.0f} ms in the median, and {most:.0f} ms or "
            "less nine times of ten."
        )


def _size(amount: float) -> str:
    return f"{amount / 1000:,.1f} KB"
