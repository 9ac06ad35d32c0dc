"""Recorded campaigns in a compact form: ``datasets/real-libraries.jsonl.gz``, which the studies read.

What is recorded anew is added to it by ``python benchmarks/kept_campaigns.py``: whoever has no hours to
record makes the pages from what is kept, and whoever records adds to it. Of the counts of every seed
only what estimators use is kept, with the chance of a seed to nine places.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import whole_file
from fuzzwise.model import Observation, SeedCounts
from fuzzwise.snapshot import Campaign, dump, read
from real import DEFAULT_WORK

KEPT = Path(__file__).parents[1] / "datasets" / "real-libraries.jsonl.gz"
FEWEST = 8
"""Points with a measured truth without which a campaign tells too little."""


def main() -> None:
    """Add what was recorded to what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--kept", type=Path, default=KEPT)
    options = parser.parse_args()
    campaigns = known(options.work, options.kept)
    keep(campaigns, options.kept)
    size = options.kept.stat().st_size
    print(f"{len(campaigns)} campaigns are kept in {options.kept.name}, {size:,} bytes")


def known(work: Path, kept: Path = KEPT) -> list[Campaign]:
    """All campaigns that are kept or recorded, each as far as it has come, by library and name."""
    best: dict[tuple[str, str], Campaign] = {}
    for campaign in [*load(kept), *_recorded(work / "campaigns")]:
        measured = _until_measured(campaign)
        key = campaign.subject, campaign.name
        before = best.get(key)
        if len(measured.observations) > len(before.observations if before else ()):
            best[key] = measured
    return [best[key] for key in sorted(best) if len(best[key].observations) > FEWEST]


def load(kept: Path = KEPT) -> list[Campaign]:
    """The campaigns that are kept; none where there is no such file."""
    if not kept.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "campaigns.jsonl"
        plain.write_bytes(gzip.decompress(kept.read_bytes()))
        return list(read(plain).campaigns)


def keep(campaigns: Iterable[Campaign], kept: Path = KEPT) -> None:
    """Write them in the compact form, the same bytes for the same campaigns."""
    lines = [line for campaign in campaigns for line in dump(_compact(campaign))]
    text = "".join(f"{line}\n" for line in lines).encode()
    with whole_file(kept) as file:
        file.write(gzip.compress(text, 9, mtime=0))


def _recorded(folder: Path) -> list[Campaign]:
    found: list[Campaign] = []
    for log in sorted(folder.glob("*/state/observations.jsonl")):
        try:
            found += read(log).campaigns
        except BadInput as problem:
            print(f"{log} is left out: {problem}", file=sys.stderr)
    return found


def _until_measured(campaign: Campaign) -> Campaign:
    """Without what came after the last point whose truth is measured."""
    seen = campaign.observations
    last = max((i for i, o in enumerate(seen) if o.truth and o.truth.inputs), default=-1)
    return replace(campaign, observations=seen[: last + 1])


def _compact(campaign: Campaign) -> Campaign:
    return replace(campaign, observations=tuple(map(_slim, campaign.observations)))


def _slim(observation: Observation) -> Observation:
    seeds = observation.seeds
    if seeds is None:
        return observation
    chance = seeds.q.round(9)
    few = SeedCounts(q=chance, n=seeds.n, f1=seeds.f1, k=seeds.k)
    return replace(observation, seeds=few)


if __name__ == "__main__":
    main()
