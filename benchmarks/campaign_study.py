"""Live campaigns on the examples: the default scheduler beside others, at equal budgets.

    python benchmarks/campaign_study.py [--repeats 10] [--budget 120] [--out docs]

Every repeat runs the campaign of examples/campaign.toml once with each scheduler, in turn, with
another random seed, on two cores; nothing else should run. The targets are built once. A figure is
the mean over repeats with a 95 % bootstrap interval; repeats are paired by their turn.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np

from fuzzwise.campaign.build import build_all
from fuzzwise.campaign.config import read_plan
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.store.reading import read_state
from fuzzwise.store.store import Store
from fuzzwise.triage.workers import Workers

ROOT = Path(__file__).parents[1]
CAMPAIGN = ROOT / "examples" / "campaign.toml"
SCHEDULERS = ("risk-rate", "round-robin")
CLEAN = ("base64", "dates", "ini", "url", "utf8", "table")
"""Targets of the examples without known bugs, by the beginning of their names."""


def one_campaign(plan: CampaignPlan, folder: Path) -> dict[str, object]:
    """Run it; when each bug was found, and when each target was retired."""
    shutil.rmtree(folder, ignore_errors=True)
    plan = replace(plan, folder=folder)
    with Store.open(folder) as store, Workers(plan.cores) as workers:
        Manager(plan, store, open_sessions(plan, workers)).run(plan.budget, lambda: None)
    state = read_state(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return {
        "scheduler": plan.scheduler,
        "seed": plan.seed,
        "budget": plan.budget,
        "bugs": {bug.id: bug.at for bug in state.bugs},
        "names": {
            bug.id: f"{bug.target}: {bug.frames[0] if bug.frames else bug.kind}"
            for bug in state.bugs
        },
        "retired": {e.target: e.at for e in state.events if e.kind == "retired"},
        "targets": [target.name for target in state.targets],
        "seconds": {target.name: target.seconds for target in state.targets},
        "ended": state.seconds,
    }


def found_by(run: dict[str, object], moment: float) -> int:
    bugs: dict[str, float] = run["bugs"]  # type: ignore[assignment]
    return sum(at <= moment for at in bugs.values())


def clean_retired(run: dict[str, object]) -> float:
    """When the last of the clean targets was retired; the budget where it was not."""
    retired: dict[str, float] = run["retired"]  # type: ignore[assignment]
    names: list[str] = run["targets"]  # type: ignore[assignment]
    clean = [name for name in names if name.startswith(CLEAN)]
    return max(retired.get(name, float(run["budget"])) for name in clean)  # type: ignore[arg-type]


def interval(values: np.ndarray, statistic: object = np.mean) -> tuple[float, float, float]:
    rng = np.random.default_rng(1)
    picks = rng.integers(0, len(values), (10_000, len(values)))
    drawn = np.array([statistic(values[pick]) for pick in picks])  # type: ignore[operator]
    return float(statistic(values)), *np.quantile(drawn, (0.025, 0.975)).tolist()  # type: ignore[operator]


def ratio_of_means(pairs: np.ndarray) -> float:
    return float(pairs[:, 0].mean() / pairs[:, 1].mean())


def table(runs: list[dict[str, object]], budget: float) -> list[str]:
    by = {name: [run for run in runs if run["scheduler"] == name] for name in SCHEDULERS}
    count = min(map(len, by.values()))
    lines = [
        f"{count} repeats of {budget:g} s on two cores; mean and 95 % interval.",
        "",
        "| | risk-rate | round-robin | ratio |",
        "|---|---|---|---|",
    ]
    for share in (0.1, 0.25, 0.5, 0.75, 1.0):
        pairs = np.array(
            [[found_by(by[name][i], share * budget) for name in SCHEDULERS] for i in range(count)],
            float,
        )
        cells = ["{:.1f} ({:.1f} to {:.1f})".format(*interval(pairs[:, k])) for k in (0, 1)]
        ratio = "{:.2f} ({:.2f} to {:.2f})".format(*interval(pairs, ratio_of_means))
        lines.append(
            f"| bugs after {share:.0%} of the budget | {cells[0]} | {cells[1]} | {ratio} |"
        )
    areas = np.array(
        [
            [
                np.mean([found_by(by[n][i], t) for t in np.linspace(0, budget, 201)])
                for n in SCHEDULERS
            ]
            for i in range(count)
        ]
    )
    cells = ["{:.1f} ({:.1f} to {:.1f})".format(*interval(areas[:, k])) for k in (0, 1)]
    ratio = "{:.2f} ({:.2f} to {:.2f})".format(*interval(areas, ratio_of_means))
    lines.append(f"| bugs known, mean over the budget | {cells[0]} | {cells[1]} | {ratio} |")
    times = np.array([[clean_retired(by[n][i]) for n in SCHEDULERS] for i in range(count)])
    cells = ["{:.0f} s ({:.0f} to {:.0f})".format(*interval(times[:, k])) for k in (0, 1)]
    lines.append(f"| until all clean targets are retired | {cells[0]} | {cells[1]} | |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--campaign", type=Path, default=CAMPAIGN)
    parser.add_argument("--runs", type=Path, default=ROOT / "campaign-study.jsonl")
    parser.add_argument("--only-table", action="store_true")
    options = parser.parse_args()
    budget = options.budget or tomllib.loads(options.campaign.read_text())["campaign"]["budget"]
    with tempfile.TemporaryDirectory() as scratch:
        plan = read_plan(options.campaign, Path(scratch) / "built")
        seconds = plan.budget if options.budget is None else options.budget
        if failed := {} if options.only_table else build_all(plan, print):
            raise SystemExit(f"{budget}: {failed}")
        for repeat in range(0 if options.only_table else options.repeats):
            for name in SCHEDULERS:
                run = replace(plan, scheduler=name, seed=repeat + 1, budget=seconds)
                row = one_campaign(run, Path(scratch) / "run")
                with options.runs.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                half = found_by(row, seconds / 2)
                print(
                    f"{repeat + 1} {name}: {half} bugs halfway, {found_by(row, seconds)} in the end",
                    flush=True,
                )
    runs = [json.loads(line) for line in options.runs.read_text().splitlines()]
    print("\n".join(table(runs, seconds)))


if __name__ == "__main__":
    main()
