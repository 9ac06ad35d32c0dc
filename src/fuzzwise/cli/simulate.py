"""``fuzzwise simulate``: urn campaigns with and without feedback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from fuzzwise.cli import options, output
from fuzzwise.errors import BadInput
from fuzzwise.lab.evaluate.simulated import as_campaigns
from fuzzwise.lab.urn.summary import ModeSummary, UrnSummary, run_both
from fuzzwise.lab.urn.urn import SCHEDULES, Urn, UrnCampaign, data_points, simulate
from fuzzwise.report import grid, lines, words
from fuzzwise.report.grid import Column
from fuzzwise.snapshot import write


@click.command()
@click.option("--species", default=50, show_default=True, type=click.IntRange(1, 10**6))
@click.option(
    "--inputs", default=50_000, show_default=True, type=click.IntRange(1, 10**15),
    help="Inputs per campaign; the cost depends on the discoveries, not on them.",
)  # fmt: skip
@click.option("--campaigns", default=30, show_default=True, type=click.IntRange(1, 10**6))
@options.seed
@click.option(
    "--ratio", default=1.3, show_default=True, type=click.FloatRange(1),
    help="By how much each species is rarer than the one before.",
)  # fmt: skip
@click.option(
    "--gravity", default=100.0, show_default=True, type=click.FloatRange(0, min_open=True),
    help="How little mutants stay near their seed.",
)  # fmt: skip
@click.option(
    "--schedule", default="uniform", show_default=True, type=click.Choice(SCHEDULES),
    help="Which seeds are mutated: all alike, or later ones more often.",
)  # fmt: skip
@click.option(
    "--bug", type=click.IntRange(1), metavar="SPECIES",
    help="The species that is the bug. [default: 40, or the last of fewer species]",
)  # fmt: skip
@options.as_json
@options.charts
@click.option(
    "--snapshots", type=click.Path(path_type=Path), metavar="OUT.jsonl",
    help="Also write what an observer of the greybox campaigns would have reported.",
)  # fmt: skip
def command(
    species: int,
    inputs: int,
    campaigns: int,
    seed: int,
    ratio: float,
    gravity: float,
    schedule: str,
    bug: int | None,
    as_json: bool,
    charts: tuple[Path, ...],
    snapshots: Path | None,
) -> None:
    """Simulate fuzzing campaigns on an urn, where the discovery probability is known exactly.

    Each campaign draws species from a distribution; with feedback (greybox) every new species
    becomes a seed and changes it, without (blackbox) it stays. The difference is the adaptive bias
    that misleads classical estimators.
    """
    output.check_charts(charts)
    urn = Urn(
        species=species,
        ratio=ratio,
        gravity=gravity,
        initial=(min(5, species),),
        bug=min(40, species) if bug is None else bug,
        schedule=schedule,
    )
    summary = run_both(urn, inputs, campaigns, seed)
    if as_json:
        settings = {"seed": seed, "inputs": inputs, "campaigns": campaigns, "schedule": schedule}
        output.print_json({**settings, "species": species, "bug": urn.bug, **_json(summary)})
    else:
        _show(summary)
    if snapshots:
        _write_snapshots(snapshots, simulate(urn, "greybox", data_points(inputs), campaigns, seed))
    if charts:
        from fuzzwise.report.charts.urn import draw

        output.save_charts(draw(summary), charts)


def _write_snapshots(path: Path, runs: list[UrnCampaign]) -> None:
    try:
        write(path, as_campaigns(runs))
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}).") from error
    lines.say(f"Snapshots written to {path}", err=True)


def _json(summary: UrnSummary) -> dict[str, object]:
    rows = zip(
        summary.greybox.points.tolist(),
        summary.bias.tolist(),
        summary.log_bias.tolist(),
        strict=True,
    )
    return {
        "modes": {m.mode: _mode_json(m) for m in (summary.greybox, summary.blackbox)},
        "adaptive_bias": [
            {"n": n, "difference": difference, "log10_ratio": ratio}
            for n, difference, ratio in rows
        ],
    }


def _mode_json(mode: ModeSummary) -> dict[str, object]:
    law = mode.law
    columns = {
        "n": mode.points,
        "discovery_probability": mode.delta,
        "low": mode.delta_low,
        "high": mode.delta_high,
        "species": mode.species,
        "bug_probability": mode.bug_probability,
    }
    return {
        "r2": law.r2 if law else None,
        "slope": law.slope if law else None,
        "bug_found_in": len(mode.bug_found_at),
        "median_inputs_to_bug": mode.median_bug,
        "points": [
            dict(zip(columns, row, strict=True))
            for row in zip(*(c.tolist() for c in columns.values()), strict=True)
        ],
    }


def _show(summary: UrnSummary) -> None:
    grey, black = summary.greybox, summary.blackbox
    shown = _decades(grey.points.tolist())
    over = words.many(grey.campaigns, "campaign")
    lines.table(
        f"Urn with {summary.urn.species} species, means over {over}", _columns(summary, shown)
    )
    lines.say("Δ: probability that the next input shows a species for the first time (exact).")
    lines.say(
        "g: greybox, b: blackbox; bias: adaptive bias, log10 of Δ g / Δ b; bug: probability of the "
        "bug."
    )
    for mode in (grey, black):
        law = f"R² {mode.law.r2:.4f}, slope {mode.law.slope:.2f}" if mode.law else "none"
        median = mode.median_bug
        bug = (
            "" if median is None else f", half of them within {words.many(round(median), 'input')}"
        )
        lines.say(
            f"{mode.mode}: power law of Δ on n: {law}; bug found in {len(mode.bug_found_at)} of "
            f"{words.many(mode.campaigns, 'campaign')}{bug}."
        )


def _columns(summary: UrnSummary, shown: list[int]) -> list[Column]:
    grey, black = summary.greybox, summary.blackbox
    rows = [
        (
            f"{int(grey.points[i]):,}",
            words.number(float(grey.delta[i])),
            words.number(float(black.delta[i])),
            f"{summary.log_bias[i]:+.2f}".replace("+nan", "–"),
            f"{grey.species[i]:.1f}",
            f"{black.species[i]:.1f}",
            words.number(float(grey.bug_probability[i]), 2),
            words.number(float(black.bug_probability[i]), 2),
        )
        for i in shown
    ]
    head = ("inputs", "Δ g", "Δ b", "bias", "species g", "species b", "bug g", "bug b")
    first, *others = grid.of_rows(head, rows)
    return [replace(first, right=True), *others]


def _decades(points: list[int]) -> list[int]:
    """Indices of the points nearest below 1, 2, 5, 10, 20, … and the last."""
    wanted = [m * 10**e for e in range(16) for m in (1, 2, 5) if m * 10**e <= points[-1]]
    near = {max(i for i, n in enumerate(points) if n <= w) for w in wanted}
    return sorted(near | {len(points) - 1})
