"""The counts of a fuzz test: in memory while it is fuzzed, and in its folder.

Discoveries are kept as they are known, in groups: so many behind one input and up to another.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzzwise.engines.go.lines import Group, Said
from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.model import Ints, Observation
from fuzzwise.received import MOST_DATA, parse_json, read_limited

KIND = {"engine": "go"}
"""What must not change when a campaign goes on; how its record is known."""

MOST_FOUND = 10_000_000
"""Discoveries in all; more are damage, as no corpus is as large."""


class GoFolder(CampaignFolder):
    """The folder of a fuzz test."""

    @property
    def counts(self) -> Path:
        """The file with the counts."""
        return self.state / "counts.json"

    @property
    def program(self) -> Path:
        """The compiled test."""
        return self.out / "program" / "fuzz.test"

    def state_exists(self) -> bool:
        """Whether something was counted."""
        return self.counts.is_symlink() or self.counts.exists()


@dataclass
class Counts:
    """What all processes have made and found, the present one as of its latest line.

    ``seconds`` are by the clock, ``core_seconds`` on cores, ``loading`` those that went into
    starts. ``killed`` processes had no last words; ``uncounted`` is about how many inputs they may
    have made after their latest lines, and ``pending`` what they had found by then: it counts with
    the next.
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
    pending: int = 0
    last_discovery: float | None = None
    groups: list[Group] = field(default_factory=list)
    _before: int = 0
    _known: int = 0

    def begin_process(self) -> None:
        """Another process goes on from what those before it made."""
        self.starts += 1
        self._before, self._known = self.n, 0

    def look(self, said: Said, groups: list[Group]) -> None:
        """The present process has said so."""
        if said.loaded is None:
            return
        self.n = max(self.n, self._before + said.made)
        if new := groups[self._known :]:
            self.last_discovery = self.seconds
        if self.pending and said.made:
            new = self._with_pending(new, said.made)
        for group in new:
            start, end = self._before + group.after, self._before + group.until
            self.groups.append(Group(start, end, group.count))
        self._known = len(groups)
        self.species = max(self.species, said.bits or 0)
        self.corpus = max(self.corpus, said.corpus)

    def _with_pending(self, new: list[Group], made: int) -> list[Group]:
        """What killed processes had found and not told lies before the present one's first line."""
        pending, self.pending = self.pending, 0
        if not new:
            return [Group(0, made, min(pending, made))]
        first, *others = new
        if first.after:
            return [Group(0, first.after, min(pending, first.after)), *new]
        return [Group(0, first.until, min(pending + first.count, first.until)), *others]

    @property
    def found(self) -> int:
        """Discoveries."""
        return sum(group.count for group in self.groups)

    def observation(self) -> Observation:
        """What estimators see: discoveries spread over their groups, which are told too."""
        found, counted_at = placed(self.groups)
        return Observation(
            self.n,
            seconds=self.seconds,
            last_discovery_seconds=self.last_discovery,
            species=max(self.species, len(found)) if self.species else None,
            discoveries=found,
            counted_at=counted_at,
        )

    def save(self, folder: GoFolder, record: dict[str, Any]) -> None:
        """Write everything down; what was told is then in the folder."""
        text = json.dumps(self._written()).encode()
        try:
            write_whole(folder.counts, b"%08x\n%s\n" % (zlib.crc32(text), text), to_disk=False)
        except OSError as error:
            raise BadInput(
                f"{folder.counts}: cannot be written ({error.strerror}). Make room there, and run "
                "the same command again to go on."
            ) from error
        folder.write({**record, "inputs": self.n, "seconds": self.seconds})

    def _written(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in (*_WHOLE, *_NUMBERS)}
        groups = [(group.after, group.until, group.count) for group in self.groups]
        return {**kept, "last_discovery": self.last_discovery, "groups": groups}


_WHOLE = ("n", "species", "corpus", "starts", "killed", "uncounted", "pending")
_NUMBERS = ("seconds", "core_seconds", "loading")


def is_go_record(record: dict[str, Any]) -> bool:
    """Whether the record of a folder is that of a fuzz test."""
    return record.get("settings") == KIND


def counts_in(folder: GoFolder) -> Counts:
    """The counts that a folder has; DamagedState where they cannot be what was written."""
    try:
        content = read_limited(folder.counts, MOST_DATA, follow=False)
        checksum, _, text = content.removesuffix(b"\n").partition(b"\n")
        if int(checksum, 16) != zlib.crc32(text):
            raise ValueError("it is not what was written")
        return _counts(parse_json(text))
    except (OSError, ValueError, TypeError, BadInput) as error:
        raise DamagedState(f"{folder.counts}: is damaged ({error}).") from error


def placed(groups: list[Group]) -> tuple[Ints, Ints]:
    """Discoveries spread evenly over their groups, and where the groups begin and end."""
    numbers: list[int] = []
    edges: list[int] = []
    for group in groups:
        wide = group.until - group.after
        numbers += [group.until - wide * left // group.count for left in range(group.count)][::-1]
        edges += [group.after, group.until]
    return np.array(numbers, dtype=np.int64), np.unique(np.array(edges, dtype=np.int64))


def _counts(record: Any) -> Counts:
    if not isinstance(record, dict):
        raise ValueError("it is no table")
    whole = {name: _number(record, name, int) for name in _WHOLE}
    numbers = {name: _number(record, name, float) for name in _NUMBERS}
    last = record.get("last_discovery")
    counts = Counts(
        **whole,  # type: ignore[arg-type]
        **numbers,  # type: ignore[arg-type]
        last_discovery=None if last is None else _number(record, "last_discovery", float),
        groups=[Group(*(int(part) for part in row)) for row in record.get("groups", [])],
    )
    _check(counts)
    return counts


def _check(counts: Counts) -> None:
    end = found = 0
    for group in counts.groups:
        if not end <= group.after < group.until <= counts.n:
            raise ValueError("its groups are in no order")
        if not 1 <= group.count <= group.until - group.after:
            raise ValueError("a group has more discoveries than inputs")
        end, found = group.until, found + group.count
    if found > MOST_FOUND:
        raise ValueError("it has more discoveries than any corpus")


def _number(record: dict[str, Any], key: str, kind: type[int] | type[float]) -> int | float:
    value = record.get(key, 0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value < 1 << 60:
        raise ValueError(f"{key} is {value!r:.40}")
    return kind(value)
