"""What the counts of a session belong to: change any of it, and they begin again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzzwise.engines.blackbox.model import MUTATOR_VERSION, Mutation, Target
from fuzzwise.files import content_hash

PARTS = ("program", "seed file", "command, mutation or random seed")


def fingerprint_of(program: Path, target: Target, mutation: Mutation, seed: int) -> str:
    """One hash for each of PARTS, with spaces between."""
    settings = (MUTATOR_VERSION, seed, target.command[1:], target.suffix, mutation)
    return " ".join(
        (content_hash(program)[:16], _hash(target.seed), _hash(repr(settings).encode()))
    )


def difference(one: str, other: str) -> str:
    """The parts in which two fingerprints differ, in words."""
    pairs = zip(PARTS, one.split(" "), other.split(" "), strict=False)
    return " and the ".join(part for part, before, after in pairs if before != after)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
