"""What is stored of a target after a turn: which files, with which content, and its totals.

A manifest is written after all that it names. Its token grows from turn to turn: of two, the one
with the greater token holds.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from fuzzwise.engines.contract import Totals
from fuzzwise.store.sql.observations import pack, unpack
from fuzzwise.triage.bug_book import Bug

Spot = tuple[str, int, int]
"""Where content is: in which pack, "" for an object of its own; from where on, and how long."""


class StoredFile(msgspec.Struct, frozen=True, array_like=True):
    """A file: its path in the target's folder, the hash of its content, and its mode.

    Its content is an object of its own; or, where ``pack`` names another object, ``size`` bytes of
    that one.
    """

    path: str
    digest: str
    mode: int
    pack: str = ""
    at: int = 0
    size: int = 0

    @property
    def spot(self) -> Spot:
        """Where its content is."""
        return self.pack, self.at, self.size


class _StoredTotals(msgspec.Struct, frozen=True):
    generation: str
    observation: bytes
    ages: bytes | None
    kept: int | None
    seconds: float
    corpus: int
    bugs: tuple[Bug, ...]
    crashes: int
    warnings: tuple[str, ...]
    unsettled: str
    doing: str
    stability: float | None


class Manifest(msgspec.Struct, frozen=True):
    """All that is stored of a target; ``before`` is the token that its turn began from."""

    token: int
    before: int
    files: tuple[StoredFile, ...]
    told: _StoredTotals | None

    @property
    def totals(self) -> Totals | None:
        """The totals as they were told."""
        return None if self.told is None else _totals(self.told)

    @property
    def objects(self) -> set[str]:
        """The names of all objects that hold it."""
        return {file.pack or file.digest for file in self.files}

    @property
    def contents(self) -> dict[str, str]:
        """The hash of each file."""
        return {file.path: file.digest for file in self.files}


_DECODER = msgspec.msgpack.Decoder(Manifest)
"""Made once: msgspec crashes where two threads make out a type at the same time."""


def manifest_name(target: str) -> str:
    """Where the manifest of a target is."""
    return f"{area_of(target)}/manifest"


def area_of(target: str) -> str:
    """Where all that is stored of a target is."""
    return f"targets/{target}"


def made(token: int, before: int, files: tuple[StoredFile, ...], totals: Totals | None) -> Manifest:
    """A manifest, from what it is to say."""
    return Manifest(token, before, files, None if totals is None else _told(totals))


def encode(manifest: Manifest) -> bytes:
    """A manifest as bytes."""
    return msgspec.msgpack.encode(manifest)


def decode(content: bytes) -> Manifest:
    """The manifest in bytes; OSError where they are none."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, ValueError) as error:
        raise OSError(f"a manifest in the storage is damaged ({error})") from error


def _told(totals: Totals) -> _StoredTotals:
    now = totals.observation
    ages = None if now.ages is None else np.asarray(now.ages, "<i8").tobytes()
    return _StoredTotals(
        *(totals.generation, pack(now), ages, now.corpus, totals.seconds, totals.corpus),
        *(totals.bugs, totals.crashes, totals.warnings, totals.unsettled, totals.doing),
        totals.stability,
    )


def _totals(told: _StoredTotals) -> Totals:
    ages = None if told.ages is None else np.frombuffer(told.ages, "<i8").astype(np.int64)
    seen = replace(unpack(told.observation), ages=ages, corpus=told.kept)
    return Totals(
        *(told.generation, seen, told.seconds, told.corpus, told.bugs, told.crashes),
        *(told.warnings, told.unsettled, told.doing, told.stability),
    )
