"""What it costs that counts and bugs outlive a power cut: turns with and without waiting for the disk.

The same target is fuzzed in two folders, turn by turn, side by side; in one of them nothing is synced.
The ratio is that of inputs for each second from the start of a turn to its end, which is when the
totals are told. Run ``python benchmarks/durability_cost.py [--turns N] [--seconds S] [--folder DIR]``;
the folder decides which disk it is about.

With ``--beside PYTHON``, the interpreter of another fuzzwise, as of one before all that: whole campaigns
of both, the same target for the same time, in pairs, who goes first by turns; ``--turns`` is how many
pairs. The ratio is that of their inputs.
"""

from __future__ import annotations

import argparse
import json
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

EXAMPLES = Path(__file__).parents[1] / "examples"
SOURCE = EXAMPLES / "ini.c"
TARGETS = ("ini.c", "url.c", "markup.c")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--beside", type=Path, metavar="PYTHON")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=words.folder) as folder:
        if words.beside:
            campaigns(Path(folder), words.beside, words.turns, words.seconds)
            return
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


def campaigns(folder: Path, other: Path, pairs: int, seconds: float) -> None:
    """Inputs of whole campaigns beside those of another fuzzwise."""
    # Epochs of a second: many more ends of turns, which cost, than most campaigns have.
    head = f'[campaign]\nbudget = "{seconds:g}s"\nepoch = "1s"\ncores = 1\n'
    ratios = []
    for number in range(pairs):
        source = EXAMPLES / TARGETS[number % len(TARGETS)]
        file = folder / f"{source.stem}.toml"
        file.write_text(f'{head}[[target]]\nsources = "{source}"\n')
        order = [Path(sys.executable), other]
        made = {p: inputs(p, file, folder / str(number)) for p in order[:: 1 - 2 * (number % 2)]}
        ratios.append(made[order[0]] / made[order[1]])
    report("inputs of a campaign, this fuzzwise to the other", ratios, "", "≥ 0.97")
    low, high = statistics.quantiles(ratios, n=20)[0], statistics.quantiles(ratios, n=20)[-1]
    mean, error = statistics.fmean(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5
    print(f"    {low:.3f} to {high:.3f}, mean {mean:.3f} ± {error:.3f} (standard error)")


def inputs(python: Path, file: Path, out: Path) -> int:
    """The inputs of a campaign that a fuzzwise begins and ends."""
    words = [
        str(python),
        "-m",
        "fuzzwise",
        "run",
        str(file),
        "--json",
        "--out",
        f"{out}-{python == Path(sys.executable)}",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=file.parent)
    return sum(target["inputs"] for target in json.loads(done.stdout)["targets"])


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
