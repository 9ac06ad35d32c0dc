"""The study of all schedulers: writes docs/scheduler-study.md and its figures.

Run ``make scheduler-study``. It replays every scheduler on the recorded data set and on synthetic
recordings; all follows from one seed.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dataset_programs import CONFIGURATIONS
from fuzzwise.lab.evaluate.comparison import BASELINES, Mean, compare, mean
from fuzzwise.lab.exact_optimum import BestWithin, optimum_at
from fuzzwise.lab.optimum import best_schedules
from fuzzwise.lab.recording.load import read_recording
from fuzzwise.lab.recording.recording import MARK, Recording
from fuzzwise.lab.recording.synthetic import SyntheticCampaign, generate
from fuzzwise.lab.replay.replay import Replay, epoch_lengths, replay
from fuzzwise.report.charts import replay as replay_chart
from fuzzwise.report.charts.file import save
from fuzzwise.report.words import duration
from fuzzwise.schedulers.registry import PAPER_26, find, registered_names

ROOT = Path(__file__).parents[1]
DATASET = ROOT / "datasets" / "small-programs.fuzzlog"
SEED = 2013
DAY = 86_400.0
ROUND_ROBIN, BFF = BASELINES
DEFAULT = "fixed-time/risk-rate"
JOBS = os.cpu_count() or 1


@dataclass(frozen=True)
class World:
    """Something to replay: recordings that are alike, a budget, lengths of epochs."""

    name: str
    what: str
    recordings: tuple[Recording, ...]
    budget: float
    epoch_runs: int
    epoch_seconds: float
    repeats: int


@dataclass(frozen=True)
class Result:
    """Of every scheduler, the mean number of bugs known and the bugs in the end, by recording."""

    world: World
    area: dict[str, np.ndarray]
    bugs: dict[str, np.ndarray]
    halfway: dict[str, np.ndarray]
    repeats_of_first: list[Replay]

    def ratio(self, name: str, other: str, what: str = "area") -> Mean:
        """How many times the other's value, with the interval over recordings (or repeats)."""
        values = getattr(self, what)
        return mean(values[name] / np.maximum(values[other], 1e-9))


def main() -> None:
    """Replay everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--recordings", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    results = []
    for world in worlds(options.recordings, options.repeats):
        results.append(play(world))
        print(f"{world.name}: done", flush=True)
    figures(results, options.out / "figures")
    page = "\n".join([*head(results), *findings(results), *tables(results)])
    (options.out / "scheduler-study.md").write_text(page + "\n", encoding="utf-8")


def worlds(recordings: int, repeats: int) -> list[World]:
    """The recorded data set at two budgets, and four kinds of synthetic recordings."""
    real = real_programs()
    short, long = real.shortest_seconds, 10 * real.shortest_seconds
    found = [
        World(
            "real 2 min",
            f"the recorded programs of Debian, {duration(short)} for all",
            (real,),
            short,
            *epoch_lengths(real, short),
            repeats,
        ),
        World(
            "real 20 min",
            f"the recorded programs of Debian, {duration(long)} for all",
            (real,),
            long,
            *epoch_lengths(real, short),
            repeats,
        ),
    ]
    base = SyntheticCampaign(configurations=100, seconds=10 * DAY)
    kinds = {
        "mixed": ("speeds from 0.1 to 1000 runs/s", base),
        "equal speeds": ("all at 10 runs/s", replace(base, slowest=10.0, fastest=10.0)),
        "shared": ("three of four bugs shared", replace(base, shared=0.75)),
        "uneven": ("bugs in few programs", replace(base, evenness=0.08)),
    }
    for name, (what, campaign) in kinds.items():
        drawn = tuple(
            generate(replace(campaign, seed=SEED + number))[0] for number in range(recordings)
        )
        what = f"synthetic, 100 configurations, 10 days, {what}"
        found.append(World(name, what, drawn, 10 * DAY, 200, 10.0, 3))
    return found


def real_programs() -> Recording:
    """The data set without the examples of this repository, whose bugs were planted."""
    whole = read_recording([DATASET])
    names = {row.name for row in CONFIGURATIONS}
    logs = [log for log in whole.configurations if log.name in names]
    shown = np.unique(np.concatenate([log.first_shown[0] for log in logs]))
    number = np.full(len(whole.bugs) + 1, MARK)  # the last one is that of MARK itself
    number[shown] = np.arange(len(shown))
    return Recording(
        tuple(replace(log, bugs=number[log.bugs]) for log in logs),
        tuple(whole.bugs[bug] for bug in shown),
    )


def play(world: World) -> Result:
    """Replay every scheduler on every recording of a world."""
    algorithms = [
        find(name, epoch_runs=world.epoch_runs, epoch_seconds=world.epoch_seconds)
        for name in registered_names()
    ]
    columns: dict[str, dict[str, list[np.ndarray]]] = {"area": {}, "bugs": {}, "halfway": {}}
    first: list[Replay] = []
    for number, recording in enumerate(world.recordings):
        replays = replay(
            recording, algorithms, budget=world.budget, repeats=world.repeats, seed=SEED, jobs=JOBS
        )
        first = first or replays
        for played in replays:
            name = played.algorithm.name
            columns["area"].setdefault(name, []).append(played.area)
            columns["bugs"].setdefault(name, []).append(played.bugs_at(world.budget))
            columns["halfway"].setdefault(name, []).append(played.bugs_at(world.budget / 2))
        print(f"  {world.name} {number + 1} of {len(world.recordings)}", flush=True)
    single = len(world.recordings) == 1
    shaped = {
        what: {
            name: np.asarray(rows[0] if single else [row.mean() for row in rows], float)
            for name, rows in by_name.items()
        }
        for what, by_name in columns.items()
    }
    return Result(world, shaped["area"], shaped["bugs"], shaped["halfway"], first)


def figures(results: list[Result], folder: Path) -> None:
    """Bugs over time, for the first recording of some worlds."""
    for result in results:
        if result.world.name not in ("real 2 min", "real 20 min", "mixed"):
            continue
        world, recording = result.world, result.world.recordings[0]
        curves = best_schedules(recording)
        best = optimum_at(recording, round(world.budget * 1e6), curves=curves)
        scores = compare(result.repeats_of_first, best.upper, [world.budget])
        optimum = curves.lower.bugs_at_each((replay_chart.grid(world.budget) * 1e6).astype("int64"))
        chart = replay_chart.draw(
            result.repeats_of_first,
            scores,
            optimum,
            replay_chart.headline(scores, best.upper, world.budget),
            [world.what, f"{world.repeats} repeats a scheduler, each in another order"],
        )
        save(chart, folder / f"schedulers-{world.name.replace(' ', '-')}.svg")


def head(results: list[Result]) -> list[str]:
    """What was replayed."""
    real = results[0].world.recordings[0]
    best = [optimum_at(real, round(result.world.budget * 1e6)) for result in results[:2]]
    lines = [
        "# Which scheduler finds most",
        "",
        "Every scheduler of [the list](schedulers.md), replayed on [recorded real programs](dataset.md)",
        f"({len(real.configurations)} configurations: without the examples of this repository, whose bugs were planted)",
        "and on synthetic recordings whose truth is known. This page and its figures are written by",
        "`make scheduler-study`; do not edit them.",
        "",
        "| world | what | budget | bugs in it | epochs |",
        "|---|---|---|---|---|",
    ]
    for result in results:
        world = result.world
        bugs = np.mean([len(r.bugs) for r in world.recordings])
        lines.append(
            f"| {world.name} | {world.what} | {duration(world.budget)} | {bugs:.0f} | "
            f"{world.epoch_runs} runs or {duration(world.epoch_seconds)} |"
        )
    return [
        *lines,
        "",
        f"On the real programs, the best schedule in hindsight finds {said(best[0])} bugs in "
        f"{duration(results[0].world.budget)} and {said(best[1])} in "
        f"{duration(results[1].world.budget)}.",
        "",
        "Intervals are 95 % intervals of the mean: over the repeats for the real programs (one data",
        "set: they say nothing about other programs), over independent recordings for the synthetic",
        "worlds.",
        "",
    ]


def said(best: BestWithin) -> str:
    return f"{best.lower}" if best.exact else f"{best.lower} to {best.upper}"


def findings(results: list[Result]) -> list[str]:
    """The conclusions, each with the numbers it rests on."""
    by_name = {result.world.name: result for result in results}
    real, longer = by_name["real 2 min"], by_name["real 20 min"]
    mixed, equal = by_name["mixed"], by_name["equal speeds"]
    first = [result.world.name for result in results if ranked(result)[0] == DEFAULT]
    elsewhere = [ahead(result) for result in results if ranked(result)[0] != DEFAULT]
    return [
        "## What it shows",
        "",
        f"- **{DEFAULT}, the default, knows {times(real.ratio(DEFAULT, BFF))} times as many bugs over "
        f"the budget as BFF's on the real programs**, {times(longer.ratio(DEFAULT, BFF))} times over "
        f"a budget of {duration(longer.world.budget)}, and {times(mixed.ratio(DEFAULT, BFF))} times "
        f"on synthetic ones of mixed speed. Of {len(real.area)}, it is first in {len(first)} of "
        f"{len(results)} worlds ({', '.join(first) or 'none'}). {' '.join(elsewhere)} The policy was "
        "designed on synthetic recordings like these and never tuned on the real ones.",
        f"- **Time-normalised beliefs help where speeds differ**, as FuzzSim's paper found: "
        f"{times(normalised(real))} times the area on the real programs and "
        f"{times(normalised(mixed))} on mixed speeds; at equal speeds {times(normalised(equal))}, "
        f"and over a long budget {times(normalised(longer))}.",
        f"- **Fixed-time epochs help under the same conditions**: {times(fixed_time(real))} on the "
        f"real programs, {times(fixed_time(mixed))} on mixed speeds, {times(fixed_time(equal))} at "
        f"equal speeds and {times(fixed_time(longer))} over a long budget.",
        f"- **1.5 times BFF's bugs is not what we see**: the best of the 26 has "
        f"{times(best_over_bff(real))} times BFF's in the end on the real programs "
        f"({times(best_over_bff_halfway(real))} halfway), {times(best_over_bff(mixed))} on mixed "
        f"speeds. As the budget grows, everyone finds everything: {times(best_over_bff(longer))} "
        f"in {duration(longer.world.budget)}.",
        f"- **What to take**: {DEFAULT}; of FuzzSim's 26, fixed-time/epsilon-greedy/rate. Good-UCB's "
        "and EXP3.S.1's guarantees hold against any adversary, and cost too much here.",
        "",
        "| world | knows most | times BFF | times Round-Robin | best of the 26 | times BFF | default, times BFF |",
        "|---|---|---|---|---|---|---|",
        *(winner_row(result) for result in results),
        "",
        "FuzzSim's findings, in every world:",
        "",
        "| claim | measure | " + " | ".join(result.world.name for result in results) + " |",
        "|---|---|" + "---|" * len(results),
        *(
            f"| {claim} | {measure} | " + " | ".join(times(compute(r)) for r in results) + " |"
            for claim, measure, compute in CLAIMS
        ),
        "",
    ]


def ranked(result: Result) -> list[str]:
    """All schedulers, the largest area first."""
    return sorted(result.area, key=lambda name: -result.area[name].mean())


def ahead(result: Result) -> str:
    """Who is before the default, and by how much."""
    best = ranked(result)[0]
    return (
        f"In {result.world.name} it is {best}, with {times(result.ratio(best, BFF))} times BFF's; "
        f"the default has {times(result.ratio(DEFAULT, BFF))}."
    )


def winner_row(result: Result) -> str:
    best = ranked(result)[0]
    paper = next(name for name in ranked(result) if name in PAPER_26)
    cells = (
        result.world.name,
        best,
        times(result.ratio(best, BFF)),
        times(result.ratio(best, ROUND_ROBIN)),
        paper,
        times(result.ratio(paper, BFF)),
        times(result.ratio(DEFAULT, BFF)),
    )
    return "| " + " | ".join(cells) + " |"


def normalised(result: Result) -> Mean:
    """Time-normalised beliefs over run-normalised ones, all else equal, geometric mean."""
    pairs = [
        (name.replace(slow, fast), name)
        for slow, fast in (("/rpm", "/ewt"), ("/density", "/rate"))
        for name in PAPER_26
        if name.endswith(slow)
    ]
    return geometric(result, pairs, "area")


def fixed_time(result: Result) -> Mean:
    """Fixed-time epochs over fixed-run ones, policy by policy, geometric mean."""
    pairs = [
        (name.replace("fixed-run/", "fixed-time/"), name)
        for name in PAPER_26
        if name.startswith("fixed-run/")
    ]
    return geometric(result, pairs, "area")


def best_over_bff(result: Result) -> Mean:
    """The best of the 26 in the end, over BFF."""
    return result.ratio(best_of_paper(result, "bugs"), BFF, "bugs")


def best_over_bff_halfway(result: Result) -> Mean:
    """The best of the 26 at half the budget, over BFF."""
    return result.ratio(best_of_paper(result, "halfway"), BFF, "halfway")


def best_of_paper(result: Result, what: str) -> str:
    values = getattr(result, what)
    return max(PAPER_26, key=lambda name: values[name].mean())


def geometric(result: Result, pairs: list[tuple[str, str]], what: str) -> Mean:
    values = getattr(result, what)
    logs = [np.log(np.maximum(values[a], 1e-9) / np.maximum(values[b], 1e-9)) for a, b in pairs]
    found = mean(np.mean(logs, axis=0), least=-np.inf)
    return Mean(*(float(np.exp(v)) for v in (found.value, found.low, found.high)))


CLAIMS = (
    ("time-normalised beliefs help", "area, ewt and rate over rpm and density", normalised),
    ("fixed-time epochs help", "area, the 13 with fixed-time over fixed-run", fixed_time),
    ("the best of the 26 finds 1.5 times BFF's bugs", "bugs at the end", best_over_bff),
    ("the same, halfway", "bugs at half the budget", best_over_bff_halfway),
)


def times(value: Mean) -> str:
    return f"{value.value:.2f} ({value.low:.2f}–{value.high:.2f})"


def tables(results: list[Result]) -> list[str]:
    """Every scheduler in every world."""
    lines = []
    for title, what in (
        ("Bugs known over the budget (area), as a multiple of BFF's", "area"),
        ("Bugs at the end, as a multiple of BFF's", "bugs"),
    ):
        order = sorted(
            results[0].area,
            key=lambda name: (
                -np.mean([np.log(max(r.ratio(name, BFF, what).value, 1e-9)) for r in results])
            ),
        )
        lines += [
            f"## {title}",
            "",
            "| scheduler | " + " | ".join(result.world.name for result in results) + " |",
            "|---|" + "---|" * len(results),
        ]
        for name in order:
            cells = " | ".join(times(result.ratio(name, BFF, what)) for result in results)
            lines.append(f"| {name} | {cells} |")
        lines.append("")
    return [
        *lines[:-1],
        "",
        "## Over time",
        "",
        "![Bugs over time on the real programs](figures/schedulers-real-2-min.svg)",
        "",
        "![The same with a longer budget](figures/schedulers-real-20-min.svg)",
        "",
        "![Bugs over time on a synthetic recording](figures/schedulers-mixed.svg)",
    ]


if __name__ == "__main__":
    main()
