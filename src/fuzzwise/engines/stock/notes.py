"""What is to be told of a stock target besides its counts."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzwise.engines.length_limit import STILL_RISES
from fuzzwise.engines.stock.counts import Counts

COSTLY, AFTER = 0.1, 30.0
"""The share of its time that starts may take, of at least so many seconds."""


def notes(counts: Counts) -> Iterator[str]:
    """In steps, so that it is not another sentence at every look."""
    if counts.seconds >= AFTER and counts.loading > COSTLY * counts.seconds:
        tenths = int(10 * counts.loading / counts.seconds)
        yield (
            f"more than {tenths * 10}% of its time goes into running its corpus at each of its "
            "starts: mend the bugs that end it, or give it longer epochs or a smaller corpus "
            "(libFuzzer's -merge=1 makes one)"
        )
    if counts.limit_rises:
        yield STILL_RISES
    if counts.uncounted:
        yield (
            f"{counts.killed:,} of its processes were killed: about {_round(counts.uncounted):,} "
            "inputs, made after their last lines, are not counted"
        )


def _round(number: int) -> int:
    """With two digits."""
    places = max(0, len(str(number)) - 2)
    return int(round(number, -places))
