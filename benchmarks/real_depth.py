"""One estimate by library and by depth: bias, spread, and what its interval is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, log10, nan

import numpy as np

from fuzzwise.estimators import intervals
from fuzzwise.estimators.registry import find
from fuzzwise.lab.evaluate.measures import truth_interval
from fuzzwise.model import Floats, Observation, SeedCounts
from fuzzwise.snapshot import Campaign
from real_campaigns import is_for_choosing

SHALLOW, DEEP, DEEPEST = 1000, 200_000, 3_000_000

Said = tuple[float, float, float]
"""An estimate with the ends of its interval; not a number where it has none."""

Form = Callable[[Observation, Observation | None], Said | None]
"""What is said at an observation, of which the one at half of its inputs may be known."""


@dataclass(frozen=True)
class Point:
    """An estimate beside the truth, in orders of magnitude."""

    subject: str
    n: int
    error: float
    holds: bool
    below: bool
    width: float


def points(campaigns: list[Campaign], form: Form) -> list[Point]:
    """All points beyond 1000 inputs at which the measurement of the truth found something."""
    return [point for campaign in campaigns for point in _points(campaign, form)]


def _points(campaign: Campaign, form: Form) -> Iterator[Point]:
    seen = {o.n: o for o in campaign.observations}
    for o in campaign.observations:
        truth = o.truth
        if truth is None or not truth.probability or o.n <= SHALLOW:
            continue
        said = form(o, seen.get(o.n // 2))
        if said is None or not said[0] > 0:
            continue
        (value, low, high), (least, most) = said, truth_interval(truth)
        yield Point(
            campaign.subject,
            o.n,
            log10(value / truth.probability),
            holds=low <= most and high >= least,
            below=high < least,
            width=log10(high / low) if low > 0 else nan,
        )


def ours(name: str) -> Form:
    """One of our estimators."""

    def form(observation: Observation, _: Observation | None) -> Said:
        said = find(name)(observation)
        low = nan if said.low is None else said.low
        return said.value, low, nan if said.high is None else said.high

    return form


def plain_rate(observation: Observation, _: Observation | None) -> Said | None:
    """The rate over (n/2, n] with its Poisson interval, which was the default before."""
    times, n = observation.discoveries, observation.n
    if times is None:
        return None
    found = len(times) - int(times.searchsorted(n // 2, side="right"))
    low, high = (end / (n - n // 2) for end in intervals.poisson(found, 0.95))
    return found / (n - n // 2), low, high


def hazard_by_age(now: Observation, half: Observation | None) -> Said | None:
    """A rate for each age of a seed over (n/2, n], weighted by how likely each seed is next.

    D discoveries and E inputs fall on a bin of ages (by powers of two): (D + 1)/(E + 1/r), r the
    recent rate. It needs counts of every seed at two moments, and has no interval.
    """
    if half is None or now.seeds is None or half.seeds is None:
        return None
    if now.ages is None or now.discoveries is None:
        return None
    before: Floats = np.zeros(len(now.seeds))
    before[: len(half.seeds)] = half.seeds.n
    edges = np.concatenate([[0.0], 2.0 ** np.arange(50)])
    inputs = _inputs_by_age(before, now.seeds, edges)
    fresh = now.ages[now.discoveries > half.n]
    found = np.histogram(fresh, edges)[0]
    rate = (found + 1) / (inputs + 1 / find("recent-rate")(now).value)
    value = float((now.seeds.q * rate[edges.searchsorted(now.seeds.n, "right") - 1]).sum())
    return value, nan, nan


def _inputs_by_age(before: Floats, seeds: SeedCounts, edges: Floats) -> Floats:
    """How many inputs were made from seeds of each bin of ages since ``before``."""
    upto = [
        np.minimum(after[:, None], edges).sum(axis=0)
        for after in (before, seeds.n.astype(np.float64))
    ]
    inputs: Floats = np.diff(upto[1] - upto[0])
    return inputs


FORMS: dict[str, Form] = {
    "rate over (n/2, n]": plain_rate,
    "`recent-growth`": ours("recent-growth"),
    "hazard by age of the seed": hazard_by_age,
    "`recent-rate`": ours("recent-rate"),
}


def depth_tables(found: list[Point], name: str) -> list[str]:
    """The lines of a page on an estimate."""
    lines = [
        f"## The interval of `{name}`, by depth",
        "",
        "Bias and spread (standard deviation) of log10(estimate/truth); the share of 95 % intervals that",
        "agree with the measured truth, whose own error is allowed for, and that end below it; the median of",
        "log10(upper/lower end). Points at which the measurement found nothing are left out. *Its error*: the standard",
        "error of the bias by the number of points alone.",
    ]
    for least in (SHALLOW, DEEP, DEEPEST):
        if chosen := [point for point in found if point.n > least]:
            halves = {
                "all for choosing": [point for point in chosen if is_for_choosing(point.subject)],
                "all for checking": [p for p in chosen if not is_for_choosing(p.subject)],
            }
            lines += ["", f"### n > {least:,}", "", *by_library(chosen, halves)]
    return lines


def by_library(found: list[Point], groups: dict[str, list[Point]] | None = None) -> list[str]:
    """A table with a row a library, one a group, and one of all."""
    names = sorted({point.subject for point in found})
    rows = {name: [point for point in found if point.subject == name] for name in names}
    return [
        "| library | points | bias | its error | spread | holds | ends below | width |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {title} | {' | '.join(_with_error(some))} |"
            for title, some in (rows | (groups or {}) | {"all": found}).items()
            if some
        ),
    ]


def _with_error(found: list[Point]) -> list[str]:
    """The summary, with the standard error of the bias as if all points were independent."""
    cells = summary(found)
    error = np.std([p.error for p in found], ddof=1) / len(found) ** 0.5 if len(found) > 1 else nan
    return [*cells[:2], "–" if np.isnan(error) else f"{error:.2f}", *cells[2:]]


def summary(found: list[Point]) -> list[str]:
    """Points, bias, spread, share that holds, share below, median width; nothing for none."""
    if not found:
        return []
    errors = [point.error for point in found]
    widths = [point.width for point in found if not np.isnan(point.width)]
    cells = [f"{len(found)}", f"{np.mean(errors):+.2f}", f"{np.std(errors):.2f}"]
    if not widths:
        return [*cells, "–", "–", "–"]
    return [
        *cells,
        f"{np.mean([point.holds for point in found]):.0%}",
        f"{np.mean([point.below for point in found]):.1%}",
        f"{np.median(widths):.2f}",
    ]


def trust_table(campaigns: list[Campaign]) -> list[str]:
    """Several forms of an estimate, on the libraries for choosing and on the others."""
    lines = [
        "| real libraries, lengths drawn | points | bias | spread | interval holds | ends below | median width |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, form in FORMS.items():
        found = points(campaigns, form)
        for title, least, most in (("n to 200,000", 0, DEEP), ("beyond", DEEP, inf)):
            some = [point for point in found if least < point.n <= most]
            halves = [
                summary([point for point in some if is_for_choosing(point.subject) == half])
                for half in (True, False)
            ]
            if all(halves):
                cells = [f"{a}, {b}" for a, b in zip(*halves, strict=True)]
                lines.append(f"| {name}, {title} | {' | '.join(cells)} |")
    return lines
