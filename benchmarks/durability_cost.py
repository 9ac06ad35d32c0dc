"""What it costs that counts and bugs outlive a power cut: turns with and without waiting for the disk.

The same target is fuzzed in two folders, turn by turn, side by side; in one of them nothing is synced.
The ratio is that of inputs for each second from the start of a turn to its end, which is when the
totals are told. Run ``python benchmarks/durability_cost.py [--turns N] [--seconds S] [--folder DIR]``;
the folder decides which disk it is about.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from timing import report

SOURCE = Path(__file__).parents[1] / "examples" / "ini.c"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--folder", type=Path)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=words.folder) as folder:
        target = Path(folder) / "target"
        build = [sys.executable, "-m", "fuzzwise", "build", str(SOURCE), "-o", str(target)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        plan = TargetPlan("ini", "libfuzzer", (str(target),))
        synced, unsynced = (LibFuzzerSession(plan, Path(folder) / name, 1) for name in "ab")
        ratios, waits = [], []
        for number in range(words.turns):
            with counted(waits):
                one = speed(synced, words.seconds)
            with nothing_synced():
                ratios.append(one / speed(unsynced, words.seconds))
            if not number:
                ratios.clear()  # both begin
    report("inputs a second, synced to unsynced", ratios, "", "no limit")
    report("waiting for the disk in a turn", [sum(w) for w in waits], "s", "no limit")
    print(f"    {statistics.median(len(w) for w in waits):.0f} syncs a turn")


def speed(session: LibFuzzerSession, seconds: float) -> float:
    """Inputs for each second of a turn, until its totals are told."""
    known = session.totals()
    before = known.observation.n if known else 0
    start = time.perf_counter()
    made = session.turn(seconds, 1).observation.n - before
    return made / (time.perf_counter() - start)


@contextmanager
def counted(waits: list[list[float]]) -> Iterator[None]:
    """The time of each sync."""
    real, mine = os.fsync, []

    def fsync(file: int) -> None:
        start = time.perf_counter()
        real(file)
        mine.append(time.perf_counter() - start)

    os.fsync = fsync
    try:
        yield
    finally:
        os.fsync = real
        waits.append(mine)


@contextmanager
def nothing_synced() -> Iterator[None]:
    """As if the disk answered at once."""
    real = os.fsync
    os.fsync = lambda _: None
    try:
        yield
    finally:
        os.fsync = real


if __name__ == "__main__":
    main()
