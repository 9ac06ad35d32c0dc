"""``fuzzwise estimate``: the residual risk of a campaign from its snapshot file."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzwise.cli import options, output
from fuzzwise.errors import BadInput
from fuzzwise.judge import Judgement, Terms, judge_log
from fuzzwise.report import judgement_words, lines, words
from fuzzwise.snapshot import read


@click.command()
@click.argument("snapshots", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.accept_risk(options.MAY_STOP)
@options.confidence
@options.as_json
def command(
    snapshots: tuple[Path, ...], accept_risk: float | None, confidence: float, as_json: bool
) -> None:
    """Estimate the residual risk of the campaigns in SNAPSHOTS, by every estimator.

    The discovery probability is the chance that the next input shows something new. It bounds the
    residual risk, the chance that it shows a new bug, as far as each bug first shows together with
    something new (docs/stopping.md has an example of one that does not). The latest observation of each
    campaign counts. The file format is described in docs/snapshot-format.md.
    """
    found = []
    terms = Terms(accept_risk, confidence)
    for path in snapshots:
        log = read(path)
        for warning in log.warnings:
            lines.say(f"Warning: {warning}", err=True)
        for campaign in log.campaigns:
            name = campaign.name or path.stem
            if campaign.observations:
                found.append((path, name, judge_log(campaign.observations, terms)))
            else:
                lines.say(f"Warning: {path}: {name!r} has no observation yet.", err=True)
    if not found:
        raise BadInput("There is no observation to estimate from.")
    if as_json:
        documents = [
            {"file": str(path), "campaign": name, **output.judgement_json(a)}
            for path, name, a in found
        ]
        output.print_json({"campaigns": documents})
        return
    for path, name, judgement in found:
        _show(path, name, judgement)


def _show(path: Path, name: str, a: Judgement) -> None:
    o = a.observation
    facts = [words.many(o.n, "input")]
    if o.seconds is not None:
        facts.append(words.duration(o.seconds))
    if o.species is not None:
        facts.append(f"{o.species:,} species")
    if o.discoveries is not None:
        facts.append(words.many(len(o.discoveries), "discovery"))
    if o.seeds is not None:
        facts.append(words.many(len(o.seeds), "seed"))
    lines.say(f"{name} ({path}): {', '.join(facts)}")
    lines.say(judgement_words.risk(a))
    for line in judgement_words.decision(a):
        lines.say(line)
    title = "Discovery probability, by every estimator"
    lines.table(title, judgement_words.columns(a.estimates))
    for line in judgement_words.richness(a):
        lines.say(line)
    lines.say()
