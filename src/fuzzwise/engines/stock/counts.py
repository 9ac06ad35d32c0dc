"""The counts of a stock target: in memory while it is fuzzed, and in its folder.

The numbers of the discoveries are a file of 64-bit integers that only grows; the record of the
folder, written whole after it, says how many of them count, and with which checksum.
"""

from __future__ import annotations

import math
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.engines.stock.lines import Said
from fuzzwise.errors import BadInput
from fuzzwise.model import Ints, Observation
from fuzzwise.received import MOST_DATA, read_limited

NUMBER = np.dtype("<i8")


class StockFolder(CampaignFolder):
    """The folder of a stock target."""

    @property
    def found(self) -> Path:
        """The numbers of the discoveries."""
        return self.state / "discoveries"

    def state_exists(self) -> bool:
        """Whether something was counted."""
        return self.found.is_symlink() or self.found.exists()


@dataclass
class Counts:
    """What all processes have made and found, the present one as of its latest line.

    ``seconds`` are by the clock, ``core_seconds`` on cores, ``loading`` those that went into
    starts. ``killed`` processes had no last words; ``uncounted`` is about how many inputs they may
    have made after their latest lines. ``lost`` is the largest share of the features known that a
    later start did not show again. ``limit_rises``: the present process makes longer inputs all the
    time; it is not written down.
    """

    n: int = 0
    species: int = 0
    corpus: int = 0
    seconds: float = 0.0
    core_seconds: float = 0.0
    loading: float = 0.0
    starts: int = 0
    killed: int = 0
    uncounted: int = 0
    lost: float = 0.0
    last_discovery: float | None = None
    found: list[int] = field(default_factory=list)
    limit_rises: bool = False
    _kept: int = 0
    _checksum: int = 0
    _before: int = 0
    _found_before: int = 0

    def begin_process(self) -> None:
        """Another process goes on from what those before it made."""
        self.starts += 1
        self._before, self._found_before = self.n, len(self.found)

    def look(self, said: Said) -> None:
        """The present process has said so."""
        if said.loaded is None:
            return
        known = len(self.found) - self._found_before
        self.found += [self._before + number for number in said.found[known:]]
        if len(said.found) > known:
            self.last_discovery = self.seconds
        self.n = max(self.n, self._before + said.made)
        self.species = max(self.species, said.features)
        self.corpus = said.corpus
        self.limit_rises = said.limit_rises

    def observation(self) -> Observation:
        """What estimators see."""
        return Observation(
            self.n,
            seconds=self.seconds,
            last_discovery_seconds=self.last_discovery,
            species=self.species,
            discoveries=np.array(self.found, dtype=np.int64),
        )

    def save(self, folder: StockFolder, record: dict[str, Any]) -> None:
        """Write everything down; what was told is then in the folder."""
        new = np.array(self.found[self._kept :], dtype=NUMBER).tobytes()
        try:
            file = os.open(folder.found, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                if new and os.pwrite(file, new, self._kept * NUMBER.itemsize) != len(new):
                    raise OSError(28, "No space left on device")
            finally:
                os.close(file)
        except OSError as error:
            raise BadInput(
                f"{folder.found}: cannot be written ({error.strerror}). Make room there, and run "
                "the same command again to go on."
            ) from error
        self._kept, self._checksum = len(self.found), zlib.crc32(new, self._checksum)
        folder.write({**record, **self._written()})

    def _written(self) -> dict[str, Any]:
        return {
            "inputs": self.n,
            "species": self.species,
            "corpus": self.corpus,
            "seconds": self.seconds,
            "core_seconds": self.core_seconds,
            "loading": self.loading,
            "starts": self.starts,
            "killed": self.killed,
            "uncounted": self.uncounted,
            "lost": self.lost,
            "last_discovery": self.last_discovery,
            "discoveries": self._kept,
            "checksum": self._checksum,
        }


KIND = {"engine": "stock"}
"""What must not change when a campaign goes on; how its record is known."""


def is_stock_record(record: dict[str, Any]) -> bool:
    """Whether the record of a folder is that of a stock target."""
    return record.get("settings") == KIND


def counts_in(folder: StockFolder, record: dict[str, Any]) -> Counts:
    """The counts that a folder has; DamagedState where they cannot be what was written."""
    try:
        counts = Counts(
            n=_whole(record, "inputs"),
            species=_whole(record, "species"),
            corpus=_whole(record, "corpus"),
            seconds=_number(record, "seconds"),
            core_seconds=_number(record, "core_seconds"),
            loading=_number(record, "loading"),
            starts=_whole(record, "starts"),
            killed=_whole(record, "killed"),
            uncounted=_whole(record, "uncounted"),
            lost=_number(record, "lost"),
            last_discovery=None
            if record.get("last_discovery") is None
            else _number(record, "last_discovery"),
        )
        known = _whole(record, "discoveries")
        if known or counts.n:
            found = _numbers(folder.found, known)
            counts._checksum = zlib.crc32(found.tobytes())
            if counts._checksum != _whole(record, "checksum") or not _is_sound(found, counts.n):
                raise ValueError("its numbers are not those that were written")
            counts.found = found.tolist()
            counts._kept = known
    except (OSError, ValueError, BadInput) as error:
        raise DamagedState(f"{folder.found}: is damaged ({error}).") from error
    return counts


def _numbers(path: Path, known: int) -> Ints:
    content = read_limited(path, MOST_DATA, follow=False)
    if len(content) < known * NUMBER.itemsize:
        raise ValueError("some of its numbers are missing")
    return np.frombuffer(content, dtype=NUMBER, count=known)


def _is_sound(found: Ints, n: int) -> bool:
    if not len(found):
        return True
    return bool(found[0] >= 1 and found[-1] <= n and np.all(np.diff(found) > 0))


def _whole(record: dict[str, Any], key: str) -> int:
    value = record.get(key, 0)
    if not isinstance(value, int) or not 0 <= value < 1 << 60:
        raise ValueError(f"{key} is {value!r:.40}")
    return value


def _number(record: dict[str, Any], key: str) -> float:
    value = record.get(key, 0.0)
    if not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{key} is {value!r:.40}")
    return float(value)
