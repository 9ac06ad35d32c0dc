"""What all commands print alike: JSON for programs; what people read is in ``report.lines``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fuzzwise import streams
from fuzzwise.errors import NotEstimable
from fuzzwise.judge import Judgement
from fuzzwise.model import Estimate
from fuzzwise.report import lines
from fuzzwise.report.estimate_json import estimate_json
from fuzzwise.text import json_shown


def print_json(value: Any) -> None:
    """Print one JSON document; numbers that JSON does not know become null."""
    plain = not streams.knows_all(sys.stdout)
    click.echo(json_shown(json.dumps(finite(value), indent=2, ensure_ascii=plain)))


def judgement_json(a: Judgement) -> dict[str, object]:
    """What is known about a campaign, with the keys that all commands share."""
    o, decision = a.observation, a.decision
    stopped = decision if decision and decision.stop else None
    return {
        "inputs": o.n,
        "seconds": o.seconds,
        "inputs_per_second": o.n / o.seconds if o.seconds else None,
        "species": o.species,
        "discoveries": None if o.discoveries is None else len(o.discoveries),
        "corpus": None if o.seeds is None else len(o.seeds),
        "risk": estimate_json(a.risk),
        "estimates": {
            name: estimate_json(e) for name, e in a.estimates.items() if isinstance(e, Estimate)
        },
        "not_estimable": {
            name: str(e) for name, e in a.estimates.items() if isinstance(e, NotEstimable)
        },
        "richness": estimate_json(a.richness),
        "reach": {
            "inputs": 2 * o.n,
            "species": estimate_json(a.reach_species),
            "discoveries": estimate_json(a.reach_discoveries),
        },
        "inputs_left": estimate_json(a.inputs_left),
        "seconds_left": estimate_json(a.seconds_left),
        "inputs_to_stop": estimate_json(a.inputs_to_stop),
        "seconds_to_stop": estimate_json(a.seconds_to_stop),
        "stopped": {"reason": stopped.reason, "detail": stopped.detail} if stopped else None,
    }


def check_charts(paths: Sequence[Path]) -> None:
    """Refuse chart files of an unknown kind before any work is done."""
    if paths:
        from fuzzwise.report.charts.file import check

        for path in paths:
            check(path)


def save_charts(chart: Any, paths: Sequence[Path]) -> None:
    """Write a chart to each of the files."""
    from fuzzwise.report.charts.file import save

    for path in paths:
        save(chart, path)
        lines.say(f"Chart written to {path}", err=True)


def finite(value: Any) -> Any:
    """The same value, with null for the numbers that JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
