"""``fuzzer_stats`` of AFL and AFL++, of any version, and which seeds wait by its word.

Keys may be added, missing or renamed. AFL++ 4.04c writes the file in place, so that a reader can
see half of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.received import cannot_read, open_regular
from fuzzwise.text import number

LARGEST = 1 << 20
"""Bytes of fuzzer_stats that are looked at; it has about two thousand."""

OLDER_NAMES = {
    "paths_total": "corpus_count",
    "paths_favored": "corpus_favored",
    "paths_imported": "corpus_imported",
    "paths_found": "corpus_found",
    "unique_crashes": "saved_crashes",
    "unique_hangs": "saved_hangs",
}


@dataclass(frozen=True)
class Untried:
    """Queue entries that AFL++ favors: those it has not mutated yet, and all of them.

    Discoveries so far come from the others, so that the estimate is raised for what those that wait
    will show (``estimators.waiting``). ``waiting`` and ``favored`` are None where it has not said
    so; then all of them may wait. ``tried``: all entries that it has mutated, favored or not; None
    where it does not say.
    """

    waiting: int | None = None
    favored: int | None = None
    tried: int | None = None

    @property
    def share(self) -> float:
        """The share of the favored entries that waits; 1 where it is not known."""
        if self.waiting is None or not self.favored:
            return 1.0
        return min(1.0, self.waiting / self.favored)

    def __str__(self) -> str:
        """What is so."""
        if self.waiting is None or not self.favored:
            return "AFL++ has not said how many queue entries it favors and has not mutated yet"
        return (
            f"{self.waiting:,} of the {self.favored:,} queue entries that AFL++ favors had not "
            "been mutated when it last said so (once a minute)"
        )


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
            stats[OLDER_NAMES.get(name, name)] = value.strip()
    return stats, modified


def stability(stats: Mapping[str, str]) -> float | None:
    """The share of the edges that an input shows every time; None where AFL++ does not say it."""
    found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,9})?)%", stats.get("stability", ""))
    return min(1.0, float(found[1]) / 100) if found else None


def untried(stats: Mapping[str, str]) -> Untried:
    """The entries that an instance favors and has not mutated yet, as far as it says so."""
    waiting = number(stats.get("pending_favs", ""))
    favored = number(stats.get("corpus_favored", ""))
    entries, pending = (number(stats.get(key, "")) for key in ("corpus_count", "pending_total"))
    tried = None if entries is None or pending is None else max(0, entries - pending)
    return Untried(waiting, favored, tried) if favored and waiting is not None else Untried()
