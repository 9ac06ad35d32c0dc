"""Live campaigns on real libraries, the default beside Round-Robin, for the study on spending time.

Both campaigns of a pair run at the same time, on one core each, so that whatever else the machine does
concerns both; the cores change from pair to pair. ``python benchmarks/spend_live.py --pairs 3`` runs
the pairs that are missing, three minutes each and half, and those again in which one campaign got a
tenth more of its core than the other. Those that ``make spend-keep`` has kept, in
``datasets/spend-live.jsonl``, are of the scheduler as it is now: whoever changes the default removes them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.campaign.threads import Threads
from fuzzwise.files import write_whole
from fuzzwise.store.places import open_store
from fuzzwise.triage.workers import Workers
from spend_targets import GROUPS, campaign_file

SCHEDULERS = ("risk-rate", "round-robin")
SECONDS = 180
UNEVEN = 1.1
"""How many times as much of its core one campaign of a pair may get."""
MEMORY = Path("/dev/shm")
"""Where campaigns are kept meanwhile: on a disk, new files take long while old ones are removed."""

KEPT = Path(__file__).parents[1] / "datasets" / "spend-live.jsonl"

_TURNS = """select targets.name, began, ended, epochs.seconds, epochs.inputs, epochs.discoveries, total_species
from epochs join targets on targets.id = target_id where total_species is not null order by ended"""


def live_campaigns(work: Path, pairs: int, halves: tuple[str, ...] = tuple(GROUPS)) -> None:
    """Run the pairs that are missing."""
    unpack(work)
    for half in halves:
        campaign_file(work, GROUPS[half], cores=1, budget=f"{SECONDS}s")  # builds what is missing
        for pair in range(1, pairs + 1):
            files = [work / "live" / f"{half}-{pair}-{name}.json" for name in SCHEDULERS]
            if not all(file.exists() for file in files) or _is_uneven(files):
                _run_pair(work, half, pair, files)


def kept_campaigns(work: Path) -> list[dict[str, object]]:
    """Those that are whole, the two of a pair one after the other."""
    files = sorted((work / "live").glob("*.json"))
    return [json.loads(file.read_text()) for file in files]


def unpack(work: Path) -> None:
    """Lay what is kept where the others are, so that they are not run again."""
    (work / "live").mkdir(parents=True, exist_ok=True)
    for line in KEPT.read_text().splitlines() if KEPT.exists() else ():
        run = json.loads(line)
        file = work / "live" / f"{run['half']}-{run['pair']}-{run['scheduler']}.json"
        if not file.exists():
            file.write_text(line)


def keep(work: Path) -> int:
    """Keep all that are whole, one a line; how many there are."""
    unpack(work)
    runs = kept_campaigns(work)
    if runs:
        write_whole(KEPT, "".join(json.dumps(run) + "\n" for run in runs).encode())
    return len(runs)


def _is_uneven(files: list[Path]) -> bool:
    """Whether something else had one of the cores: then the pair says nothing of schedulers."""
    least, most = sorted(json.loads(file.read_text())["cpu"] for file in files)
    return bool(most > UNEVEN * least)


def _run_pair(work: Path, half: str, pair: int, files: list[Path]) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    running = []
    for number, (scheduler, file) in enumerate(zip(SCHEDULERS, files, strict=True)):
        words = ["--work", str(work), "--one", half, str(pair), scheduler, str(file)]
        core = cores[(number + pair) % 2]
        started = subprocess.Popen(
            [sys.executable, __file__, *words],
            preexec_fn=partial(os.sched_setaffinity, 0, {core}),
        )
        running.append(started)
    if any(one.wait() for one in running):
        raise SystemExit(f"A campaign of pair {pair} on the half for {half} has failed.")


def _one(work: Path, half: str, pair: int, scheduler: str, file: Path) -> None:
    plan_file = campaign_file(work, GROUPS[half], cores=1, budget=f"{SECONDS}s", epoch=None)
    home = MEMORY if MEMORY.is_dir() else work
    with tempfile.TemporaryDirectory(dir=home) as folder:
        plan = read_plan(plan_file, Path(folder) / "campaign")
        shown = _run(replace(plan, scheduler=scheduler, seed=pair))
    partial = file.with_suffix(".part")
    partial.write_text(json.dumps({"half": half, "pair": pair, **shown}))
    partial.rename(file)
    species = {name: total for name, *_, total in shown["turns"]}  # type: ignore[attr-defined]
    print(f"{half}, pair {pair}, {scheduler}: {sum(species.values()):,} species", flush=True)


def _run(plan: CampaignPlan) -> dict[str, object]:
    """Run it: its turns, as rows of name, begin, end, seconds, inputs, discoveries, species so far."""
    before = os.times()
    with open_store(plan.folder) as store, Workers(plan.cores) as workers:
        turns = Threads(open_sessions(plan, workers), plan.cores)
        Manager(plan, store, turns).run(plan.budget, lambda: None)
    after = os.times()
    with sqlite3.connect(plan.folder / "campaign.db") as connection:
        rows = connection.execute(_TURNS).fetchall()
    shutil.rmtree(plan.folder)
    return {
        "scheduler": plan.scheduler,
        "epoch": plan.epoch,
        "cpu": sum(after[:4]) - sum(before[:4]),
        "turns": rows,
    }


def main() -> None:
    """Run pairs, or one campaign of a pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("spend-work"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--half", choices=tuple(GROUPS), help="only this one")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    work = options.work.resolve()
    if options.one:
        half, pair, scheduler, file = options.one
        _one(work, half, int(pair), scheduler, Path(file))
    else:
        live_campaigns(work, options.pairs, (options.half,) if options.half else tuple(GROUPS))


if __name__ == "__main__":
    main()
