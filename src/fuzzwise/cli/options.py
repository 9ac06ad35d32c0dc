"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Probability(click.FloatRange):
    """Between 0 and 1; what is not a number is in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not a number between 0 and 1.", param, ctx)
        return found


PROBABILITY = _Probability(0, 1, min_open=True, max_open=True)

PROMISE = (
    "What is promised, and where discoveries in bursts or a risk that rises break it: "
    "docs/stopping.md."
)

MAY_STOP = f"Say whether the campaign may stop at this risk, and how much is left to it. {PROMISE}"

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


def random_seed(meaning: str) -> Callable[[_Command], _Command]:
    """The seed of all that is drawn; ``meaning`` is what the same seed gives."""
    return click.option(
        "--seed", default=1, show_default=True, type=click.IntRange(0), help=meaning
    )


seed = random_seed("Random seed; the same seed gives the same result.")


def accept_risk(meaning: str) -> Callable[[_Command], _Command]:
    """The risk that the user accepts; ``meaning`` is what the command does with it."""
    return click.option("--accept-risk", type=PROBABILITY, metavar="R", help=meaning)
