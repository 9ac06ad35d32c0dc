"""Bugs over time: the schedulers of a replay beside the best schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzwise.lab.evaluate.comparison import BASELINES, SchedulerScore
from fuzzwise.lab.replay.replay import Replay
from fuzzwise.model import Floats, Ints
from fuzzwise.report.charts.file import load_altair
from fuzzwise.report.charts.style import dressed
from fuzzwise.report.words import duration

MOST_NAMED = 5
POINTS = 160
OPTIMUM = "offline optimum"
OTHERS = "others"
COLOURS = ("#0072b2", "#009e73", "#e69f00", "#56b4e9", "#7b61a8")
BASELINE_COLOURS = dict(zip(BASELINES, ("#d55e00", "#c77ea6"), strict=True))
UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def draw(
    replays: Sequence[Replay],
    scores: Sequence[SchedulerScore],
    optimum: Ints,
    title: str,
    subtitle: Sequence[str],
) -> Any:
    """The best schedulers and the baselines by name, the others in grey, the optimum dashed.

    ``optimum``: the bugs of the best schedule at each of ``grid``'s moments. Where bugs are shared
    it is FS's lower bound on it, which the exact optimum exceeds by a few percent.
    """
    budget = replays[0].budget
    size, unit = next((s, u) for s, u in UNITS if budget >= 2 * s or s == 1.0)
    moments = grid(budget)
    colours = _colours(scores)
    by_name = {replay.algorithm.name: replay for replay in replays}
    rows: list[dict[str, object]] = []
    # What is named comes last, to be drawn over the others.
    for name, replay in sorted(by_name.items(), key=lambda item: item[0] in colours):
        shown = name if name in colours else OTHERS
        counts = np.array([replay.bugs_at(moment).mean() for moment in moments])
        rows += _rows(shown, name, moments / size, counts)
    rows += _rows(OPTIMUM, OPTIMUM, moments / size, optimum.astype(float))
    if len(colours) < len(by_name) + 1:
        colours[OTHERS] = "#cccccc"
    return dressed(_lines(rows, unit, colours), title, list(subtitle))


def _colours(scores: Sequence[SchedulerScore]) -> dict[str, str]:
    """What is shown by name, in the order of the legend."""
    best = [score.name for score in scores if score.name not in BASELINES][:MOST_NAMED]
    base = [score.name for score in scores if score.name in BASELINES]
    return {
        OPTIMUM: "black",
        **dict(zip(best, COLOURS, strict=False)),
        **{name: BASELINE_COLOURS[name] for name in base},
    }


def _lines(rows: list[dict[str, object]], unit: str, colours: dict[str, str]) -> Any:
    alt = load_altair()
    is_optimum, is_other = (f"datum.shown == '{shown}'" for shown in (OPTIMUM, OTHERS))
    time_axis = alt.X(
        "time:Q",
        title=f"time spent on all configurations together ({unit})",
        scale=alt.Scale(nice=False),
    )
    colour = alt.Color(
        "shown:N",
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(title=None, orient="right", symbolStrokeWidth=3),
    )
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after")
        .encode(
            time_axis,
            alt.Y("bugs:Q", title="distinct bugs found, mean over repeats"),
            colour,
            alt.Detail("name:N"),
            strokeDash=alt.condition(is_optimum, alt.value([5, 3]), alt.value([1, 0])),
            strokeWidth=alt.condition(is_other, alt.value(1), alt.value(2)),
            order="time:Q",
            tooltip=["name:N", "time:Q", "bugs:Q"],
        )
        .properties(width=620, height=380)
    )


def grid(budget: float) -> Floats:
    """The moments at which curves are drawn, in seconds."""
    moments: Floats = np.linspace(0, budget, POINTS + 1)
    return moments


def headline(scores: Sequence[SchedulerScore], optimum: float, budget: float) -> str:
    """The finding in one sentence."""
    best = scores[0]
    share = f" ({best.bugs.value / optimum:.0%} of the optimum)" if optimum else ""
    return (
        f"{best.name} knows most bugs over {duration(budget)}: {best.area.value:.0f} on average, "
        f"{best.bugs.value:.0f} in the end{share}"
    )


def _rows(shown: str, name: str, times: Floats, counts: Floats) -> list[dict[str, object]]:
    return [
        {"shown": shown, "name": name, "time": time, "bugs": bugs}
        for time, bugs in zip(times.tolist(), counts.tolist(), strict=True)
    ]
