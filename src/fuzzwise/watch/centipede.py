"""Campaigns of Centipede, read from ``fuzzing-stats-BINARY.SHARD.csv``.

A row tells, over the shards of one process, the least, largest and average number of executions
(``NumExecs_Avg``), and how many inputs were ever added to the corpora (``TotalCorpusSize_Sum``).
Discoveries between two rows are the growth of that: an input is added for a new feature. One that
two shards find counts twice, which errs on the safe side. Files without it have only the active
corpus, from which inputs are dropped again; there, a row on which coverage grew has at least one
discovery. They are spread evenly between the rows. Executions before the first row, which load the
corpus, are left out.

The number of shards, by which the average is multiplied, is in no column: it is at least Sum/Max
and at most Sum/Min of every row. Where that leaves several, the least is taken: fewer inputs, and
so a higher risk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, floor, inf
from pathlib import Path

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.text import LONGEST, MOST, printable
from fuzzwise.watch import processes
from fuzzwise.watch.curve import MOST_AT_ONCE, Curve, Spread, observation, rising, together
from fuzzwise.watch.reading import Process, Reading
from fuzzwise.watch.table import Row, Table, damage

FILE = re.compile(r"fuzzing-stats-(?P<binary>.+?)\.(?P<shard>\d+)(?P<experiment>\..*)?\.csv")
SUMMED = ("TotalCorpusSize", "NumProxyCrashes", "NumExecs", "ActiveCorpusSize")


class CentipedeStats:
    """The statistics of one binary: a file for each process that fuzzes it."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.path = paths[0]
        self._tables = [Table(path) for path in paths]

    def read(self) -> Reading:
        """The campaign as its files tell now."""
        tables = [(table, _whole(table.read())) for table in self._tables]
        ready = [(table, rows) for table, rows in tables if len(rows) > 1]
        if not ready:
            raise BadInput(
                f"{printable(str(self.path))}: has fewer than two rows of Centipede's statistics "
                "(NumExecs_Avg …), so that nothing can be said about what happened between them. "
                "Wait for the next one."
            )
        first = min(rows[0]["UnixMicros_Max"] for _, rows in ready)
        shards = [_shards(rows) for _, rows in ready]
        curves = [
            _curve(rows, low, first, Spread(table.path))
            for (table, rows), (low, _) in zip(ready, shards, strict=True)
        ]
        found = FILE.fullmatch(self.path.name)
        last = [rows[-1] for _, rows in ready]
        unsure = any(low != high for low, high in shards)
        return Reading(
            kind="Centipede",
            name=found["binary"] + (found["experiment"] or "") if found else self.path.name,
            path=self.path if len(self._tables) == 1 else self.path.parent,
            observation=observation(
                together(curves), max(float(curve.times[-1]) for curve in curves)
            ),
            corpus=max((int(row.get("ActiveCorpusSize_Max", 0.0)) for row in last), default=None),
            crashes=_crashes(last),
            processes=tuple(
                Process(pid) for table in self._tables for pid in processes.writers(table.path)
            ),
            exact=False,
            notes=(
                "Discoveries are the growth of the corpora between two rows, spread evenly; what "
                "two shards found independently counts twice.",
                *(_SHARDS if unsure else ()),
                *(note for table, _ in ready for note in damage(table)),
                "Inputs before the first row and since the last one are not counted.",
            ),
        )


_SHARDS = (
    "The file does not tell how many shards there are; the fewest that fit are taken, so that the "
    "true number of inputs may be higher.",
)


def is_stats(name: str, start: bytes) -> bool:
    """Whether a file of this name and start has the statistics of Centipede."""
    line = start.split(b"\n", 1)[0]
    named = FILE.fullmatch(name) is not None and b"," in line
    return b"NumExecs_" in line or (named and b"NumCoveredPcs" in line)


def grouped(paths: Sequence[Path]) -> list[list[Path]]:
    """Files by campaign: those of the shards of one binary, and experiment, in one folder."""
    groups: dict[object, list[Path]] = {}
    for path in paths:
        found = FILE.fullmatch(path.name)
        key = (path.parent, found["binary"], found["experiment"]) if found else path
        groups.setdefault(key, []).append(path)
    return list(groups.values())


def _whole(rows: list[Row]) -> list[Row]:
    """Rows that have what is needed, from the last start of the counter on."""
    whole = [
        row
        for row in rows
        if ("NumExecs_Avg" in row or "NumExecs_Sum" in row)
        and "UnixMicros_Max" in row
        and max(row.get("NumExecs_Avg", 0.0), row.get("NumExecs_Sum", 0.0)) <= MOST / 1e3
        and row["UnixMicros_Max"] <= LONGEST * 1e6
    ]
    start = 0
    for i in range(1, len(whole)):
        if _executions(whole[i], 1) < _executions(whole[i - 1], 1):
            start = i
    return whole[start:]


_MOST_SHARDS = 1000


def _shards(rows: list[Row]) -> tuple[int, int]:
    """The fewest and the most shards that fit."""
    low, high = 1.0, inf
    for row in rows:
        for name in SUMMED:
            if f"{name}_Sum" not in row:
                continue
            total, most = row[f"{name}_Sum"], row.get(f"{name}_Max", 0.0)
            least = row.get(f"{name}_Min", 0.0)
            low = max(low, ceil(min(total / most, _MOST_SHARDS))) if most else low
            high = min(high, floor(min(total / least, _MOST_SHARDS))) if least else high
    if all(row.get("NumExecs_Min") == row.get("NumExecs_Max") for row in rows) and low == 1:
        high = 1.0  # several shards would not keep step
    few = int(min(low, _MOST_SHARDS))
    return few, few if high == few else few + 1


def _executions(row: Row, shards: int) -> float:
    return row["NumExecs_Sum"] if "NumExecs_Sum" in row else row["NumExecs_Avg"] * shards


def _corpus(row: Row, shards: int) -> float:
    for name in ("TotalCorpusSize", "ActiveCorpusSize"):
        if f"{name}_Sum" in row:
            return row[f"{name}_Sum"]
        if f"{name}_Avg" in row:
            return row[f"{name}_Avg"] * shards
    return 0.0


def _coverage(row: Row) -> float:
    return sum(value for name, value in row.items() if name.endswith(("Pcs_Max", "Fts_Max")))


def _curve(rows: list[Row], shards: int, first: float, spread: Spread) -> Curve:
    start = _executions(rows[0], shards)
    times = np.array([max(0.0, row["UnixMicros_Max"] - first) / 1e6 for row in rows])
    times = np.maximum.accumulate(times)
    counts = np.maximum.accumulate(np.array([_executions(row, shards) - start for row in rows]))
    numbers: list[int] = []
    moments: list[float] = []
    for i in range(1, len(rows)):
        grown = round(_corpus(rows[i], shards) - _corpus(rows[i - 1], shards))
        is_wider = _coverage(rows[i]) > _coverage(rows[i - 1])
        room = int(counts[i]) - int(counts[i - 1])
        count = min(max(grown, int(is_wider), 0), room, MOST_AT_ONCE)
        numbers += spread(int(counts[i - 1]), int(counts[i]), count)
        moments += [float(times[i])] * count
    found = rising(numbers, counts[-1])
    n = max(int(counts[-1]), int(found[-1]) if len(found) else 0)
    return Curve(times, counts, found, np.array(moments), n)


def _crashes(rows: list[Row]) -> int | None:
    known = [row.get("NumProxyCrashes_Sum", row.get("NumProxyCrashes_Max")) for row in rows]
    return (
        sum(int(value) for value in known if value is not None)
        if any(value is not None for value in known)
        else None
    )
