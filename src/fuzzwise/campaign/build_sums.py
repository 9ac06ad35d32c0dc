"""The totals of a target from those of its builds: absolute sums, under a generation of their own.

A build whose counts begin again would take its part out of the sums, and sums of another generation
that hold the counts of the other builds once more would count these twice. So where one begins
again, the target's sums begin again, too: they count from where the other builds were then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from fuzzwise.engines.contract import BuildTotals, Totals
from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders, write_whole
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.received import read_limited
from fuzzwise.triage.bug_book import Bug

RECORD = "builds.json"


class Base(msgspec.Struct, frozen=True):
    """From where on the counts of a build are in the sums, and of which generation they are."""

    generation: str
    inputs: int = 0
    seconds: float = 0.0
    discoveries: int = 0


class Sums(msgspec.Struct, frozen=True):
    """The generation of a target's sums, and the base of each build that has run."""

    generation: str = ""
    bases: dict[str, Base] = {}

    def after(self, known: Mapping[str, Totals]) -> Sums:
        """The same, or others where a build has begun, or has begun again."""
        again = {
            name
            for name, totals in known.items()
            if name in self.bases and totals.generation != self.bases[name].generation
        }
        fresh = {name: Base(known[name].generation) for name in known if name not in self.bases}
        if not again:
            first = next(iter(fresh.values())).generation if fresh else ""
            return Sums(self.generation or first, self.bases | fresh) if fresh else self
        bases = {
            name: Base(totals.generation) if name in again else _base(totals)
            for name, totals in known.items()
        }
        return Sums("+".join(base.generation for base in bases.values()), self.bases | bases)


def read_sums(home: Path) -> Sums:
    """Those of a target, in its folder; new ones where there are none."""
    try:
        return msgspec.json.decode(read_limited(home / RECORD, follow=False), type=Sums)
    except (OSError, BadInput, msgspec.MsgspecError):
        return Sums()


def write_sums(home: Path, sums: Sums) -> None:
    """Keep them."""
    make_folders(home)
    write_whole(home / RECORD, msgspec.json.encode(sums))


def summed(sums: Sums, builds: Sequence[BuildTotals], doing: str) -> Totals:
    """The totals of the target; ``doing`` is what its present build is at."""
    known = [build.totals for build in builds]
    spans = [
        (build.totals, sums.bases.get(build.name, Base("")))
        for build in builds
        if build.totals.generation
    ]
    inputs = sum(totals.observation.n - base.inputs for totals, base in spans)
    discoveries = sum(_discoveries(totals) - base.discoveries for totals, base in spans)
    stable = [totals.stability for totals in known if totals.stability is not None]
    return Totals(
        generation=sums.generation,
        observation=_spread(inputs, discoveries, known),
        seconds=sum(totals.seconds - base.seconds for totals, base in spans),
        corpus=max(totals.corpus for totals in known),
        bugs=_together(known),
        crashes=sum(totals.crashes for totals in known),
        warnings=tuple(
            f"{build.engine}: {warning}" for build in builds for warning in build.totals.warnings
        ),
        unsettled=next((totals.unsettled for totals in known if totals.unsettled), ""),
        doing=doing,
        stability=min(stable, default=None),
        builds=tuple(builds),
    )


def _base(totals: Totals) -> Base:
    n, seconds = totals.observation.n, totals.seconds
    return Base(totals.generation, n, seconds, _discoveries(totals))


def _discoveries(totals: Totals) -> int:
    found = totals.observation.discoveries
    return 0 if found is None else len(found)


def _spread(n: int, discoveries: int, known: Sequence[Totals]) -> Observation:
    """All inputs of a target, of whose discoveries only the number is known."""
    seconds = sum(totals.observation.seconds or 0.0 for totals in known)
    species = max(totals.observation.species or 0 for totals in known)
    if not n or not discoveries:
        return Observation(n, seconds=seconds, species=species, discoveries=NO_INTS)
    evenly = np.arange(1, discoveries + 1, dtype=np.int64) * n // discoveries
    looks = np.array([0, n], dtype=np.int64)
    return Observation(n, seconds=seconds, species=species, discoveries=evenly, counted_at=looks)


def _together(known: Sequence[Totals]) -> tuple[Bug, ...]:
    """Each bug once, as the first build tells it that has shown it, with the crashes of all."""
    found: dict[str, Bug] = {}
    for bug in (bug for totals in known for bug in totals.bugs):
        before = found.get(bug.id)
        found[bug.id] = replace(before, count=before.count + bug.count) if before else bug
    return tuple(found.values())
