"""libFuzzer's own limit on the length of inputs, ``lim:`` in its lines, and whether it rises.

It begins with the longest file of the corpus and rises while nothing is found, up to ``-max_len``.
What is made after a rise is of another kind than before, and may show what was out of reach.
"""

from __future__ import annotations

from bisect import bisect_right

STILL_RISES = (
    "libFuzzer's limit on the length of inputs (lim:) still rises: longer inputs can show what "
    "shorter ones could not, so that the risk may rise again after it has fallen. -len_control=0 "
    "allows all lengths from the start"
)
"""The same words as long as it is so, without a stop at their end."""


class LengthLimit:
    """The limits that the lines of a campaign have shown, with the inputs made by then."""

    def __init__(self) -> None:
        self._inputs: list[int] = []
        self._limits: list[int] = []

    def take(self, inputs: int, limit: bytes | None) -> None:
        """A line has said so; lines without a limit say nothing."""
        if limit is None or (self._limits and int(limit) == self._limits[-1]):
            return
        if self._inputs and inputs < self._inputs[-1]:
            return
        self._inputs.append(inputs)
        self._limits.append(int(limit))

    @property
    def latest(self) -> int:
        """The limit of the latest line that had one; 0 before the first."""
        return self._limits[-1] if self._limits else 0

    def still_rises(self, inputs: int) -> bool:
        """Whether it is higher than it was when half of the inputs were made.

        A process that starts again begins with a lower limit, which is no fall.
        """
        before = bisect_right(self._inputs, inputs // 2)
        if not before:
            return False
        return max(self._limits[before - 1 :]) > max(self._limits[:before])
