"""What the schedulers of a replay on recordings of growth reach over time, beside the bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fuzzwise.lab.growth.comparison import BASELINE, GrowthScore, one_round
from fuzzwise.lab.growth.replay import BINS, GrowthReplay
from fuzzwise.model import Floats
from fuzzwise.report.charts.file import load_altair
from fuzzwise.report.charts.replay import COLOURS, MOST_NAMED, OTHERS, UNITS
from fuzzwise.report.charts.style import dressed
from fuzzwise.report.words import duration

BOUND = "no schedule can exceed"
COUNTED = ("bugs", "retired", "worth")
"""Outcomes that begin at nothing: they are drawn as they are, the others beside Round-Robin's."""


def draw(
    replays: Sequence[GrowthReplay],
    scores: Sequence[GrowthScore],
    bound: Floats,
    outcome: tuple[str, int],
    subtitle: Sequence[str],
) -> Any:
    """The best schedulers and Round-Robin by name, the others in grey, the bound dashed.

    ``bound``: at the end of each bin; ``outcome``: its name and its number.
    """
    name, number = outcome
    settings = replays[0].settings
    size, unit = next((s, u) for s, u in UNITS if settings.budget >= 2 * s or s == 1.0)
    base = next(replay for replay in replays if replay.name == BASELINE)
    first = 0 if name in COUNTED else one_round(base.spent.shape[1], settings)
    below = np.ones(BINS) if name in COUNTED else base.curve(number).mean(axis=0)
    moments = ((np.arange(BINS) + 1) * settings.budget / BINS / size)[first:]
    curves = {one.name: (one.curve(number).mean(axis=0) / below)[first:] for one in replays}
    colours = _colours(scores, curves)
    rows: list[dict[str, object]] = []
    # What comes later is drawn over what came before: the others, then the best as the last one.
    places = {shown: -place for place, shown in enumerate([*colours, OTHERS])}
    for one, value in sorted(curves.items(), key=lambda of: places.get(of[0], places[OTHERS])):
        rows += _rows(one if one in colours else OTHERS, one, moments, value)
    rows += _rows(BOUND, BOUND, moments, (bound / below)[first:])
    if len(colours) < len(replays) + 1:
        colours[OTHERS] = "#cccccc"
    title = f"{name}{' in bugs' if name == 'worth' else ''}, mean over repeats"
    if name not in COUNTED:
        title = f"{name} of all targets, over that of {BASELINE}"
    return dressed(_lines(rows, unit, title, colours), headline(scores, name), list(subtitle))


def headline(scores: Sequence[GrowthScore], outcome: str) -> str:
    """The finding in one sentence."""
    best = scores[0]
    share = "" if best.share_of_optimum is None else f", {best.share_of_optimum:.0%} of the bound"
    if best.name == BASELINE:
        return f"No scheduler does better than {BASELINE} by {outcome}{share}"
    ratio = f"{best.ratio.value:.2f} times the {outcome} of {BASELINE}"
    return f"{best.name} has {ratio} over the budget{share}"


def what(replays: Sequence[GrowthReplay]) -> str:
    """The line below: what was replayed."""
    settings = replays[0].settings
    return (
        f"{replays[0].spent.shape[1]} targets, a budget of {duration(settings.budget)}, epochs of "
        f"{duration(settings.epoch)}, {len(replays[0].curves)} repeats a scheduler"
    )


def _colours(scores: Sequence[GrowthScore], curves: Mapping[str, Floats]) -> dict[str, str]:
    """What is shown by name, in the order of the legend; of the same curves, the first."""
    best: list[str] = []
    for score in scores:
        known = any(np.array_equal(curves[score.name], curves[name]) for name in best)
        if score.name != BASELINE and not known:
            best.append(score.name)
    best = best[:MOST_NAMED]
    return {BOUND: "black", **dict(zip(best, COLOURS, strict=False)), BASELINE: "#d55e00"}


def _lines(rows: list[dict[str, object]], unit: str, title: str, colours: dict[str, str]) -> Any:
    alt = load_altair()
    is_bound, is_other = (f"datum.shown == '{shown}'" for shown in (BOUND, OTHERS))
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line()
        .encode(
            alt.X("time:Q", title=f"time ({unit})", scale=alt.Scale(nice=False)),
            alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
            alt.Color(
                "shown:N",
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                legend=alt.Legend(title=None, orient="right", symbolStrokeWidth=3),
            ),
            alt.Detail("name:N"),
            strokeDash=alt.condition(is_bound, alt.value([5, 3]), alt.value([1, 0])),
            strokeWidth=alt.condition(is_other, alt.value(1), alt.value(2)),
            order="time:Q",
            tooltip=["name:N", "time:Q", "value:Q"],
        )
        .properties(width=620, height=380)
    )


def _rows(shown: str, name: str, times: Floats, values: Floats) -> list[dict[str, object]]:
    return [
        {"shown": shown, "name": name, "time": time, "value": value}
        for time, value in zip(times.tolist(), values.tolist(), strict=True)
    ]
