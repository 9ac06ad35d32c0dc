"""RR figures 1 to 3 of an urn: discovery probability, species, the bug, adaptive bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzwise.lab.urn.summary import ModeSummary, UrnSummary
from fuzzwise.report.charts.file import load_altair
from fuzzwise.report.charts.style import MODE_COLOURS, dressed, inputs_axis, log_axis

WIDTH, HEIGHT = 380, 240


def draw(summary: UrnSummary) -> Any:
    """Four panels, greybox and blackbox side by side in each."""
    alt = load_altair()
    rows = alt.Data(values=_rows(summary.greybox) + _rows(summary.blackbox))
    base = alt.Chart(rows).properties(width=WIDTH, height=HEIGHT)
    x, colour = inputs_axis(alt), _mode_colour(alt)
    species = base.mark_line().encode(x, alt.Y("species:Q", title="species seen"), colour)
    bug = base.mark_line().encode(
        x, log_axis(alt, "bug", f"probability of the bug (species {summary.urn.bug})"), colour
    )
    probability, bias = _probability(alt, base), _bias(alt, summary)
    return dressed(
        (named(alt, probability, "Discovery probability") | named(alt, species, "Species seen"))
        & (named(alt, bug, "Probability of the bug") | named(alt, bias, "Adaptive bias")),
        "Feedback changes the distribution that an estimator has to estimate",
        _subtitle(summary),
    )


def _mode_colour(alt: Any) -> Any:
    return alt.Color(
        "mode:N",
        scale=alt.Scale(domain=list(MODE_COLOURS), range=list(MODE_COLOURS.values())),
        legend=alt.Legend(title=None, orient="top", symbolOpacity=1, symbolType="square"),
    )


def _probability(alt: Any, base: Any) -> Any:
    """The mean of Δ as a line, on a band."""
    x, colour = inputs_axis(alt), _mode_colour(alt)
    discovered = base.transform_filter("datum.delta > 0")
    band = discovered.transform_filter("datum.low > 0").mark_area(opacity=0.15)
    return band.encode(
        x, log_axis(alt, "low", "discovery probability Δ"), alt.Y2("high:Q"), colour
    ) + discovered.mark_line().encode(x, log_axis(alt, "delta", "discovery probability Δ"), colour)


def _bias(alt: Any, summary: UrnSummary) -> Any:
    """The adaptive bias, and where there is none."""
    bias = (
        alt.Chart(alt.Data(values=_bias_rows(summary)))
        .properties(width=WIDTH, height=HEIGHT)
        .mark_line(color=MODE_COLOURS["greybox"])
        .encode(
            inputs_axis(alt),
            alt.Y("bias:Q", title="adaptive bias, log10(Δ greybox / Δ blackbox)"),
        )
    )
    zero = alt.Chart(alt.Data(values=[{"bias": 0}])).mark_rule(color="#999", strokeDash=[4, 3])
    return bias + zero.encode(alt.Y("bias:Q"))


def _subtitle(summary: UrnSummary) -> list[str]:
    grey, black = summary.greybox.law, summary.blackbox.law
    fits = [
        f"{name}: R² {law.r2:.3f}, slope {law.slope:.2f}"
        for name, law in (("greybox", grey), ("blackbox", black))
        if law is not None
    ]
    return [
        f"Urn with {summary.urn.species} species, mean of {summary.greybox.campaigns} campaigns a "
        "mode, band: 10 % to 90 % of campaigns",
        "Power law of Δ on n: " + "; ".join(fits),
    ]


def named(alt: Any, panel: Any, title: str) -> Any:
    """The panel with a title of its own."""
    return panel.properties(title=alt.TitleParams(title, fontSize=12, anchor="start"))


def _rows(mode: ModeSummary) -> list[dict[str, object]]:
    columns = {
        "n": mode.points,
        "delta": mode.delta,
        "low": mode.delta_low,
        "high": mode.delta_high,
        "species": mode.species,
        "bug": mode.bug_probability,
    }
    lists = {name: np.asarray(column).tolist() for name, column in columns.items()}
    return [
        {"mode": mode.mode, **{name: values[i] for name, values in lists.items()}}
        for i in range(len(mode.points))
    ]


def _bias_rows(summary: UrnSummary) -> list[dict[str, object]]:
    pairs = zip(summary.greybox.points.tolist(), summary.log_bias.tolist(), strict=True)
    return [{"n": n, "bias": bias} for n, bias in pairs if np.isfinite(bias)]
