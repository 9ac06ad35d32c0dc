"""``fuzzwise estimate``: the residual risk of a campaign from its snapshot file."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzwise.assessment import Assessment, assess
from fuzzwise.cli import options, output
from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.estimators.registry import DEFAULT
from fuzzwise.model import Estimate
from fuzzwise.report import words
from fuzzwise.snapshot import read


@click.command()
@click.argument("snapshots", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--accept-risk",
    type=options.PROBABILITY,
    metavar="R",
    help="Say whether the campaign may stop at this risk, and how much is left to it.",
)
@options.confidence
@options.as_json
def command(
    snapshots: tuple[Path, ...], accept_risk: float | None, confidence: float, as_json: bool
) -> None:
    """Estimate the residual risk of the campaigns in SNAPSHOTS, by every estimator.

    The discovery probability is the chance that the next input shows something new: an upper
    bound on the residual risk, the chance that it shows a bug. The latest observation of each
    campaign counts. The file format is described in docs/snapshot-format.md.
    """
    found = []
    for path in snapshots:
        log = read(path)
        for warning in log.warnings:
            click.echo(f"Warning: {warning}", err=True)
        for campaign in log.campaigns:
            name = campaign.name or path.stem
            if campaign.observations:
                found.append((path, name, assess(campaign, accept_risk, confidence)))
            else:
                click.echo(f"Warning: {path}: {name!r} has no observation yet.", err=True)
    if not found:
        raise BadInput("There is no observation to estimate from.")
    if as_json:
        documents = [
            {"file": str(path), "campaign": name, **output.assessment_json(a)}
            for path, name, a in found
        ]
        output.print_json({"campaigns": documents})
        return
    for path, name, assessment in found:
        _show(path, name, assessment)


def _show(path: Path, name: str, a: Assessment) -> None:
    o = a.observation
    facts = [f"{o.n:,} inputs"]
    if o.seconds is not None:
        facts.append(words.duration(o.seconds))
    if o.species is not None:
        facts.append(f"{o.species:,} species")
    if o.discoveries is not None:
        facts.append(f"{len(o.discoveries):,} discoveries")
    if o.seeds is not None:
        facts.append(f"{len(o.seeds):,} seeds")
    click.echo(f"{name} ({path}): {', '.join(facts)}")
    if a.risk:
        click.echo(
            f"The next input shows something new with probability {words.probability(a.risk)}; "
            "the residual risk is at most that."
        )
    else:
        click.echo(f"No default estimate: {DEFAULT} {a.estimates[DEFAULT]}.")
    _show_decision(a)
    output.print_table(
        "Discovery probability, by every estimator",
        ("estimator", "Δ", "low", "high", "note"),
        [_row(method, e) for method, e in a.estimates.items()],
    )
    _show_richness(a)
    click.echo()


def _row(method: str, e: Estimate | NotEstimable) -> tuple[str, ...]:
    name = f"{method} (default)" if method == DEFAULT else method
    if isinstance(e, NotEstimable):
        return name, "–", "–", "–", str(e)
    above = "above 1: it counts species, not inputs" if e.value > 1 else ""
    note = "; ".join(filter(None, [e.note, above]))
    return name, words.number(e.value), words.number(e.low), words.number(e.high), note


def _show_decision(a: Assessment) -> None:
    if a.decision is None:
        return
    if a.decision.stop:
        click.echo(f"Stop: {a.decision.detail}")
        return
    click.echo(f"Go on: {a.decision.detail}")
    left, seconds = a.inputs_left, a.seconds_left
    if left is None:
        return
    line = (
        f"Left to an accepted risk of {a.accepted_risk:g}: {words.span(left, words.count)} inputs"
    )
    if seconds:
        line += f", at the present speed {words.span(seconds, words.duration)}"
    click.echo(line + ".")


def _show_richness(a: Assessment) -> None:
    if a.richness:
        click.echo(
            f"Species in all, as far as the present corpus reaches: {_about(a.richness)} "
            "(Chao2, a lower bound)."
        )
    if a.reach_discoveries:
        then = _about(a.reach_discoveries)
        click.echo(f"Discoveries in all if the campaign is run as long again: {then}.")


def _about(e: Estimate) -> str:
    return words.span(e, lambda x: f"{x:,.0f}")
