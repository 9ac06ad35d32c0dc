"""One look for all charts: colours that colour-blind readers can tell apart, log axes."""

from __future__ import annotations

from typing import Any

MODE_COLOURS = {"greybox": "#0072b2", "blackbox": "#666666"}

ESTIMATOR_COLOURS = {
    "recent-rate": "#0072b2",
    "recent-growth": "#56b4e9",
    "growth": "#009e73",
    "good-turing": "#d55e00",
    "singleton-inputs": "#e69f00",
    "weighted-singleton-inputs": "#8c6d00",
    "shrunken-singleton-inputs": "#b8a347",
    "reset-1": "#c77ea6",
    "reset-10": "#7a3b69",
    "mean-local-laplace": "#888888",
    "mean-local-good-turing": "#333333",
    "laplace": "#bbbbbb",
    "extrapolation": "#7b61a8",
    "extrapolation-100": "#b5a4d4",
}


def inputs_axis(alt: Any, title: str = "inputs n") -> Any:
    """A logarithmic axis of inputs, labelled 10, 100, 1k, 1M."""
    return alt.X(
        "n:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(title=title, format="~s", tickCount=6),
    )


def log_axis(alt: Any, field: str, title: str) -> Any:
    """A logarithmic axis of probabilities, labelled as powers of ten."""
    return alt.Y(
        f"{field}:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(title=title, format="~e", tickCount=6),
    )


def dressed(chart: Any, title: str, subtitle: list[str]) -> Any:
    """The chart with a title that states the finding and a subtitle that says how it was made."""
    return chart.properties(
        title={"text": title, "subtitle": subtitle, "anchor": "start", "offset": 12}
    ).configure(
        background="white",
        font="sans-serif",
        axis={"gridColor": "#eeeeee", "labelFontSize": 11, "titleFontSize": 12},
        view={"stroke": "#cccccc"},
        title={"fontSize": 15, "subtitleFontSize": 12, "subtitleColor": "#444444"},
        legend={"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260},
        header={"labelFontSize": 12, "labelFontWeight": "bold"},
    )
