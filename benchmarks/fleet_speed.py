"""A fleet of two one-core workers beside threads on the same two cores, in alternating pairs.

    python benchmarks/fleet_speed.py [--pairs 5] [--seconds 60] [--epoch 5]

Of each pair: species and bugs found by the fleet over those of threads, and the time on cores that
turns had; the median time that an epoch took by the clock beyond its time on cores, which is what lies
between two turns on a core; and the bytes in the storage for each epoch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import observed_target
from fleet_commands import fleet
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import CampaignState

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = ("bad", "ini", "url", "markup", "expression")
CORES = 2


def campaign(folder: Path, out: str, epoch: float, seed: int) -> Path:
    """A campaign file on small targets."""
    lines = ["[campaign]", f"cores = {CORES}", f'epoch = "{epoch:g}s"', f'out = "{out}"']
    lines += [f"seed = {seed}"]
    for name in TARGETS:
        program = observed_target.build(folder, EXAMPLES / f"{name}.c")
        lines += ["[[target]]", f'name = "{name}"', f'program = "{program}"']
    path = folder / f"{out}.toml"
    path.write_text("\n".join(lines))
    return path


def run(file: Path, seconds: float, *words: str) -> CampaignState:
    """A campaign to its end."""
    command = [sys.executable, "-m", "fuzzwise", "run", str(file), "--quiet", *words]
    subprocess.run([*command, "--time", f"{seconds:g}s"], check=True, stdout=subprocess.DEVNULL)
    return open_reader(file.parent / file.stem).state()


def gaps(folder: Path, end: float) -> list[float]:
    """Seconds of cores between turns: what epochs took by the clock beyond their time on cores."""
    reader = open_reader(folder)
    took = {(one.at, one.target): one.seconds for one in reader.decisions(last=10_000)}
    return [
        epoch.ended - epoch.began - on_cores
        for epoch in reader.stretch(0.0, end + 1).epochs
        if epoch.ended is not None and (on_cores := took.get((epoch.began, epoch.target)))
    ]


def stored(folder: Path) -> float:
    """Bytes in the storage for each epoch: what was stored and not removed since."""
    objects = (folder / "fleet" / "targets").glob("*/objects/*")
    return float(sum(path.stat().st_size for path in objects))


def ratio(one: float, other: float) -> float:
    """One over the other; 1 where there is nothing in either."""
    return one / other if other else 1.0


def pair(folder: Path, number: int, asked: argparse.Namespace) -> dict[str, float]:
    """One campaign each, the order alternating."""
    results: dict[str, CampaignState] = {}
    order = ("threads", "fleet") if number % 2 else ("fleet", "threads")
    for kind in order:
        file = campaign(folder, f"{kind}-{number}", asked.epoch, number)
        if kind == "threads":
            results[kind] = run(file, asked.seconds)
            continue
        work = folder / f"work-{number}"
        with fleet("local", "--workers", CORES, "--port", 0, "--work", work) as address:
            results[kind] = run(file, asked.seconds, "--fleet", address)
    threads, there = results["threads"], results["fleet"]
    found = gaps(there.folder, there.seconds)
    here = gaps(threads.folder, threads.seconds)
    return {
        "species": ratio(_species(there), _species(threads)),
        "bugs": ratio(len(there.bugs), len(threads.bugs)),
        "inputs": ratio(_inputs(there), _inputs(threads)),
        "seconds_on_cores": ratio(_seconds(there), _seconds(threads)),
        "gap_ms": 1000 * statistics.median(found),
        "gap_ms_of_threads": 1000 * statistics.median(here),
        "bytes_kept_a_turn": stored(there.folder) / max(1, there.epochs),
    }


def _species(state: CampaignState) -> int:
    return sum(target.species for target in state.targets)


def _inputs(state: CampaignState) -> int:
    return sum(target.inputs for target in state.targets)


def _seconds(state: CampaignState) -> float:
    return sum(target.seconds for target in state.targets)


def main() -> None:
    """All pairs, and their medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--epoch", type=float, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-speed-") as folder:
        rows = [pair(Path(folder), number, asked) for number in range(asked.pairs)]
    medians = {key: round(statistics.median(row[key] for row in rows), 3) for key in rows[0]}
    print(json.dumps({"pairs": rows, "medians": medians}, indent=1))


if __name__ == "__main__":
    main()
