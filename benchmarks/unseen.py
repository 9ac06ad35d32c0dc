"""The estimate on libraries that played no part in choosing it: recorded like the others, in docs/unseen.md.

Run ``make unseen-study`` (about two hours on one core, less what ``datasets/unseen-libraries.jsonl.gz``
has; it goes on from where it was stopped), or with ``--no-record`` to judge what there is. ``--keep``
adds what was recorded to the data set.
"""

from __future__ import annotations

import argparse
from math import inf
from pathlib import Path

import numpy as np

from forecasts import HORIZONS, cases, ours, score
from fuzzwise.snapshot import Campaign
from kept_campaigns import KEPT, keep, known
from real import DEFAULT_WORK
from real_campaigns import STAGES, record
from real_depth import DEEP, SHALLOW, by_library, points
from real_depth import ours as estimate
from stop_rules import accepted_risk, truth_of
from stop_study import RISKS
from unseen_subjects import UNSEEN

DATA_SET = KEPT.with_name("unseen-libraries.jsonl.gz")
REPEATS = 2


def main() -> None:
    """Record what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK.with_name("unseen-work"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-record", action="store_true", help="only judge what is recorded")
    parser.add_argument("--keep", action="store_true", help="add what is recorded to the data set")
    options = parser.parse_args()
    if not options.no_record:
        record(list(UNSEEN), options.work, options.repeats, STAGES[:2], DATA_SET)
    campaigns = known(options.work, DATA_SET)
    if options.keep:
        keep(campaigns, DATA_SET)
    (options.out / "unseen.md").write_text("\n".join(_page(campaigns)) + "\n", encoding="utf-8")


def _page(campaigns: list[Campaign]) -> list[str]:
    """What was decided elsewhere, checked here."""
    subjects = {subject.name: subject.what for subject in UNSEEN}
    names = sorted({campaign.subject for campaign in campaigns})
    deepest = {n: max(c.observations[-1].n for c in campaigns if c.subject == n) for n in names}
    found = points(campaigns, estimate("recent-rate"))
    lines = [
        "# On libraries that played no part",
        "",
        "The width of the interval was set with the campaigns of [all thirteen libraries](real-study.md) in view, so those",
        f"cannot check it. These {len(campaigns)} campaigns on {len(names)} other libraries were recorded afterwards, and",
        "nothing about the estimate, its interval or the stops was changed by what they showed. Bias and spread of log10(estimate/truth), the share of 95 % intervals",
        "that agree with the measured truth, and that end below it, and the median width in orders of magnitude, as there.",
        "This page is written by `make unseen-study`; do not edit it.",
        "",
        "| library | what is fuzzed | campaigns | inputs |",
        "|---|---|---|---|",
        *(
            f"| {n} | {subjects[n]} | {sum(c.subject == n for c in campaigns)} | {deepest[n]:,} |"
            for n in names
        ),
    ]
    for least in (SHALLOW, DEEP):
        if some := [point for point in found if point.n > least]:
            lines += ["", f"## n > {least:,}", "", *by_library(some)]
    return [*lines, "", *_forecast(campaigns), "", *_stops(campaigns)]


def _forecast(campaigns: list[Campaign]) -> list[str]:
    """How long still, of the default alone."""
    asked = [case for campaign in campaigns for case in cases(campaign)]
    lines = [
        "## How long still",
        "",
        "Asked as in [the study of stops](stop-study.md#how-long-still): log10(predicted inputs / true inputs), its median,",
        "the median of its absolute value, and the share of 95 % intervals that hold. The forecast was changed after six of these",
        "campaigns had been seen, on which it was too high (1.5 times at 2 times ahead, twice at 8 times; its interval held at 81 and",
        "86 %): it expects a steeper fall now where few of a target's discoveries are of late. How much steeper was fitted to the",
        "slopes of the truth on the libraries for choosing, not on these.",
        "",
        "| ahead | asked | median | absolute | holds |",
        "|---|---|---|---|---|",
    ]
    for horizon in HORIZONS:
        some = [case for case in asked if case.horizon == horizon]
        if told := score(some, ours):
            lines.append(
                f"| {horizon} times | {len(some)} | {told.median:+.2f} | {told.absolute:.2f} | {told.held:.0%} |"
            )
    return lines


def _stops(campaigns: list[Campaign]) -> list[str]:
    """Stops at the accepted risks of the study of stops, by library."""
    lines = [
        "## Stops",
        "",
        f"Stops at {len(RISKS)} accepted risks from 0.1 to 10⁻⁶, down to the lowest at which a campaign was stopped; how many",
        "were wrong, the truth being above the risk, and surely, by more than the 95 % error of its measurement; and the",
        "inputs at the stop over those at which the truth first was below (median).",
        "",
        "| library | lowest | stops | wrong | surely | inputs over truth's |",
        "|---|---|---|---|---|---|",
    ]
    rows: list[tuple[str, float, bool, bool, float | None]] = []
    for campaign in campaigns:
        truth = truth_of(campaign)
        for risk in RISKS:
            if n := accepted_risk(risk)(campaign):
                first = truth.first_below(risk)
                wrong, surely = truth.at(n) > risk, truth.least_at(n) > risk
                rows.append((campaign.subject, risk, wrong, surely, n / first if first else None))
    for title in [*sorted({row[0] for row in rows}), "all"]:
        some = [row for row in rows if title in (row[0], "all")]
        late = [row[4] for row in some if row[4]]
        lines.append(
            f"| {title} | {min((row[1] for row in some), default=inf):.1e} | {len(some)} "
            f"| {sum(row[2] for row in some)} | {sum(row[3] for row in some)} "
            f"| {f'{np.median(late):.2f}' if late else '–'} |"
        )
    return lines


if __name__ == "__main__":
    main()
