"""``fuzzer_stats`` and ``plot_data`` of AFL and AFL++, of any version.

Both are led by names, not places: columns and keys may be added, missing or renamed. AFL++ 4.04c
writes fuzzer_stats in place, so that a reader can see half of it; plot_data only ever grows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.watch.curve import number, seconds_of
from fuzzwise.watch.reading import Untried
from fuzzwise.watch.tail import Tail, cannot_read, open_regular

LARGEST = 1 << 20
"""Bytes of fuzzer_stats that are looked at; it has about two thousand."""

_OLDER_NAMES = {
    "paths_total": "corpus_count",
    "paths_favored": "corpus_favored",
    "paths_imported": "corpus_imported",
    "paths_found": "corpus_found",
    "unique_crashes": "saved_crashes",
    "unique_hangs": "saved_hangs",
}


def read_stats(path: Path) -> tuple[dict[str, str], float]:
    """The keys of fuzzer_stats and when it was written; nothing where there is none yet."""
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST)
            modified = os.fstat(file.fileno()).st_mtime
    except PermissionError as error:
        raise cannot_read(path, error) from error
    except OSError:
        return {}, 0.0
    stats: dict[str, str] = {}
    # The last line is only whole if it has an end.
    for line in content.decode(errors="replace").split("\n")[:-1]:
        key, colon, value = line.partition(":")
        if colon:
            name = key.strip()
            stats[_OLDER_NAMES.get(name, name)] = value.strip()
    return stats, modified


def untried(stats: Mapping[str, str]) -> Untried | None:
    """The entries that an instance favors and has not mutated yet, as far as it says so."""
    waiting = number(stats.get("pending_favs", ""))
    favored = number(stats.get("corpus_favored", ""))
    if waiting is None or not favored:
        return None
    entries, pending = (number(stats.get(key, "")) for key in ("corpus_count", "pending_total"))
    tried = None if entries is None or pending is None else max(0, entries - pending)
    return Untried(waiting, favored, tried)


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
    return {_OLDER_NAMES.get(name, name): place for place, name in enumerate(names)}


def _pick(words: list[str], columns: dict[str, int], name: str) -> str | None:
    place = columns.get(name)
    return words[place] if place is not None and place < len(words) else None
