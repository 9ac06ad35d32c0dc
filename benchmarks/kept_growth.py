"""Recordings of how targets grow in a compact form: ``datasets/growth/``, one file a repeat.

Ten minutes of each target, three times, are hours: whoever records some of them adds these by
``python benchmarks/kept_growth.py``, and the next one goes on with those that are missing. Live campaigns
are kept by it, too.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from fuzzwise import snapshot
from fuzzwise.files import whole_file
from fuzzwise.lab.growth.recorder import NEARLY, SUFFIX
from spend_live import keep as keep_live

KEPT = Path(__file__).parents[1] / "datasets" / "growth"
SECONDS = 600
"""Of a repeat that is kept."""


def main() -> None:
    """Add what was recorded to what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("spend-work"))
    options = parser.parse_args()
    added = keep(options.work / "recorded")
    files = list(KEPT.glob(f"*{SUFFIX}.gz"))
    size = sum(file.stat().st_size for file in files)
    print(f"{added} repeats added; {len(files)} are kept in datasets/growth, {size:,} bytes")
    print(f"{keep_live(options.work)} live campaigns are kept in datasets")


def unpack(folder: Path) -> None:
    """Lay what is kept where ``fuzzwise record`` finds it, which then records the others only."""
    folder.mkdir(parents=True, exist_ok=True)
    for kept in sorted(KEPT.glob(f"*{SUFFIX}.gz")):
        file = folder / kept.name.removesuffix(".gz")
        if not file.exists():
            with whole_file(file) as out:
                out.write(gzip.decompress(kept.read_bytes()))


def keep(folder: Path) -> int:
    """Keep the repeats that are whole, the same bytes for the same repeat; how many are new."""
    KEPT.mkdir(parents=True, exist_ok=True)
    added = 0
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        kept = KEPT / f"{file.name}.gz"
        if not kept.exists() and _seconds(file) >= SECONDS - NEARLY:
            with whole_file(kept) as out:
                out.write(gzip.compress(file.read_bytes(), 9, mtime=0))
            added += 1
    return added


def _seconds(file: Path) -> float:
    """How long a repeat was recorded."""
    seen = snapshot.read(file).campaigns[0].observations
    return (seen[-1].seconds or 0.0) if seen else 0.0


if __name__ == "__main__":
    main()
