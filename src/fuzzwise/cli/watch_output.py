"""What ``fuzzwise watch`` prints: sentences for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from fuzzwise.cli import output
from fuzzwise.report import judgement_words, lines, short
from fuzzwise.report.watch import words as watch_words
from fuzzwise.text import printable
from fuzzwise.watch.end_cleanly import Ending
from fuzzwise.watch.follow import Look, Standing, Stopped
from fuzzwise.watch.judged import Judged


def report(look: Look, *, as_json: bool) -> None:
    """One look at all campaigns, conclusions first."""
    if as_json:
        output.print_json(document(look))
        return
    if len(look.campaigns) > 1:
        _overview(look)
    for campaign in look.campaigns:
        _show(campaign)


def print_line(look: Look) -> None:
    """One look as one line of JSON."""
    click.echo(json.dumps(output.finite(document(look))))


def final(look: Look, stopped: Stopped, endings: Sequence[str], *, as_json: bool) -> None:
    """The last look, why it is the last, and what became of the fuzzers."""
    why = {"reason": stopped.reason, "detail": stopped.detail}
    if as_json:
        whole = {**document(look), "stopped": why, "then_stop": list(endings)}
        click.echo(json.dumps(output.finite(whole)))
        return
    report(look, as_json=False)
    lines.say(f"Watched for {short.clock(look.seconds)}: {stopped.detail}")
    for text in endings:
        lines.say(text)


def endings(found: Sequence[tuple[Judged, Ending]], *, as_json: bool) -> list[str]:
    """What became of fuzzers that were to end; loud at once where it did not go well."""
    said = []
    for judged, ending in found:
        texts = [f"{watch_words.name(judged)}: {text}" for text in ending.sentences]
        said += texts
        if not ending.clean and not as_json:
            for text in texts:
                lines.say(f"WARNING  {text}", err=True)
    return said


def document(look: Look) -> dict[str, object]:
    """One campaign as it is; several as a list."""
    campaigns = [campaign_json(campaign) for campaign in look.campaigns]
    return campaigns[0] if len(campaigns) == 1 else {"campaigns": campaigns}


def campaign_json(campaign: Standing) -> dict[str, object]:
    """All that is known about a campaign, with the keys that all commands share."""
    judged = campaign.judged
    reading, decision, b = judged.reading, judged.judgement.decision, judged.judgement.exponent
    return {
        "path": printable(str(reading.path)),
        "name": watch_words.name(judged),
        "fuzzer": reading.kind,
        "version": watch_words.version(judged),
        "processes": [process.pid for process in reading.processes],
        **output.judgement_json(judged.judgement),
        "corpus": reading.corpus,
        "crashes": reading.crashes,
        "hangs": reading.hangs,
        "stability": reading.stability,
        "bugs": None,
        "exact": reading.exact,
        "power_law": None if b is None else {"exponent": b.value, "low": b.low, "high": b.high},
        "decision": None
        if decision is None
        else {"stop": decision.stop, "detail": decision.detail, "n": decision.n},
        "notes": [short.sentence(note) for note in judged.notes],
        "warnings": [short.sentence(warning.text) for warning in campaign.warnings],
    }


def _overview(look: Look) -> None:
    risk = look.campaigns[0].judged.judgement.accepted_risk
    if risk is not None:
        reached = sum(c.judged.reached for c in look.campaigns)
        are = "is" if reached == 1 else "are"
        lines.say(
            f"{reached} of {len(look.campaigns)} campaigns {are} below the accepted risk {risk:g}.\n"
        )


def _show(campaign: Standing) -> None:
    judged = campaign.judged
    path, name = printable(str(judged.reading.path)), watch_words.name(judged)
    lines.say(name if name == path else f"{name} ({path})")
    for line in watch_words.conclusion(judged):
        lines.say(line)
    for warning in campaign.warnings:
        lines.say(f"WARNING: {short.sentence(warning.text)}")
    lines.say()
    lines.show(lines.pairs(watch_words.facts(judged), lines.width_of(sys.stdout)))
    for line in watch_words.growth(judged):
        lines.say(line)
    lines.table(
        "Discovery probability, by every estimator that these files allow",
        judgement_words.columns(watch_words.possible(judged)),
    )
    missing = watch_words.impossible(judged)
    if missing:
        lines.say("These files do not allow:")
    for line in missing:
        lines.say(f"- {line}", hang=2)
    if judged.notes:
        lines.say("How the files were read:")
    for note in judged.notes:
        lines.say(f"- {short.sentence(note)}", hang=2)
    lines.say()
