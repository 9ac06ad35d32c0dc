"""Campaigns of honggfuzz, read from its ``--statsfile``.

honggfuzz writes a row when an input shows new coverage, with the number of that input: each row is
a discovery. Where ``corpus_count`` grows by more than one, rows are missing, and as many
discoveries are spread between the two. Rows of the initial corpus look the same and count too:
that is on the safe side, and stops to matter when the campaign is much longer than its corpus.
Between two rows nothing is written, so that inputs since the last one are not known.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.text import LONGEST, MOST, printable
from fuzzwise.watch import processes
from fuzzwise.watch.curve import MOST_AT_ONCE, Curve, Spread, observation, rising
from fuzzwise.watch.reading import Process, Reading
from fuzzwise.watch.table import Row, Table, damage

COLUMNS = (
    *("unix_time", "last_cov_update", "total_exec", "exec_per_sec", "crashes", "unique_crashes"),
    *("hangs", "edge_cov", "block_cov", "corpus_count"),
)


class HonggfuzzStats:
    """A statistics file; honggfuzz writes it anew at each start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._table = Table(path, COLUMNS)

    def read(self) -> Reading:
        """The campaign as the file tells now."""
        table = self._table
        rows = _in_order(table.read())
        if not rows:
            raise BadInput(
                f"{printable(str(self.path))}: has no row of honggfuzz's statistics yet. It writes "
                "the first when an input shows coverage: is the target instrumented?"
            )
        curve, exact = _curve(rows, Spread(self.path))
        last = rows[-1]
        return Reading(
            kind="honggfuzz",
            name=self.path.name,
            path=self.path,
            observation=observation(curve, float(curve.times[-1])),
            corpus=_count(last, "corpus_count"),
            crashes=_count(last, "unique_crashes"),
            hangs=_count(last, "hangs"),
            processes=tuple(Process(pid) for pid in processes.writers(self.path.resolve())),
            exact=exact,
            notes=(
                "honggfuzz writes a row only for new coverage: inputs since the last row are not "
                "counted, and the risk stands still until the next one.",
                *damage(table),
                *(() if exact else ("Where rows are missing, discoveries are spread evenly.",)),
                "Executions of the initial corpus are counted as inputs, their coverage as "
                "discoveries.",
            ),
        )


def is_stats(start: bytes) -> bool:
    """Whether a file that starts so is a statistics file of honggfuzz."""
    line = start.split(b"\n", 1)[0]
    return line.startswith(b"#") and b"unix_time" in line and b"total_exec" in line


def _in_order(rows: list[Row]) -> list[Row]:
    """Rows with all that is needed; of several threads one may write before another."""
    whole = [
        row
        for row in rows
        if "total_exec" in row
        and "unix_time" in row
        and row["total_exec"] <= MOST
        and row["unix_time"] <= LONGEST
    ]
    return sorted(whole, key=lambda row: row["total_exec"])


def _curve(rows: list[Row], spread: Spread) -> tuple[Curve, bool]:
    numbers: list[int] = []
    moments: list[float] = []
    exact = True
    first, before, corpus = rows[0]["unix_time"], 0, None
    for row in rows:
        at, when = int(row["total_exec"]), max(0.0, row["unix_time"] - first)
        entries = _count(row, "corpus_count")
        grown = 1 if entries is None or corpus is None else entries - corpus
        count = max(1, min(grown, at - before, MOST_AT_ONCE))
        exact &= count == 1
        numbers += spread(before, at, count)
        moments += [when] * count
        before, corpus = at, entries if entries is not None else corpus
    times = np.maximum.accumulate(np.array([max(0.0, row["unix_time"] - first) for row in rows]))
    counts = np.array([row["total_exec"] for row in rows])
    found = rising(numbers, counts[-1])
    when_found = np.maximum.accumulate(np.array(moments))
    return Curve(times, counts, found, when_found, max(int(counts[-1]), int(found[-1]))), exact


def _count(row: Row, name: str) -> int | None:
    value = row.get(name)
    return None if value is None or value > MOST else int(value)
