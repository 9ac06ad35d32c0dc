"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

PROBABILITY = click.FloatRange(0, 1, min_open=True, max_open=True)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")

confidence = click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    type=PROBABILITY,
    help="Confidence of the intervals.",
)

charts = click.option(
    "--chart",
    "charts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="OUT",
    help="Draw the chart to a file: .html, .svg or .png. Can be repeated.",
)

seed = click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    help="Random seed; the same seed gives the same result.",
)
