"""``fuzzwise evaluate``: estimators against ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fuzzwise.cli import options, output
from fuzzwise.errors import BadInput
from fuzzwise.report import grid, lines
from fuzzwise.text import many

if TYPE_CHECKING:
    import polars as pl

    from fuzzwise.lab.evaluate.published import Published


@click.command()
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--published",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Judge the measurements published with the residual risk paper.",
)
@click.option(
    "--simulated",
    type=click.IntRange(1),
    metavar="CAMPAIGNS",
    help="Judge that many simulated greybox campaigns of 50 species, 50,000 inputs each.",
)
@options.seed
@options.confidence
@options.as_json
@options.charts
def command(
    logs: tuple[Path, ...],
    published: Path | None,
    simulated: int | None,
    seed: int,
    confidence: float,
    as_json: bool,
    charts: tuple[Path, ...],
) -> None:
    """Judge every estimator by bias, variance, coverage and share of under-estimates.

    Give one source of truth: LOGS, snapshot files with measured discovery probabilities; or
    --published; or --simulated. Bias is in orders of magnitude: +1 is ten times too high. All
    averages are over the data points beyond 1,000 inputs.
    """
    if (bool(logs), published is not None, simulated is not None).count(True) != 1:
        raise BadInput("Give one source of truth: snapshot files, --published or --simulated.")
    output.check_charts(charts)
    if published is not None:
        _published(published, as_json, charts)
    else:
        _own(logs, simulated or 0, seed, confidence, as_json, charts)


def _published(path: Path, as_json: bool, charts: tuple[Path, ...]) -> None:
    from fuzzwise.lab.evaluate.published import evaluate, read

    result = evaluate(read(path))
    if as_json:
        subjects = {
            s.name: {
                "r2": s.law.r2,
                "slope": s.law.slope,
                "bias": s.bias,
                "variance": s.variance,
                "left_out": s.left_out,
            }
            for s in result.subjects
        }
        output.print_json({"subjects": subjects, "mean_r2": result.mean_r2})
    else:
        _show_published(result)
    if charts:
        from fuzzwise.report.charts.score import draw_published

        output.save_charts(draw_published(result), charts)


def _show_published(result: Published) -> None:
    names = list(result.subjects[0].bias)
    laws = [
        (s.name, f"{s.law.r2:.4f}", f"{s.law.slope:.3f}", str(s.law.points))
        for s in result.subjects
    ]
    laws.append(("mean", f"{result.mean_r2:.4f}", "", ""))
    lines.table(
        "Power law of the discovery probability, n > 1000",
        grid.of_rows(("subject", "R²", "slope", "points"), laws),
    )
    # Estimators are rows, since there are many of them: as columns they would not fit.
    head = ("estimator", *(s.name for s in result.subjects))
    lines.table(
        "RQ1: mean bias, orders of magnitude (0 is right, below 0 is dangerous)",
        grid.of_rows(head, [(e, *(f"{s.bias[e]:+.2f}" for s in result.subjects)) for e in names]),
    )
    lines.table(
        "RQ2: mean variance of log10 of the estimate over the runs",
        grid.of_rows(
            head, [(e, *(f"{s.variance[e]:.3f}" for s in result.subjects)) for e in names]
        ),
    )
    left_out = [
        f"{count} of {estimator} on {s.name}"
        for s in result.subjects
        for estimator, count in s.left_out.items()
        if count
    ]
    if left_out:
        lines.say(f"Left out, because an estimate of 0 has no logarithm: {', '.join(left_out)}.")


def _own(
    logs: tuple[Path, ...],
    simulated: int,
    seed: int,
    confidence: float,
    as_json: bool,
    charts: tuple[Path, ...],
) -> None:
    from fuzzwise.lab.evaluate.measures import beside_truth, score, summarise

    if logs:
        from fuzzwise.snapshot import read

        contents = [read(path) for path in logs]
        for warning in (w for log in contents for w in log.warnings):
            lines.say(f"Warning: {warning}", err=True)
        campaigns = [campaign for log in contents for campaign in log.campaigns]
        source = f"{many(len(campaigns), 'campaign')} from {', '.join(map(str, logs))}"
    else:
        from fuzzwise.lab.evaluate.simulated import as_campaigns
        from fuzzwise.lab.urn.urn import Urn, data_points, simulate

        runs = simulate(Urn(), "greybox", data_points(50_000), simulated, seed)
        campaigns = list(as_campaigns(runs))
        source = f"{many(simulated, 'simulated greybox campaign')}, 50 species, seed {seed}"
    scores = score(beside_truth(campaigns, confidence))
    summary = summarise(scores)
    if as_json:
        output.print_json(_scores_json(scores, summary))
    else:
        _show_scores(summary, source)
    if charts:
        from fuzzwise.report.charts.score import draw_scores

        title = "Estimators against the true discovery probability"
        output.save_charts(draw_scores(scores, title, [source]), charts)


MEASURES = ("bias", "variance", "under", "coverage", "beyond", "left_out")


def _scores_json(scores: pl.DataFrame, summary: pl.DataFrame) -> dict[str, object]:
    subjects: dict[str, dict[str, object]] = {}
    for row in summary.to_dicts():
        of_subject = subjects.setdefault(row["subject"] or "all", {name: {} for name in MEASURES})
        for name in MEASURES:
            measure = of_subject[name]
            assert isinstance(measure, dict)
            measure[row["estimator"]] = row[name]
    return {"subjects": subjects, "points": scores.to_dicts()}


def _show_scores(summary: pl.DataFrame, source: str) -> None:
    lines.say(f"Judged: {source}. Averages over the points beyond 1,000 inputs.")
    for subject in summary["subject"].unique(maintain_order=True):
        rows = summary.filter(summary["subject"] == subject).to_dicts()
        head = ("estimator", "bias", "variance", "under", "coverage", "beyond", "left out")
        lines.table(subject or "All campaigns", grid.of_rows(head, map(_score_row, rows)))
    lines.say(
        "bias: mean log10(estimate / truth); variance: of log10 estimates over campaigns; "
        "under: share of estimates below the truth; coverage: share of intervals that hold it; "
        "beyond: share of intervals that end below it; left out: points without a logarithm."
    )


def _score_row(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["estimator"],
        "–" if row["bias"] is None else f"{row['bias']:+.2f}",
        "–" if row["variance"] is None else f"{row['variance']:.3f}",
        f"{row['under']:.0%}",
        "–" if row["coverage"] is None else f"{row['coverage']:.0%}",
        "–" if row["beyond"] is None else f"{row['beyond']:.0%}",
        str(row["left_out"]),
    )
