"""Tables with a line of column names, that grow: the statistics of honggfuzz and Centipede."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.tail import Tail
from fuzzwise.text import LONGEST

Row = dict[str, float]

_LARGEST = LONGEST * 1e6  # Unix time in microseconds


class Table:
    """Rows by column name. Columns may be added or missing; a damaged row is left out."""

    def __init__(self, path: Path, columns: tuple[str, ...] = ()) -> None:
        self.path = path
        self._tail = Tail(path)
        self._usual = columns
        self._columns = list(columns)
        self.rows: list[Row] = []
        self.damaged = 0

    def read(self) -> list[Row]:
        """All rows so far."""
        self._tail.read_lines(self._take, self._forget)
        return self.rows

    def _forget(self) -> None:
        self._columns, self.rows, self.damaged = list(self._usual), [], 0

    def _take(self, line: str) -> None:
        words = [word.strip() for word in line.strip().removesuffix(",").split(",")]
        if line.startswith("#") or words[0][:1].isalpha():
            self._columns = [word.lstrip("# ") for word in words]
            return
        if not line.strip():
            return
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if not 2 <= len(values) <= len(self._columns) or not all(
            0 <= value <= _LARGEST for value in values
        ):
            self.damaged += 1
            return
        self.rows.append(dict(zip(self._columns, values, strict=False)))


def damage(table: Table) -> tuple[str, ...]:
    """A note on rows that could not be read."""
    if not table.damaged:
        return ()
    return (f"{table.damaged:,} rows are damaged and were left out.",)
