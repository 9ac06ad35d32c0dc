"""How fast the store of a long campaign is: 1,000,000 epochs over 100 targets.

``status`` reads the state, ``report`` the history; both must not grow with the epochs. An epoch is
written by two transactions, each of which waits for the disk: the time of the processor is told
apart. Run ``python benchmarks/store_speed.py [--epochs N]`` (about 300 MB in a temporary folder).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sqlalchemy import insert, update

from fuzzwise.campaign.finished import run_entry
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.model import Estimate, Observation
from fuzzwise.store.contract import BugFound, Choice, FinishedTurn
from fuzzwise.store.places import open_reader
from fuzzwise.store.sql.schema import epochs, targets
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.store.sqlite import FILE, open_for_writing
from fuzzwise.triage.bug_book import Bug
from timing import report, seconds

TARGETS = 100
INPUTS = 5_000
BATCH = 50_000
REPEATS = 5
WRITTEN = 300
CHANCE = np.random.default_rng(1)
STATUS = """
import sys
from pathlib import Path
from fuzzwise.store.places import open_reader
print(open_reader(Path(sys.argv[1])).state().epochs)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1_000_000)
    total: int = parser.parse_args().epochs
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print(f"{total:,} epochs were made in {seconds(lambda: make(folder, total)):.1f} s", end="")
        print(f" ({(folder / FILE).stat().st_size / 1e6:,.0f} MB)")
        status = [sys.executable, "-c", STATUS, str(folder)]
        answer = subprocess.run(status, capture_output=True, text=True, check=True).stdout
        assert int(answer) == total, answer
        show(
            "state, in a new process",
            lambda: subprocess.run(status, stdout=subprocess.DEVNULL),
            "≤ 2 s",
        )
        reader = open_reader(folder)
        show("state", reader.state, "live view: twice a second")
        show("history", reader.history, "≤ 10 s")
        show("decisions", reader.decisions, "")
        show("decisions, one target", lambda: reader.decisions("t42"), "")
        show("Store.open, with the check for damage", lambda: SqlStore.open(folder).close(), "")
        write(folder)


def show(claim: str, job: Callable[[], object], limit: str) -> None:
    report(claim, [seconds(job) for _ in range(REPEATS)], "s", limit)


def plan(folder: Path) -> CampaignPlan:
    made = tuple(TargetPlan(f"t{i}", "libfuzzer", ("/bin/true",)) for i in range(TARGETS))
    return CampaignPlan("long", folder, made, None, 2, "risk-rate", 1.0)


def turn(n: int, found: int = 100) -> FinishedTurn:
    """Totals as they are after n inputs; 20 bugs."""
    risk = Estimate(found / n, 0.5 * found / n, 2 * found / n, 0.95, "reset", n)
    bugs = tuple(
        Bug(f"{i:016x}", "heap-buffer-overflow", "high", ("f", "g", "main"), n, (f"{i}/x",), i, 0.1)
        for i in range(20)
    )
    return FinishedTurn(
        *("counts", n, n / INPUTS, 500, found, 50, 20, risk, "falling", risk, ("One warning.",)),
        Observation(n, discoveries=np.sort(CHANCE.integers(1, n, found))),
        tuple(BugFound(bug, "report.txt", bug.inputs, "program input") for bug in bugs),
    )


def make(folder: Path, total: int) -> None:
    """A store as if so many epochs had been run, the targets in turns."""
    each = total // TARGETS
    with SqlStore.open(folder) as store:
        store.begin_run(run_entry(plan(folder), None))
        for i in range(TARGETS):
            store.recover(1.0, f"t{i}", turn(INPUTS))
    with open_for_writing(folder / FILE) as connection:
        for start in range(TARGETS, TARGETS * each, BATCH):
            rows = [row(number) for number in range(start, min(start + BATCH, TARGETS * each))]
            with connection.begin():
                connection.execute(insert(epochs), rows)
        with connection.begin():
            connection.execute(update(targets).values(epochs=each))


def row(number: int) -> dict[str, object]:
    target, step = number % TARGETS + 1, number // TARGETS + 1
    n = step * INPUTS
    return {
        "run_id": 1,
        "target_id": target,
        "began": number / 2,
        "ended": number / 2 + 1,
        "lost": False,
        "reason": "highest expected discoveries a second",
        "belief": 1 / step,
        "other_id": target % TARGETS + 1,
        "other_belief": 0.9 / step,
        "inputs": INPUTS,
        "seconds": 1.0,
        "discoveries": 0,
        "new_bugs": 0,
        "generation_id": target,
        "total_inputs": n,
        "total_seconds": float(step),
        "total_species": 500,
        "total_discoveries": 100,
        "risk": 100 / n,
        "risk_low": 50 / n,
        "risk_high": 200 / n,
    }


def write(folder: Path) -> None:
    """Further epochs, with few discoveries and with very many."""
    with SqlStore.open(folder) as store:
        store.begin_run(run_entry(plan(folder), None))
        for found in (100, 100_000):
            wall, work = [], []
            for i in range(WRITTEN):
                totals = turn(10**9 + found + i, found)
                start, busy = time.perf_counter(), time.process_time()
                epoch = store.start_epoch(
                    1e6 + i, f"t{i % TARGETS}", Choice("why", 0.1, "t7", 0.05)
                )
                store.finish_epoch(epoch, 1e6 + i + 1, totals)
                wall.append(1000 * (time.perf_counter() - start))
                work.append(1000 * (time.process_time() - busy))
            report(f"start and finish an epoch, {found:,} discoveries, 20 bugs", wall, "ms", "")
            report("    of which the processor works", work, "ms", "")


if __name__ == "__main__":
    main()
