"""What the counts of a session belong to: change any of it, and they begin again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.blackbox.model import MUTATOR_VERSION, Mutation, Target

PARTS = ("program", "seed file", "command, mutation or random seed")


@dataclass(frozen=True)
class Stamp:
    """What tells, without reading a file, that it is still the same."""

    path: Path
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file."""
        status = path.stat()
        return cls(path, status.st_ino, status.st_size, status.st_mtime_ns)


class Fingerprints:
    """The fingerprints of a target over time; a large program is read only when it changed."""

    def __init__(self) -> None:
        self._known: tuple[Stamp, str] | None = None

    def of(self, program: Path, target: Target, mutation: Mutation, seed: int) -> str:
        """One hash for each of PARTS, with spaces between."""
        stamp = Stamp.of(program)
        if self._known is None or self._known[0] != stamp:
            with program.open("rb") as file:
                self._known = stamp, hashlib.file_digest(file, "sha256").hexdigest()[:16]
        settings = (MUTATOR_VERSION, seed, target.command[1:], target.suffix, mutation)
        return " ".join((self._known[1], _hash(target.seed), _hash(repr(settings).encode())))


def difference(one: str, other: str) -> str:
    """The parts in which two fingerprints differ, in words."""
    pairs = zip(PARTS, one.split(" "), other.split(" "), strict=False)
    return " and the ".join(part for part, before, after in pairs if before != after)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
