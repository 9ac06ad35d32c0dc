"""What it costs that counts and bugs outlive a power cut: turns with and without waiting for the disk.

The same target is fuzzed in two folders, turn by turn, side by side; in one of them nothing is synced.
The ratio is that of inputs for each second from the start of a turn to its end, which is when the
totals are told. Run ``python benchmarks/durability_cost.py [--turns N] [--seconds S] [--folder DIR]``;
the folder decides which disk it is about.

With ``--beside PYTHON``, the interpreter of another fuzzwise, as of one before all that: whole campaigns
of both, the same target for the same time and at the same time, on a core each; ``--turns`` is how many
pairs, ``--epoch`` how long their turns are. The ratio is that of their inputs.
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
from typing import TYPE_CHECKING

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from timing import report

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

EXAMPLES = Path(__file__).parents[1] / "examples"
SOURCE = EXAMPLES / "ini.c"
TARGETS = ("ini.c", "url.c", "markup.c")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--epoch", type=float, default=10.0)
    parser.add_argument("--beside", type=Path, metavar="PYTHON")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=words.folder) as folder:
        if words.beside:
            campaigns(Path(folder), words.beside, words.turns, words.seconds, words.epoch)
            return
        target = Path(folder) / "target"
        build = [sys.executable, "-m", "fuzzwise", "build", str(SOURCE), "-o", str(target)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        plan = TargetPlan("ini", "libfuzzer", (str(target),))
        synced, unsynced = (LibFuzzerSession(plan, Path(folder) / name, 1) for name in "ab")
        ratios: list[float] = []
        waits: list[list[float]] = []
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


def campaigns(folder: Path, other: Path, pairs: int, seconds: float, epoch: float) -> None:
    """Inputs of whole campaigns beside those of another fuzzwise."""
    head = f'[campaign]\nbudget = "{seconds:g}s"\nepoch = "{epoch:g}s"\ncores = 1\n'
    both = [Path(sys.executable), other]
    ratios = []
    for number in range(pairs):
        source = EXAMPLES / TARGETS[number % len(TARGETS)]
        file = folder / f"{source.stem}.toml"
        file.write_text(f'{head}[[target]]\nsources = "{source}"\n')
        order = both[:: 1 - 2 * (number % 2)]
        begun = {
            python: begin(python, file, folder / f"{number}-{both.index(python)}")
            for python in order
        }
        made = {python: inputs(process) for python, process in begun.items()}
        ratios.append(made[both[0]] / made[both[1]])
    report("inputs of a campaign, this fuzzwise to the other", ratios, "", "no limit")
    mean, error = statistics.fmean(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5
    low, _, high = statistics.quantiles(ratios, n=4)
    print(f"    quartiles {low:.3f} and {high:.3f}; mean {mean:.3f} ± {error:.3f} (standard error)")


def begin(python: Path, file: Path, out: Path) -> subprocess.Popen[str]:
    """A campaign of a fuzzwise."""
    words = [str(python), "-m", "fuzzwise", "run", str(file), "--json", "--out", str(out)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=quiet, text=True, cwd=file.parent)


def inputs(campaign: subprocess.Popen[str]) -> int:
    """The inputs of a campaign, in its end."""
    said, _ = campaign.communicate()
    return sum(target["inputs"] for target in json.loads(said)["targets"])


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
    real = os.fsync
    mine: list[float] = []

    def fsync(fd: FileDescriptorLike) -> None:
        start = time.perf_counter()
        real(fd)
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
    os.fsync = lambda fd: None  # noqa: ARG005
    try:
        yield
    finally:
        os.fsync = real


if __name__ == "__main__":
    main()
