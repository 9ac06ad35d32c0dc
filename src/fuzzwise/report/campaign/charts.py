"""The charts of a campaign's report as SVG to be put into a page.

Each target has a small chart of its own, so that they flow with the width of the page; they share
their axes, so that targets can be compared. Colours of text, axes and grid are left to the page,
which has a light and a dark look.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzwise.errors import need_extra
from fuzzwise.model import Floats
from fuzzwise.report.campaign.words import chance, excess
from fuzzwise.report.charts.file import load_altair
from fuzzwise.report.hindsight import Hindsight
from fuzzwise.store.states import RETIRED, CampaignState, TargetHistory, TargetState

MOST_TARGETS = 12
POINTS = 120
"""Points of a curve that are drawn; a small chart shows no more."""

LINE, LIMIT, BEST = "#0072b2", "#d55e00", "#6b7280"
_POWER = f"{[chance(10.0**-n) for n in range(31)]}[-round(log(datum.value) / LN10)]"
"""Labels of powers of ten from 1 down, as the rest of the page writes them."""

UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def check_installed() -> None:
    """MissingExtra where what draws charts is not there."""
    load_altair()
    try:
        importlib.import_module("vl_convert")
    except ImportError as error:
        raise need_extra("Drawing a chart", "vl-convert-python", "lab") from error


def chosen(
    state: CampaignState, history: Sequence[TargetHistory]
) -> list[tuple[TargetState, TargetHistory]]:
    """The targets with most to say: not retired with the highest risk, then by their time."""
    by_name = {past.name: past for past in history if _drawable(past)}
    able = [target for target in state.targets if target.name in by_name]
    order = sorted((t for t in able if t.state != RETIRED), key=lambda t: -excess(t))
    order += sorted((t for t in able if t.state == RETIRED), key=lambda t: -t.seconds)
    return [(target, by_name[target.name]) for target in order[:MOST_TARGETS]]


class TargetCharts:
    """Risk and species over inputs, one chart a target, on axes that all of them share."""

    def __init__(self, targets: Sequence[tuple[TargetState, TargetHistory]]) -> None:
        self._alt = load_altair()
        pasts = [past for _, past in targets]
        inputs = np.concatenate([past.inputs[past.inputs > 0] for past in pasts])
        risks = np.concatenate([np.concatenate([past.risk, past.high]) for past in pasts])
        accepted = [t.accepted_risk for t, _ in targets if t.accepted_risk is not None]
        risks = np.concatenate([risks[np.isfinite(risks) & (risks > 0)], accepted])
        self._inputs = _decades(inputs.astype(np.float64))
        self._risks = _decades(np.minimum(risks, 1.0) if len(risks) else np.array([1e-6, 1.0]))

    def draw(self, target: TargetState, past: TargetHistory, prefix: str) -> str:
        """The SVG of one target; its ids begin with ``prefix``."""
        alt = self._alt
        kept = _thin(past)
        rows = [
            {"n": n, "risk": r, "low": low, "high": high, "species": s}
            for n, r, low, high, s in zip(
                past.inputs[kept].tolist(),
                self._clipped(past.risk[kept]),
                self._clipped(past.low[kept]),
                self._clipped(past.high[kept]),
                past.species[kept].tolist(),
                strict=True,
            )
        ]
        charts = []
        if any(row["risk"] is not None for row in rows):
            charts.append(self._risk(rows, target.accepted_risk))
        charts.append(self._species(rows, target.finds_coverage))
        spec = alt.vconcat(*charts, spacing=6)
        return to_svg(spec, prefix)

    def _x(self, title: str | None) -> Any:
        alt = self._alt
        return alt.X(
            "n:Q",
            scale=alt.Scale(type="log", domain=self._inputs, nice=False),
            axis=alt.Axis(
                title=title,
                format="~s",
                values=_ticks(self._inputs),
                labels=title is not None,
                ticks=title is not None,
            ),
        )

    def _risk(self, rows: list[dict[str, object]], accepted: float | None) -> Any:
        alt = self._alt
        known = [row for row in rows if row["risk"] is not None]
        base = alt.Chart(alt.Data(values=known))
        y = alt.Y(
            "risk:Q",
            scale=alt.Scale(type="log", domain=self._risks, nice=False),
            axis=alt.Axis(title="risk", values=_ticks(self._risks), labelExpr=_POWER),
        )
        framed = [row for row in known if row["low"] is not None and row["high"] is not None]
        area = alt.Chart(alt.Data(values=framed)).mark_area(opacity=0.25, color=LINE, clip=True)
        band = area.encode(self._x(None), alt.Y("low:Q"), alt.Y2("high:Q"))
        line = base.mark_line(color=LINE, strokeWidth=1.6, clip=True).encode(self._x(None), y)
        layers = [band, line]
        if accepted is not None:
            rule = alt.Chart(alt.Data(values=[{"risk": accepted}]))
            layers.append(rule.mark_rule(color=LIMIT, strokeDash=[5, 3], strokeWidth=1.4).encode(y))
        return alt.layer(*layers).properties(width=230, height=120)

    def _species(self, rows: list[dict[str, object]], coverage: bool) -> Any:
        alt = self._alt
        axis = (
            alt.Axis(title="species", format="~s", tickCount=3)
            if coverage
            else alt.Axis(title="bugs", format="d", values=_whole(rows))
        )
        y = alt.Y("species:Q", scale=alt.Scale(zero=not coverage), axis=axis)
        line = alt.Chart(alt.Data(values=rows)).mark_line(
            color=LINE, strokeWidth=1.6, interpolate="step-after"
        )
        return line.encode(self._x("inputs"), y).properties(width=230, height=50)

    def _clipped(self, values: Floats) -> list[float | None]:
        low, high = self._risks
        return [
            None if np.isnan(value) else float(min(high, max(low, value)))
            for value in values.tolist()
        ]


def bugs_chart(seen: Hindsight) -> str:
    """Distinct bugs over the time spent: of the campaign, and of the best schedule."""
    alt = load_altair()
    size, unit = next((s, u) for s, u in UNITS if seen.spent >= 2 * s or s == 1.0)
    names = ["this campaign", "best schedule in hindsight"]
    rows = []
    for name, curve in zip(names, (seen.campaign, seen.best), strict=True):
        steps = _few_steps(curve)
        rows += [{"which": name, "time": curve[b] / size, "bugs": b} for b in steps]
        rows.append({"which": name, "time": seen.spent / size, "bugs": steps[-1]})
    dashes = alt.Scale(domain=names, range=[[1, 0], [5, 3]])
    colours = alt.Scale(domain=names, range=[LINE, BEST])
    legend = alt.Legend(title=None, orient="top", symbolStrokeWidth=2.5, symbolSize=250)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            alt.X(
                "time:Q",
                title=f"time on cores ({unit})",
                scale=alt.Scale(nice=False, domain=[0, seen.spent / size or 1.0]),
                axis=alt.Axis(tickCount=6, format=",~f"),
            ),
            alt.Y(
                "bugs:Q",
                title="distinct bugs",
                axis=alt.Axis(format="d", values=_wholes(len(seen.campaign) - 1, 6)),
            ),
            alt.Color("which:N", scale=colours, legend=legend),
            alt.StrokeDash("which:N", scale=dashes, legend=legend),
            order="bugs:Q",
        )
        .properties(width=400, height=230)
    )
    return to_svg(chart, "bugs")


def speed_chart(past: TargetHistory, prefix: str) -> str:
    """Inputs a second of a target's own time, over the time of the campaign; "" without a pair."""
    alt = load_altair()
    kept = _thin(past)
    took, made = np.diff(past.seconds[kept]), np.diff(past.inputs[kept])
    size, unit = next((s, u) for s, u in UNITS if past.at[-1:].sum() >= 2 * s or s == 1.0)
    rows = [
        {"time": float(at) / size, "speed": float(n) / float(s)}
        for at, s, n in zip(past.at[kept][1:], took, made, strict=True)
        if s > 0 and n >= 0
    ]
    if len(rows) < 2:
        return ""
    x = alt.X("time:Q", title=f"time of the campaign ({unit})", axis=alt.Axis(tickCount=5))
    y = alt.Y("speed:Q", title="inputs a second", axis=alt.Axis(format="~s", tickCount=4))
    line = alt.Chart(alt.Data(values=rows)).mark_line(color=LINE, strokeWidth=1.6)
    return to_svg(line.encode(x, y).properties(width=230, height=110), prefix)


def to_svg(chart: Any, prefix: str) -> str:
    """A chart as SVG for the inside of a page: no address, ids of its own, any width."""
    import vl_convert

    dressed = chart.configure(
        background="transparent",
        font="sans-serif",
        aria=False,
        axis={"gridColor": "#e5e7eb", "labelFontSize": 10, "titleFontSize": 11},
        axisY={"minExtent": 38, "maxExtent": 38, "titleFontWeight": "normal"},
        axisX={"titleFontWeight": "normal"},
        view={"stroke": None},
        legend={"labelFontSize": 12},
    )
    version = vl_convert.get_vegalite_versions()[-1]
    svg = vl_convert.vegalite_to_svg(dressed.to_json(), vl_version=version)
    return _embedded(svg, prefix)


def _embedded(svg: str, prefix: str) -> str:
    """Ids get a prefix, unique in the page, and the size is left to it (viewBox has the shape)."""
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"', "", head)
    rest = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', rest)
    rest = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", rest)
    return f'{head} aria-hidden="true" focusable="false">{rest}'


def _drawable(past: TargetHistory) -> bool:
    return bool(len(past.inputs)) and bool((past.inputs > 0).any())


def _thin(past: TargetHistory) -> list[int]:
    """Some points, evenly spread over the logarithm of the inputs; the last always."""
    able = np.flatnonzero(past.inputs > 0)
    if len(able) <= POINTS:
        return [int(i) for i in able]
    place = np.log(past.inputs[able])
    wanted = np.linspace(place[0], place[-1], POINTS)
    return [int(able[i]) for i in np.unique(np.searchsorted(place, wanted).clip(max=len(able) - 1))]


def _few_steps(curve: Floats) -> list[int]:
    """The numbers of bugs at which a curve is drawn: all of them, or some if they are many."""
    last = len(curve) - 1
    return sorted({int(b) for b in np.linspace(0, last, min(last + 1, 2 * POINTS))})


def _whole(rows: list[dict[str, object]]) -> list[int]:
    """At most four whole numbers from 0 to the most species."""
    return _wholes(max(int(str(row["species"])) for row in rows), 3)


def _wholes(most: int, steps: int) -> list[int]:
    """Whole numbers from 0, in at most so many equal steps."""
    return list(range(0, most + 1, max(1, -(-most // steps))))


def _decades(values: Floats) -> list[float]:
    """The powers of ten around values above 0."""
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    return [float(10.0**low), float(10.0 ** max(high, low + 1))]


def _ticks(domain: list[float]) -> list[float]:
    """At most five powers of ten within a domain, both ends of it if possible."""
    low, high = (round(np.log10(end)) for end in domain)
    step = -(-(high - low) // 4)
    return [float(10.0**power) for power in range(low, high + 1, step)]
