"""``fuzzwise replay``: schedulers against recorded logs, and the best that was possible."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fuzzwise.cli import growth_output, options, output
from fuzzwise.errors import BadInput
from fuzzwise.report import grid, lines
from fuzzwise.text import many
from fuzzwise.units import parse_duration

if TYPE_CHECKING:
    from fuzzwise.lab.evaluate.comparison import SchedulerScore
    from fuzzwise.lab.exact_optimum import BestWithin
    from fuzzwise.lab.optimum import Optimum
    from fuzzwise.lab.recording.recording import Recording
    from fuzzwise.lab.replay.replay import Replay
    from fuzzwise.schedulers.base import Algorithm

TENTHS = (1, 2, 5, 10)
SYNTHETIC_SECONDS = 10 * 86400.0


@click.command()
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--synthetic",
    type=click.IntRange(1, 10_000),
    metavar="CONFIGURATIONS",
    help="Replay a synthetic recording of that many configurations instead, 10 days each.",
)
@click.option(
    "--scheduler",
    "names",
    multiple=True,
    metavar="NAME",
    help="A scheduler to replay, such as risk-rate, with epochs of fixed time as in campaigns, or "
    "fixed-run/risk-rate; can be repeated. 'all' (the default), 'paper' for the 26 of FuzzSim, "
    "'newer' for those since then. A wrong name lists the known ones.",
)
@click.option(
    "--repeats",
    default=100,
    show_default=True,
    type=click.IntRange(1),
    help="Replays of each scheduler, each with the configurations in another order.",
)
@click.option(
    "--budget",
    "budget_text",
    metavar="TIME",
    help="Time for all configurations together, such as 10m or 2d. Default: the length of the "
    "shortest log.",
)
@click.option(
    "--epoch-runs",
    type=click.IntRange(1),
    help="Runs of an epoch of fixed-run schedulers. Default: 200, or less for a short budget.",
)
@click.option(
    "--epoch-time",
    "epoch_text",
    metavar="TIME",
    help="Time of an epoch of fixed-time schedulers. Default: 10s, or less for a short budget; for "
    "recordings of the targets of a campaign, what a campaign of that budget has.",
)
@click.option("--jobs", type=click.IntRange(1), help="Threads to use. Default: all cores.")
@click.option(
    "--outcome",
    type=click.Choice(["coverage", "discoveries", "proportion", "retired", "bugs", "worth"]),
    default="coverage",
    show_default=True,
    help="What schedulers are compared by, in recordings of the targets of a campaign; worth: "
    "bugs, coverage and retired targets together, counted in bugs.",
)
@click.option(
    "--accept-risk",
    "accepted_risk",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="RISK",
    help="Retire targets below that risk, in recordings of the targets of a campaign.",
)
@click.option(
    "--cores",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Turns at once, in recordings of the targets of a campaign.",
)
@options.seed
@options.as_json
@options.charts
def command(
    logs: tuple[Path, ...],
    synthetic: int | None,
    names: tuple[str, ...],
    repeats: int,
    budget_text: str | None,
    epoch_runs: int | None,
    epoch_text: str | None,
    jobs: int | None,
    outcome: str,
    accepted_risk: float | None,
    cores: int,
    seed: int,
    as_json: bool,
    charts: tuple[Path, ...],
) -> None:
    """Compare schedulers on recorded campaigns: what each would have found, and when.

    LOGS are folders that `fuzzwise record` and `fuzzwise triage` made, or .fuzzlog files. Every
    scheduler is replayed with the same budget; the table shows mean bugs with the 95 % interval of
    the mean, the mean number of bugs known over the budget (area), and how it compares with
    Round-Robin and with the scheduler of CERT BFF.
    """
    if bool(logs) == (synthetic is not None):
        raise BadInput("Give one thing to replay: LOGS, or --synthetic with a number.")
    output.check_charts(charts)
    from fuzzwise.lab.replay.replay import budget_of

    budget = parse_duration(budget_text) if budget_text else None
    chosen_time = parse_duration(epoch_text) if epoch_text else None
    _algorithms(names)  # a wrong name is an error before anything is read
    if files := _growth(logs):
        asked = growth_output.Asked(
            *(files, names, repeats, budget, chosen_time, cores, accepted_risk, outcome, seed),
            jobs or os.cpu_count() or 1,
        )
        compared = growth_output.compare_growth(asked)
        if as_json:
            output.print_json(growth_output.growth_json(asked, compared))
        else:
            growth_output.show_growth(asked, compared)
        if charts:
            output.save_charts(growth_output.growth_chart(asked, compared), charts)
        return
    recording = _recording(logs, synthetic, budget, seed)
    seconds = budget_of(recording, budget)
    epochs = _epochs(recording, seconds, epoch_runs, chosen_time)
    plan = _Plan(recording, seconds, epochs, repeats, seed)
    result = _compare(plan, _algorithms(names, *epochs), jobs or os.cpu_count() or 1)
    if as_json:
        output.print_json(_as_json(plan, result))
    else:
        _show(plan, result)
    if charts:
        output.save_charts(_chart(plan, result), charts)


def _growth(logs: tuple[Path, ...]) -> list[Path]:
    """The files of a recording of growth, where that is what was given."""
    from fuzzwise.lab.growth.recording import growth_files

    return growth_files(logs)


class _Plan(NamedTuple):
    """What is replayed, and how."""

    recording: Recording
    seconds: float
    """The budget."""
    epochs: tuple[int, float]
    """Runs of an epoch of fixed-run schedulers, seconds of one of fixed-time ones."""
    repeats: int
    seed: int


class _Result(NamedTuple):
    """What the schedulers found, and what the best one could have."""

    replays: list[Replay]
    scores: list[SchedulerScore]
    curves: Optimum
    best: BestWithin


def _compare(plan: _Plan, algorithms: list[Algorithm], jobs: int) -> _Result:
    from fuzzwise.lab.evaluate.comparison import compare
    from fuzzwise.lab.exact_optimum import optimum_at
    from fuzzwise.lab.optimum import best_schedules
    from fuzzwise.lab.replay.replay import replay

    curves = best_schedules(plan.recording)
    best = optimum_at(plan.recording, round(plan.seconds * 1e6), curves=curves)
    replays = replay(
        plan.recording,
        algorithms,
        budget=plan.seconds,
        repeats=plan.repeats,
        seed=plan.seed,
        jobs=jobs,
    )
    times = [plan.seconds * tenth / 10 for tenth in TENTHS]
    return _Result(replays, compare(replays, best.upper, times), curves, best)


def _algorithms(
    names: tuple[str, ...], epoch_runs: int = 200, epoch_time: float = 10.0
) -> list[Algorithm]:
    from fuzzwise.schedulers.registry import NEWER, PAPER_26, find, registered_names

    groups = {"all": registered_names(), "paper": PAPER_26, "newer": NEWER}
    chosen = [name for word in names or ("all",) for name in groups.get(word, (word,))]
    return [
        find(name, epoch_runs=epoch_runs, epoch_seconds=epoch_time)
        for name in dict.fromkeys(chosen)
    ]


def _recording(
    logs: tuple[Path, ...], synthetic: int | None, budget: float | None, seed: int
) -> Recording:
    if synthetic is None:
        from fuzzwise.lab.recording.load import read_recording

        recording = read_recording(logs)
        for warning in recording.warnings:
            lines.say(f"fuzzwise replay: {warning}", err=True)
        return recording
    from fuzzwise.lab.recording.synthetic import SyntheticCampaign, generate

    seconds = SYNTHETIC_SECONDS if budget is None else budget
    campaign = SyntheticCampaign(configurations=synthetic, seconds=seconds, seed=seed)
    return generate(campaign)[0]


def _epochs(
    recording: Recording, seconds: float, chosen_runs: int | None, chosen_time: float | None
) -> tuple[int, float]:
    """The lengths of epochs: as chosen, else as they suit the budget."""
    from fuzzwise.lab.replay.replay import epoch_lengths

    runs, time = epoch_lengths(recording, seconds)
    return chosen_runs or runs, chosen_time or time


def _as_json(plan: _Plan, result: _Result) -> dict[str, object]:
    recording, best = plan.recording, result.best
    shares = zip(recording.configurations, best.allocation.tolist(), strict=True)
    return {
        "configurations": len(recording.configurations),
        "distinct_bugs": len(recording.bugs),
        "budget": plan.seconds,
        "epoch_runs": plan.epochs[0],
        "epoch_seconds": plan.epochs[1],
        "repeats": plan.repeats,
        "seed": plan.seed,
        "optimum": best.upper,
        "optimum_at_least": best.lower,
        "optimum_allocation": {log.name: share / 1e6 for log, share in shares if share},
        "schedulers": [_score_json(score) for score in result.scores],
        "warnings": list(recording.warnings),
    }


def _score_json(score: SchedulerScore) -> dict[str, object]:
    return {
        "name": score.name,
        "bugs": score.bugs.value,
        "low": score.bugs.low,
        "high": score.bugs.high,
        "auc": score.area.value,
        "auc_low": score.area.low,
        "auc_high": score.area.high,
        "share_of_optimum": score.share_of_optimum,
        "at": [
            {"seconds": time, "bugs": m.value, "low": m.low, "high": m.high} for time, m in score.at
        ],
        "against": [
            {
                "baseline": a.baseline,
                "ratio": a.ratio,
                "bugs_ratio": a.bugs_ratio,
                "chance": a.chance,
                "p": a.p,
            }
            for a in score.against
        ],
    }


def _what(recording: Recording) -> str:
    shared = ", some shared" if recording.shares_bugs else ""
    count = many(len(recording.configurations), "configuration")
    return f"{count}, {many(len(recording.bugs), 'bug')}{shared}"


def _show(plan: _Plan, result: _Result) -> None:
    from fuzzwise.report.words import duration

    best, epochs = result.best, plan.epochs
    budget = f"a budget of {duration(plan.seconds)}, {many(plan.repeats, 'repeat')}"
    lines.say(f"{_what(plan.recording)}; {budget}.")
    lines.say(f"An epoch has {many(epochs[0], 'run')} or {duration(epochs[1])}.")
    bugs = many(best.upper, "bug")
    finds = bugs if best.exact else f"{best.lower} to {bugs}"
    lines.say(f"The best schedule in hindsight finds {finds}.")
    _show_scores(result.scores)
    lines.say(
        "bugs: at the end, with the 95% interval of the mean. area: mean number of bugs known over "
        "the budget. vs: ratio of the areas; + or - marks one that is larger or smaller beyond "
        "chance (p < 0.01, Mann-Whitney test, Holm's correction)."
    )


def _show_scores(scores: list[SchedulerScore]) -> None:
    from fuzzwise.report.words import duration

    baselines = [against.baseline for against in scores[0].against or scores[-1].against]
    times = [f"at {duration(time)}" for time, _ in scores[0].at[:-1]]
    versus = [f"vs {_short(name)}" for name in baselines]
    head = ("scheduler", "bugs", "interval", "area", "optimum", *versus, *times)
    rows = [
        (
            score.name,
            f"{score.bugs.value:.1f}",
            f"{score.bugs.low:.1f}–{score.bugs.high:.1f}",
            f"{score.area.value:.2f}",
            "–" if score.share_of_optimum is None else f"{score.share_of_optimum:.0%}",
            *(_against(score, name) for name in baselines),
            *(f"{m.value:.1f}" for _, m in score.at[:-1]),
        )
        for score in scores
    ]
    ranks = (0, 1, 3, 2, 5, *[4] * len(versus), *[6] * len(times))
    lines.table("Bugs found, best area first", grid.of_rows(head, rows, ranks))


def _short(baseline: str) -> str:
    return baseline.rpartition("/")[2]


def _against(score: SchedulerScore, baseline: str) -> str:
    found = next((a for a in score.against if a.baseline == baseline), None)
    if found is None:
        return "–"
    mark = " " if found.p >= 0.01 else "+" if found.chance > 0.5 else "-"
    return f"{found.ratio:.2f}{mark}"


def _chart(plan: _Plan, result: _Result) -> Any:
    from fuzzwise.report.charts import replay as chart

    moments = (chart.grid(plan.seconds) * 1e6).astype("int64")
    return chart.draw(
        result.replays,
        result.scores,
        result.curves.lower.bugs_at_each(moments),
        chart.headline(result.scores, result.best.upper, plan.seconds),
        [
            _what(plan.recording),
            f"{many(plan.repeats, 'repeat')} a scheduler, each in another order",
        ],
    )
