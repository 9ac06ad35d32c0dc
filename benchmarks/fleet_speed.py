"""A fleet of two one-core workers beside threads on the same two cores, in alternating pairs.

    python benchmarks/fleet_speed.py [--pairs 5] [--seconds 60] [--epoch 5] [--real [NAME ...]]

On small targets, or on real libraries, which are fetched and built below ``--work`` where they are not
there yet. Of each pair: species and bugs found by the fleet over those of threads, and the time on cores
that turns had; how long a core had nothing to do between two turns, as its machine measured it, in the
median and at most nine times of ten; and the bytes that were stored and fetched for each turn.
"""

from __future__ import annotations

import argparse
import json
import re
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
from real import DEFAULT_WORK, chosen, starting_corpus, target

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = ("bad", "ini", "url", "markup", "expression")
REAL = ("cjson", "cmark", "expat", "http-parser", "libyaml", "tinyxml2")
CORES = 2
TOLD = re.compile(
    r"([\d.,]+) KB stored and ([\d.,]+) KB fetched for each; between two on a core lay ([\d,]+) ms"
    r" in the median, and ([\d,]+) ms or less"
)
"""What a campaign on a fleet says of its turns in the end."""


def small(folder: Path) -> list[str]:
    """The keys of small targets, of which one has bugs."""
    lines = []
    for name in TARGETS:
        program = observed_target.build(folder, EXAMPLES / f"{name}.c")
        lines += ["[[target]]", f'name = "{name}"', f'program = "{program}"']
    return lines


def real(names: list[str], work: Path) -> list[str]:
    """The keys of real libraries."""
    lines = []
    for subject in chosen(names or list(REAL)):
        program, corpus = target(subject, work, stock=False), starting_corpus(subject, work)
        lines += ["[[target]]", f'name = "{subject.name}"', f'program = "{program.absolute()}"']
        lines += [f'corpus = ["{corpus.absolute()}"]']
    return lines


def campaign(folder: Path, out: str, epoch: float, seed: int, targets: list[str]) -> Path:
    """A campaign file."""
    lines = ["[campaign]", f"cores = {CORES}", f'epoch = "{epoch:g}s"', f'out = "{out}"']
    lines += [f"seed = {seed}", *targets]
    path = folder / f"{out}.toml"
    path.write_text("\n".join(lines))
    return path


def run(file: Path, seconds: float, *words: str) -> CampaignState:
    """A campaign to its end."""
    command = [sys.executable, "-m", "fuzzwise", "run", str(file), "--quiet", *words]
    subprocess.run([*command, "--time", f"{seconds:g}s"], check=True, stdout=subprocess.DEVNULL)
    return open_reader(file.parent / file.stem).state()


def told(state: CampaignState) -> tuple[float, ...]:
    """KB stored and fetched a turn, and the time between two: the median, and nine of ten."""
    found = [match for event in state.events if (match := TOLD.search(event.detail))]
    return tuple(float(word.replace(",", "")) for word in found[-1].groups())


def ratio(one: float, other: float) -> float:
    """One over the other; 1 where there is nothing in either."""
    return one / other if other else 1.0


def pair(
    folder: Path, number: int, asked: argparse.Namespace, targets: list[str]
) -> dict[str, float]:
    """One campaign each, the order alternating."""
    results: dict[str, CampaignState] = {}
    order = ("threads", "fleet") if number % 2 else ("fleet", "threads")
    for kind in order:
        file = campaign(folder, f"{kind}-{number}", asked.epoch, number, targets)
        if kind == "threads":
            results[kind] = run(file, asked.seconds)
            continue
        work = folder / f"work-{number}"
        with fleet("local", "--workers", CORES, "--port", 0, "--work", work) as address:
            results[kind] = run(file, asked.seconds, "--fleet", address)
    threads, there = results["threads"], results["fleet"]
    stored, fetched, gap, most = told(there)
    return {
        "species": ratio(_species(there), _species(threads)),
        "bugs": ratio(len(there.bugs), len(threads.bugs)),
        "inputs": ratio(_inputs(there), _inputs(threads)),
        "seconds_on_cores": ratio(_seconds(there), _seconds(threads)),
        "turns": ratio(there.epochs, threads.epochs),
        "gap_ms": gap,
        "gap_ms_nine_of_ten": most,
        "kb_stored_a_turn": stored,
        "kb_fetched_a_turn": fetched,
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
    parser.add_argument("--first", type=int, default=0, help="the number of the first pair")
    parser.add_argument("--real", nargs="*", metavar="NAME", help="on real libraries")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK, help="where they are built")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-speed-") as name:
        folder = Path(name)
        targets = small(folder) if asked.real is None else real(asked.real, asked.work)
        numbers = range(asked.first, asked.first + asked.pairs)
        rows = []
        for number in numbers:
            rows.append(pair(folder, number, asked, targets))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    medians = {key: round(statistics.median(row[key] for row in rows), 3) for key in rows[0]}
    print(json.dumps({"pairs": rows, "medians": medians}, indent=1))


if __name__ == "__main__":
    main()
