"""RR figures 4 and 5, for our own scores and for the published measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fuzzwise.lab.evaluate.published import Published
from fuzzwise.power_law import PowerLaw
from fuzzwise.report.charts.file import load_altair
from fuzzwise.report.charts.style import ESTIMATOR_COLOURS, dressed, inputs_axis, log_axis

if TYPE_CHECKING:
    import polars as pl


class Fitted(Protocol):
    """A subject with its power law."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def law(self) -> PowerLaw:
        """Its power law."""
        ...


def _power_laws(alt: Any, laws: Sequence[Fitted], means: pl.DataFrame) -> Any:
    """Figure 5: measured Δ and its power law, a facet a subject."""
    truth = [row for row in means.to_dicts() if row["delta"] > 0]
    fitted = [
        {"subject": s.name, "n": n, "delta": s.law.at(n)}
        for s in laws
        for n in sorted({row["n"] for row in truth if row["subject"] == s.name and row["n"] > 1000})
    ]
    labels = {s.name: f"{s.name}  (R² {s.law.r2:.4f})" for s in laws}
    rows = [
        {**row, "subject": labels[row["subject"]], "kind": kind}
        for kind, group in (("measured, mean of the runs", truth), ("power law, n > 1000", fitted))
        for row in group
    ]
    shape = alt.Color(
        "kind:N",
        scale=alt.Scale(range=["#0072b2", "#d55e00"]),
        legend=alt.Legend(title=None, orient="top"),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(
        inputs_axis(alt), log_axis(alt, "delta", "Δ"), shape
    )
    return (
        alt.layer(
            base.transform_filter("datum.kind[0] == 'm'").mark_point(filled=True, size=25),
            base.transform_filter("datum.kind[0] == 'p'").mark_line(),
        )
        .properties(width=240, height=150)
        .facet(facet=alt.Facet("subject:N", title=None), columns=3)
        .resolve_scale(y="independent")
    )


def draw_power_laws(
    laws: Sequence[Fitted], means: pl.DataFrame, title: str, subtitle: list[str]
) -> Any:
    """Figure 5 alone, for measurements of our own."""
    return dressed(_power_laws(load_altair(), laws, means), title, subtitle)


def draw_published(published: Published) -> Any:
    """Figure 5 (Δ and its power law) above figure 4 (bias and variance), a facet a subject."""
    alt = load_altair()
    figure5 = _power_laws(alt, published.subjects, published.truth)
    figure4 = [
        _by_estimator(alt, published.scores, measure, title)
        for measure, title in (
            ("bias", "mean bias, orders of magnitude"),
            ("variance", "variance of log10 Δ̂"),
        )
    ]
    return dressed(
        alt.vconcat(figure5, *figure4).resolve_scale(color="independent"),
        "The discovery probability falls as a power law; the classical estimators miss it",
        [
            "Published measurements of RR: Δ with its power law (figure 5), then bias and variance "
            "of the estimators (figure 4), a facet a subject"
        ],
    )


def draw_scores(scores: pl.DataFrame, title: str, subtitle: list[str]) -> Any:
    """Bias of every estimator over n, a facet a subject, and the coverage of the intervals."""
    alt = load_altair()
    panels = [_by_estimator(alt, scores, "bias", "mean bias, orders of magnitude")]
    covered = scores.drop_nulls("coverage")
    if not covered.is_empty():
        panels.append(_by_estimator(alt, covered, "coverage", "share of intervals that agree"))
    chart = alt.vconcat(*panels) if len(panels) > 1 else panels[0]
    return dressed(chart, title, subtitle)


def _by_estimator(alt: Any, scores: pl.DataFrame, measure: str, title: str) -> Any:
    """One measure over n, one line an estimator, one facet a subject."""
    values = scores.select("subject", "estimator", "n", measure).drop_nulls().to_dicts()
    present = {row["estimator"] for row in values}
    colours = {name: c for name, c in ESTIMATOR_COLOURS.items() if name in present}
    colours |= dict.fromkeys(sorted(present - colours.keys()), "#000000")
    lines = (
        alt.Chart()
        .mark_line(point=alt.OverlayMarkDef(size=12))
        .encode(
            inputs_axis(alt),
            alt.Y(f"{measure}:Q", title=title),
            alt.Color(
                "estimator:N",
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                legend=alt.Legend(title=None, orient="right"),
            ),
        )
    )
    subjects = len({row["subject"] for row in values})
    width, height = (560, 300) if subjects == 1 else (240, 150)
    layers = [lines]
    if measure == "bias":
        layers.append(alt.Chart().mark_rule(color="#555", strokeDash=[4, 3]).encode(y=alt.datum(0)))
    return (
        alt.layer(*layers, data=alt.Data(values=values))
        .properties(width=width, height=height)
        .facet(facet=alt.Facet("subject:N", title=None), columns=2 if subjects == 4 else 3)
    )
