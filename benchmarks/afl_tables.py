"""Tables of docs/afl-study.md: by inputs, by the share of the queue mutated, stops, counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log10
from statistics import mean, pstdev
from typing import TYPE_CHECKING

import polars as pl

from fuzzwise.estimators.waiting import FEW
from fuzzwise.judge import Terms, latest_decision
from fuzzwise.lab.evaluate.measures import score, summarise
from fuzzwise.model import Truth
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.watch.judged import judge_reading
from fuzzwise.watch.reading import Reading

if TYPE_CHECKING:
    from afl_truth import Point

ESTIMATORS = ("recent-rate", "recent-growth", "growth")
SECOND_ENTRY = 25_600
"""Inputs from which on a campaign, or its truth, has come to a second entry."""

STOP_RISKS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)
SHARES = ((0.9, 1.01), (0.35, 0.9), (FEW, 0.35), (0.0, FEW))


@dataclass(frozen=True)
class Judgement:
    """All that the page shows.

    ``readings`` and ``futures`` belong to ``points``, one each. ``queue``: estimates, as `watch` gives
    them, against the frozen queue. The others are not raised for entries that wait: ``plain`` against
    the frozen queue, ``at_first`` against the first tenth of the inputs made from it, ``future`` against
    the next n inputs of the campaign, ``by_count`` against the frozen queue with inputs counted in
    different ways, up to ``last`` inputs.
    """

    points: list[Point]
    readings: list[Reading]
    futures: list[Truth | None]
    queue: pl.DataFrame
    queue_summary: pl.DataFrame
    plain: pl.DataFrame
    at_first: pl.DataFrame
    future: pl.DataFrame
    by_count: dict[str, pl.DataFrame]
    versions: dict[str, str]
    afl_version: str
    last: int
    repeats: int


def by_progress(judgement: Judgement) -> list[str]:
    """The recent rate over n, and over the share of the queue that had not been mutated."""
    columns = (
        " | points | not mutated yet, mean | bias, queue | at worst | below, queue | below, first tenth |"
        " bias, own future | below, own future |"
    )
    lines = [
        "## Why: how much of the queue has had its turn",
        "",
        "The recent rate, not raised for what waits, at all data points of all libraries. *Queue*: against the share of inputs from the",
        "frozen queue that showed something new. *First tenth*: against that share among the first tenth of",
        "these inputs. *Own future*: against what the campaign, not frozen, found in its next n inputs,",
        "where it was run for so long.",
        "*At worst*: the lowest log10(estimate/truth) of a single point. *Below*: share of points where the",
        "interval ends below the truth. (A rate that falls as n^(b-1) gives a bias of log10 2^(1-b) against",
        "the own future by itself: +0.18 for b = 0.4.)",
        "",
        f"| inputs{columns}",
        "|---|" + "---|" * 8,
    ]
    longer = {(p.subject, p.seed) for p in judgement.points if p.inputs > judgement.last}
    for inputs in sorted({point.inputs for point in judgement.points}):
        group = [point for point in judgement.points if point.inputs == inputs]
        lines.append(_row(f"{inputs:,}", group, judgement))
        if inputs == judgement.last and longer:
            same = [point for point in group if (point.subject, point.seed) in longer]
            lines.append(_row(f"{inputs:,}, those that go on", same, judgement))
    lines += [
        "",
        "The points from 25,600 inputs on by the share of favored entries that afl-fuzz had not mutated yet",
        "(`pending_favs` over `corpus_favored`), and whose they are:",
        "",
        f"| favored entries that wait{columns}",
        "|---|" + "---|" * 8,
    ]
    shares = [share for share in by_waiting(judgement) if share.points]
    lines += [_row(share.label, share.points, judgement) for share in shares]
    lines += [
        "",
        "The same points with what `watch` says: the recent rate raised for what waits, against the frozen queue.",
        "",
        "| favored entries that wait | points | bias | spread | at worst | interval below | of |",
        "|---|---|---|---|---|---|---|",
    ]
    for share in shares:
        rows = rows_at(judgement.queue, share.points)
        errors, names = errors_of(rows), sorted({point.subject for point in share.points})
        lines.append(
            f"| {share.label} | {len(rows)} | {mean(errors):+.2f} | {pstdev(errors):.2f} | "
            f"{min(errors):+.2f} | {_mean(misses_of(rows), '.0%')} | {', '.join(names)} |"
        )
    return lines


@dataclass(frozen=True)
class Group:
    """Points with about the same share of favored entries that wait."""

    label: str
    points: list[Point]


def by_waiting(judgement: Judgement) -> list[Group]:
    """The points after the first entry's turn, from most that wait to fewest."""
    known = [
        (point, reading.untried.share)
        for point, reading in zip(judgement.points, judgement.readings, strict=True)
        if point.inputs >= SECOND_ENTRY and reading.untried is not None
    ]
    groups = []
    for low, high in SHARES:
        label = f"{low:.0%} to {min(high, 1):.0%}" if low else f"at most {high:.0%}"
        inside = [p for p, share in known if low < share <= high or (not low and share == 0)]
        groups.append(Group(label, inside))
    return groups


def _row(label: str, group: Sequence[Point], judgement: Judgement) -> str:
    queue, first, future = (
        rows_at(table, group) for table in (judgement.plain, judgement.at_first, judgement.future)
    )
    shares = [point.unmutated for point in group if point.unmutated is not None]
    errors = errors_of(queue)
    cells = [
        label,
        str(len(group)),
        _mean(shares, ".0%") if len(shares) == len(group) else "not known",
        _mean(errors, "+.2f"),
        f"{min(errors):+.2f}" if errors else "–",
        _mean(misses_of(queue), ".0%"),
        _mean(misses_of(first), ".0%"),
        _mean(errors_of(future), "+.2f"),
        _mean(misses_of(future), ".0%"),
    ]
    return "| " + " | ".join(cells) + " |"


def errors_of(rows: list[dict[str, float]]) -> list[float]:
    """Orders of magnitude by which the estimates are too high, where both numbers have a logarithm."""
    return [
        log10(row["value"] / row["truth"]) for row in rows if row["value"] > 0 and row["truth"] > 0
    ]


def misses_of(rows: list[dict[str, float]]) -> list[float]:
    """1 for each interval that ends below the truth, else 0."""
    return [float(row["high"] < row["truth_low"]) for row in rows]


def _mean(numbers: list[float], form: str) -> str:
    return format(sum(numbers) / len(numbers), form) if numbers else "–"


def rows_at(table: pl.DataFrame, group: Iterable[Point]) -> list[dict[str, float]]:
    """The rows of the recent rate at these points."""
    wanted = {(point.subject, f"seed {point.seed}", point.inputs) for point in group}
    rows = table.filter(pl.col("estimator") == "recent-rate").to_dicts()
    return [
        row
        for row in rows
        if (row["subject"], row["campaign"].partition(":")[2], row["n"]) in wanted
    ]


def stop_table(judgement: Judgement) -> list[str]:
    """What `watch` would have stopped, and whether it was right."""
    lines = [
        "## Would it have stopped rightly?",
        "",
        "The verdict of `watch`, with 95 % confidence, shown each campaign's folder at its data points in order: how",
        "many campaigns it stops for an accepted risk, at how many of these stops the frozen queue was",
        "above that risk, and at how many the campaign's next n inputs found more than that. In brackets: with the",
        "recent rate as it is, not raised for what waits.",
        "",
        "| accepted risk | stopped | frozen queue above | own future above |",
        "|---|---|---|---|",
    ]
    order = list(zip(judgement.points, judgement.readings, judgement.futures, strict=True))
    campaigns = [
        list(group) for _, group in groupby(order, key=lambda row: (row[0].subject, row[0].seed))
    ]
    for risk in STOP_RISKS:
        rule = AcceptedRisk(risk)
        terms = Terms(risk)
        careful = [
            next((r for r in c if judge_reading(r[1], terms).reached), None) for c in campaigns
        ]
        plain = [
            next((r for r in c if latest_decision(r[1].observation, rule).stop), None)
            for c in campaigns
        ]
        cells = zip(_stops(careful, risk), _stops(plain, risk), strict=True)
        columns = [f"{ours} ({before})" for ours, before in cells]
        lines.append(f"| {risk:g} | " + " | ".join(columns) + " |")
    return lines


def _stops(
    stops: Sequence[tuple[Point, Reading, Truth | None] | None], risk: float
) -> tuple[str, str, str]:
    made = [row for row in stops if row is not None]
    queue = sum(point.truth().probability > risk for point, _, _ in made)
    later = sum(ahead is not None and ahead.probability > risk for _, _, ahead in made)
    return f"{len(made)} of {len(stops)}", str(queue), str(later)


def counting_tables(judgement: Judgement) -> list[str]:
    """Executions that are no inputs, and what they do to the estimates."""
    early = [
        (point, seen)
        for point, seen in zip(judgement.points, judgement.readings, strict=True)
        if point.inputs <= judgement.last
    ]
    lines = [
        "## How inputs were counted",
        "",
        "afl-fuzz counts executions: the runs by which it calibrates and trims its entries too, which are no",
        "inputs of the campaign. `watch` takes off what it can. Shares of all executions, and the number that",
        "`watch` reads over that of mutated inputs:",
        "",
        "| mutated inputs | initial corpus and calibration | trimming | executions / inputs | `watch` / inputs | lowest | highest |",
        "|---|---|---|---|---|---|---|",
    ]
    for inputs in sorted({point.inputs for point, _ in early}):
        group = [
            (p.measured.numbers, seen.observation.n) for p, seen in early if p.inputs == inputs
        ]
        total = sum(numbers["at_freeze"] for numbers, _ in group)
        calibration = sum(numbers["seed"] + numbers["repeat"] for numbers, _ in group)
        trimming = sum(numbers["trim"] for numbers, _ in group)
        ratios = [n / inputs for _, n in group]
        lines.append(
            f"| {inputs:,} | {calibration / total:.1%} | {trimming / total:.1%} | "
            f"{total / inputs / len(group):.3f} | {sum(ratios) / len(ratios):.3f} | "
            f"{min(ratios):.3f} | {max(ratios):.3f} |"
        )
    lines += [
        "",
        "What that does to the estimates, against the frozen queue:",
        "",
        "| inputs | " + " | ".join(f"{name}, bias" for name in ESTIMATORS) + " |",
        "|---|" + "---|" * len(ESTIMATORS),
    ]
    for label, table in judgement.by_count.items():
        summary = summarise(score(table))
        cells = [f"{means(summary, name)['bias']:+.3f}" for name in ESTIMATORS]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def means(summary: pl.DataFrame, estimator: str) -> dict[str, float]:
    """Each measure of an estimator, the mean over the libraries."""
    rows = summary.filter(pl.col("estimator") == estimator)
    return {name: float(rows[name].mean()) for name in ("bias", "coverage", "beyond")}  # type: ignore[arg-type]


def who(wrong: Counter[str]) -> str:
    """Libraries with their counts, for people."""
    return ", ".join(f"{count} on {name}" for name, count in sorted(wrong.items())) or "none"
