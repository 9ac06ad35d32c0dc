"""What favored entries that wait are worth: a section of docs/afl-study.md.

Forms of an estimate, chosen on some libraries and checked on the others, and what each rule would
have stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, log10, sqrt
from pathlib import Path
from statistics import mean, pstdev
from typing import TYPE_CHECKING

import numpy as np

from afl_tables import SECOND_ENTRY
from fuzzwise.estimators import intervals
from fuzzwise.estimators.waiting import ENOUGH, FEW, RAISED, RAISED_AT_MOST, are_many
from fuzzwise.judge import Terms, latest_decision
from fuzzwise.model import Ints
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.watch.judged import judge_reading
from fuzzwise.watch.reading import Reading

if TYPE_CHECKING:
    from afl_tables import Judgement
    from afl_truth import Point

CHOSEN_ON = ("cmark", "freetype", "libpng", "lz4", "zlib")
"""Every second of the first nine libraries in the order of the alphabet; the others came later."""

MOST_WAIT = 0.35
BEFORE, BEFORE_AT_MOST = 10.0, 50.0
"""What the recent rate and its upper end were multiplied by, before all discoveries were counted."""
ROUND_START = 1000
MAY_BE_BELOW = 0.05
RISKS = tuple(float(risk) for risk in np.logspace(log10(0.2), log10(0.0002), 31))

HAZARD_BY_AGE = (
    "The fourth is the hazard by age: an entry that waits is a seed of age 0, and is taken to show in its turn what those that",
    "were tried showed at the same age. It is as near as the third, which needs two counts and nothing of single entries. What",
    "both lack is no age but entries: those that were tried are few and differ a hundredfold, so that no mean over them tells",
    "more of those that wait.",
)


@dataclass(frozen=True)
class Seen:
    """A point where most favored entries wait: what `watch` sees, and the truth.

    ``rounds``: the discoveries of each stay with an entry; ``tried``: entries mutated so far.
    """

    subject: str
    n: int
    found: Ints
    rounds: tuple[Ints, ...]
    tried: int
    truth: float
    truth_low: float


@dataclass(frozen=True)
class Form:
    """An estimate factor · count / exposure."""

    label: str
    factor: float
    count: Callable[[Seen], tuple[int, float]]

    def error(self, seen: Seen) -> float:
        """log10(estimate/truth)."""
        count, exposure = self.count(seen)
        return log10(self.factor * max(count, 0.5) / exposure / seen.truth)

    def short_by(self, seen: Seen) -> float:
        """By how much the upper end has to be multiplied to reach the truth."""
        count, exposure = self.count(seen)
        high = intervals.poisson(count, 0.95)[1] / exposure
        return seen.truth_low / (self.factor * high)


def _recent(seen: Seen) -> tuple[int, float]:
    return int((seen.found > seen.n / 2).sum()), seen.n / 2


def _all(seen: Seen) -> tuple[int, float]:
    return len(seen.found), seen.n


def _round_starts(seen: Seen) -> tuple[int, float]:
    """Discoveries in the first inputs of each round, behind the first one, which shows its start."""
    counts = [
        ((found > found[0]) & (found <= found[0] + ROUND_START)).sum() for found in seen.rounds
    ]
    return int(sum(counts)), ROUND_START * max(seen.tried, len(seen.rounds))


def _tried_only(seen: Seen) -> tuple[int, float]:
    return 10**6, 10**6 * sqrt(seen.tried)


FORMS = (
    Form("recent rate", 1, _recent),
    Form(f"recent rate, {BEFORE:.0f} times", BEFORE, _recent),
    Form(f"**all discoveries over all inputs, {RAISED:.0f} times**", RAISED, _all),
    Form(f"discoveries in the first {ROUND_START:,} inputs of each entry's turn", 1, _round_starts),
    Form("0.05/√(entries tried): knows nothing of the target", 0.05, _tried_only),
)


def waiting_tables(judgement: Judgement) -> list[str]:
    """The section."""
    seen = list(_waiting(judgement))
    return [*_about(), *_form_table(seen), "", *_stop_comparison(judgement)]


def _about() -> list[str]:
    chosen = ", ".join(CHOSEN_ON)
    return [
        "## What the waiting entries are worth",
        "",
        "Several forms of an estimate were tried at the points from 25,600 inputs on where more than 35 % of the",
        f"favored entries wait. Their factors come from {chosen}, every second of nine; the",
        "others check them. Windows, shares of an entry's turn and weights, some thirty variants, were compared on the former only. *Error*: mean of log10(estimate/truth).",
        "*Spread*: its standard deviation. *Times*: by which the upper end has to be multiplied so that it is below the",
        f"truth at no more than {MAY_BE_BELOW:.0%} of the former libraries' points. *Below*: points of the latter where it is below",
        "nevertheless. *Left out*: each library in turn, with factor and *times* from the others.",
        "",
    ]


def _form_table(seen: Sequence[Seen]) -> list[str]:
    chosen = [point for point in seen if point.subject in CHOSEN_ON]
    checked = [point for point in seen if point.subject not in CHOSEN_ON]
    lines = [
        "| estimate | error, spread where chosen | times | error, spread where checked | at worst | below |"
        " spread, left out | below, left out |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for form in FORMS:
        times = _times(form, chosen)
        errors = [form.error(point) for point in checked]
        below = sum(form.short_by(point) > times for point in checked)
        left_out = list(_left_out(form, seen))
        missed = sum(is_below for _, is_below in left_out)
        cells = [
            form.label,
            _two(form.error(point) for point in chosen),
            f"{times:.1f}",
            _two(errors),
            f"{min(errors):+.2f}",
            f"{below} of {len(checked)}",
            f"{pstdev(error for error, _ in left_out):.2f}",
            f"{missed} of {len(seen)}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    now, before = (next(f for f in FORMS if f.factor == factor) for factor in (RAISED, BEFORE))
    sure = sum(now.short_by(point) > RAISED_AT_MOST / RAISED for point in checked)
    sure_before = sum(before.short_by(point) > BEFORE_AT_MOST / BEFORE for point in checked)
    by_library = ", ".join(
        f"{name} {mean(now.error(point) for point in group):+.2f}"
        for name, group in groupby(checked, key=lambda point: point.subject)
    )
    return [
        *lines,
        "",
        *HAZARD_BY_AGE,
        "The factor that the third needs, four, was the same on earlier campaigns; that of the recent rate as it is shown, which has",
        "its lag taken out since, went from 10 to 16. So the third is what is used: **the share w",
        f"of the favored entries that waits is taken to show {RAISED:.0f} times what an input showed in the mean",
        f"since the start, its upper end {RAISED_AT_MOST:.0f} times**, about twice what the libraries where it was chosen ask for at every point;",
        f"with w = 1 it is below the truth at {sure} of {len(checked)} points of the others. Before, the recent rate was taken {BEFORE:.0f} times and its upper",
        f"end {BEFORE_AT_MOST:.0f} times: below at {sure_before}. (The weight w, and the {ENOUGH} entries of the rule below, were settled after the others had been seen,",
        "on earlier campaigns.)",
        f"Errors of the others, with w = 1: {by_library}. What remains is due to entries that differ a hundredfold.",
    ]


def _two(errors: Iterator[float] | Sequence[float]) -> str:
    known = list(errors)
    return f"{mean(known):+.2f}, {pstdev(known):.2f}"


def _times(form: Form, points: Sequence[Seen]) -> float:
    """The least factor for the upper end that leaves few points above it; 1 or more."""
    short = sorted(form.short_by(point) for point in points)
    return max(1.0, short[ceil(len(short) * (1 - MAY_BE_BELOW)) - 1])


def _left_out(form: Form, seen: Sequence[Seen]) -> Iterator[tuple[float, bool]]:
    """Error and whether the upper end is below, with each library's factors from all others."""
    for name in sorted({point.subject for point in seen}):
        others = [point for point in seen if point.subject != name]
        shift, times = mean(form.error(point) for point in others), _times(form, others)
        for point in seen:
            if point.subject == name:
                yield form.error(point) - shift, form.short_by(point) > times


def _waiting(judgement: Judgement) -> Iterator[Seen]:
    for point, reading in zip(judgement.points, judgement.readings, strict=True):
        untried, found = reading.untried, reading.observation.discoveries
        if untried is None or found is None or point.inputs < SECOND_ENTRY:
            continue
        if untried.share > MOST_WAIT:
            hits = point.truth()
            low, _ = intervals.binomial(hits.discoveries or 0, hits.inputs or 0, 0.95)
            n = reading.observation.n
            rounds = tuple(_rounds(point.folder / "default" / "queue", found))
            tried = max(1, untried.tried or 0)
            yield Seen(point.subject, n, found, rounds, tried, hits.probability, low)


def _rounds(queue: Path, found: Ints) -> Iterator[Ints]:
    """The discoveries of each stay: those in a row that come from the same entry."""
    names = sorted(path.name for path in queue.iterdir())
    parents = [parent for name in names if (parent := re.search(r",src:(\d+)\D.*,op:", name))]
    start = 0
    for _, group in groupby(parent[1] for parent in parents[: len(found)]):
        end = start + sum(1 for _ in group)
        yield found[start:end]
        start = end


# ── stops ─────────────────────────────────────────────────────────────────────────────────────


def _alone(reading: Reading, risk: float) -> bool:
    return latest_decision(reading.observation, AcceptedRisk(risk)).stop


def _few_wait(reading: Reading) -> bool:
    return reading.untried is None or not are_many(reading.untried.share)


def _raised(reading: Reading, risk: float) -> bool:
    return latest_decision(reading.with_waiting, AcceptedRisk(risk)).stop


RULES: tuple[tuple[str, Callable[[Reading, float], bool]], ...] = (
    ("recent rate, no rule", _alone),
    (
        f"recent rate, none while more than {FEW:.0%} wait",
        lambda r, x: _few_wait(r) and _alone(r, x),
    ),
    ("raised, no rule", _raised),
    (
        f"**raised, none before {ENOUGH} entries are tried**",
        lambda r, x: judge_reading(r, Terms(x)).reached,
    ),
    (f"raised, none while more than {FEW:.0%} wait", lambda r, x: _few_wait(r) and _raised(r, x)),
)


def _stop_comparison(judgement: Judgement) -> list[str]:
    order = list(zip(judgement.points, judgement.readings, strict=True))
    campaigns = [
        list(group) for _, group in groupby(order, key=lambda row: (row[0].subject, row[0].seed))
    ]
    lines = [
        f"What each rule would have stopped, for {len(RISKS)} accepted risks from {RISKS[0]:g} to {RISKS[-1]:g}. *Wrong*: the frozen",
        f"queue was above the accepted risk. *Waiting*: those made while more than {FEW:.0%} of the favored entries waited. *Missed*:",
        "campaigns and risks without a stop, although the frozen queue was below the risk in the end.",
        "",
        "| rule | libraries | stops | wrong | waiting | wrong, waiting | missed |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, rule in RULES:
        for half, names in (("chosen on", CHOSEN_ON), ("checked", _others(judgement.points))):
            inside = [c for c in campaigns if c[0][0].subject in names]
            cells = _count_stops(inside, rule)
            lines.append(f"| {label} | {half} | " + " | ".join(map(str, cells)) + " |")
    return lines


def _others(points: Sequence[Point]) -> Collection[str]:
    return {point.subject for point in points} - set(CHOSEN_ON)


def _count_stops(
    campaigns: Sequence[Sequence[tuple[Point, Reading]]], rule: Callable[[Reading, float], bool]
) -> tuple[int, int, int, int, int]:
    made = wrong = waiting = waiting_wrong = missed = 0
    for campaign in campaigns:
        for risk in RISKS:
            stop = next(((p, r) for p, r in campaign if rule(r, risk)), None)
            if stop is None:
                missed += campaign[-1][0].truth().probability < risk
                continue
            is_wrong, is_waiting = stop[0].truth().probability > risk, not _few_wait(stop[1])
            made, wrong = made + 1, wrong + is_wrong
            waiting, waiting_wrong = waiting + is_waiting, waiting_wrong + (is_waiting and is_wrong)
    return made, wrong, waiting, waiting_wrong, missed
