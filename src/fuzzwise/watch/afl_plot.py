"""``plot_data`` of AFL and AFL++, of any version: columns by name, a file that only ever grows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.engines.aflplusplus.stats import OLDER_NAMES
from fuzzwise.tail import Tail
from fuzzwise.text import number, seconds_of


@dataclass
class Rows:
    """The rows of plot_data so far; -1 where a row has no such column.

    ``seconds`` is relative to the start, or Unix time in old versions (``is_unix_time``).
    """

    seconds: list[float] = field(default_factory=list)
    corpus: list[int] = field(default_factory=list)
    execs: list[int] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    is_unix_time: bool = False
    damaged: int = 0


_DEFAULT = "unix_time, cycles_done, cur_path, paths_total, pending_total, pending_favs, map_size, "
_DEFAULT += "unique_crashes, unique_hangs, max_depth, execs_per_sec"


class PlotData:
    """plot_data, read on as it grows."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._columns = _columns(_DEFAULT)
        self.rows = Rows()

    def read(self) -> Rows:
        """All rows so far; none where there is no such file yet."""
        if self._tail.path.exists():
            self._tail.read_lines(self._take, self._forget)
        return self.rows

    def _forget(self) -> None:
        self._columns, self.rows = _columns(_DEFAULT), Rows()

    def _take(self, line: str) -> None:
        if line.startswith("#"):
            self._columns = _columns(line.lstrip("# "))
            return
        words = [word.strip() for word in line.split(",")]
        if len(words) < 2:
            return
        rows, columns = self.rows, self._columns
        is_unix_time = "relative_time" not in columns
        when = _pick(words, columns, "unix_time" if is_unix_time else "relative_time")
        corpus = _pick(words, columns, "corpus_count")
        execs = _pick(words, columns, "total_execs")
        speed = _pick(words, columns, "execs_per_sec")
        seconds, entries = seconds_of(when or ""), number(corpus or "")
        made = -1 if execs is None else number(execs)
        if seconds is None or entries is None or made is None:
            rows.damaged += 1
            return
        rows.is_unix_time = is_unix_time
        rows.seconds.append(seconds)
        rows.corpus.append(entries)
        rows.execs.append(made)
        rows.speed.append(seconds_of(speed or "") or 0.0)


def _columns(header: str) -> dict[str, int]:
    names = [name.strip() for name in header.split(",")]
    return {OLDER_NAMES.get(name, name): place for place, name in enumerate(names)}


def _pick(words: list[str], columns: dict[str, int], name: str) -> str | None:
    place = columns.get(name)
    return words[place] if place is not None and place < len(words) else None
