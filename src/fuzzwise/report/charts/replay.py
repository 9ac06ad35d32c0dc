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
    alt = load_altair()
    budget = replays[0].budget
    size, unit = next((s, u) for s, u in UNITS if budget >= 2 * s or s == 1.0)
    by_name = {replay.algorithm.name: replay for replay in replays}
    best = [score.name for score in scores if score.name not in BASELINES][:MOST_NAMED]
    base = [score.name for score in scores if score.name in BASELINES]
    named = [OPTIMUM, *best, *base]
    colours = ["black", *COLOURS[: len(best)], *(BASELINE_COLOURS[name] for name in base)]
    rows: list[dict[str, object]] = []
    moments = grid(budget)
    # What is named comes last, to be drawn over the others.
    for name, replay in sorted(by_name.items(), key=lambda item: item[0] in named):
        shown = name if name in named else OTHERS
        counts = np.array([replay.bugs_at(moment).mean() for moment in moments])
        rows += _rows(shown, name, moments / size, counts)
    rows += _rows(OPTIMUM, OPTIMUM, moments / size, optimum.astype(float))
    if len(named) < len(by_name) + 1:
        named.append(OTHERS)
        colours.append("#cccccc")
    line = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after")
        .encode(
            alt.X(
                "time:Q",
                title=f"time spent on all configurations together ({unit})",
                scale=alt.Scale(nice=False),
            ),
            alt.Y("bugs:Q", title="distinct bugs found, mean over repeats"),
            alt.Color(
                "shown:N",
                scale=alt.Scale(domain=named, range=colours),
                legend=alt.Legend(title=None, orient="right", symbolStrokeWidth=3),
            ),
            alt.Detail("name:N"),
            strokeDash=alt.condition(
                f"datum.shown == '{OPTIMUM}'", alt.value([5, 3]), alt.value([1, 0])
            ),
            strokeWidth=alt.condition(f"datum.shown == '{OTHERS}'", alt.value(1), alt.value(2)),
            order="time:Q",
            tooltip=["name:N", "time:Q", "bugs:Q"],
        )
        .properties(width=620, height=380)
    )
    return dressed(line, title, list(subtitle))


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
