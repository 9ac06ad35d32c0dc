"""Every estimator against measured truth on real libraries: writes docs/real-study.md.

Run ``make real-study``. It first records the campaigns that are missing (``real_campaigns.py``: many hours on one
core; it says how many as it goes, and goes on from where it was stopped), then judges and draws, which takes a
minute. ``--no-record`` judges what there is: what ``datasets/real-libraries.jsonl.gz`` keeps, and what was
recorded since. The table in docs/estimators.md is written too.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from fuzzwise.lab.evaluate.measures import beside_truth, score, summarise
from fuzzwise.lab.evaluate.published import fit_truth
from fuzzwise.report.charts.file import save
from fuzzwise.report.charts.score import draw_power_laws, draw_scores
from fuzzwise.report.charts.style import ESTIMATOR_COLOURS
from fuzzwise.snapshot import Campaign
from kept_campaigns import KEPT, known
from real import DEFAULT_WORK, chosen
from real_campaigns import REPEATS, is_for_choosing, record
from real_depth import DEEP, DEEPEST, SHALLOW, Point, depth_tables, ours, points, trust_table
from real_error import error_table

BEGIN, END = "<!-- made by make real-study -->", "<!-- until here -->"


def main() -> None:
    """Run what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-record", action="store_true", help="only judge what is recorded")
    options = parser.parse_args()
    subjects = chosen(options.names)
    if not options.no_record:
        record(subjects, options.work, options.repeats)
    names = {subject.name for subject in subjects}
    campaigns = [one for one in known(options.work, options.kept) if one.subject in names]
    _write(options.out, campaigns)
    _write_table(options.out / "estimators.md", campaigns)


def _write_table(page: Path, campaigns: list[Campaign]) -> None:
    """What estimators.md shows of it, between two marks."""
    if not page.exists():
        return
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    lines = [BEGIN, "", *trust_table(campaigns), "", *_what_they_are(campaigns), "", END]
    page.write_text(before + "\n".join(lines) + rest.partition(END)[2], encoding="utf-8")


def _write(out: Path, campaigns: list[Campaign]) -> None:
    judged = beside_truth(campaigns)
    scores = score(judged)
    truth = judged.select("subject", "campaign", "n", delta="truth").unique()
    laws = fit_truth(truth)
    figures = out / "figures"
    save(draw_power_laws(*laws, "Measured on real libraries: Δ falls nearly as a power law",
                         [f"{len(campaigns)} campaigns, our schedule on stock libFuzzer"]),
         figures / "real-power-law.svg")  # fmt: skip
    save(draw_scores(scores, "Estimators against the measured discovery probability",
                     [f"{len(campaigns)} campaigns on {len(laws[0])} libraries"]),
         figures / "real-scores.svg")  # fmt: skip
    r2 = {law.name: law.law.r2 for law in laws[0]}
    page = _page(summarise(scores), r2, campaigns)
    (out / "real-study.md").write_text(page, encoding="utf-8")


def _page(summary: pl.DataFrame, r2: dict[str, float], campaigns: list[Campaign]) -> str:
    names = list(r2)
    default = points(campaigns, ours("recent-rate"))
    lines = [
        "# Estimators on real libraries, against measured truth",
        "",
        *_what_they_are(campaigns),
        "This page and its figures are written by `make real-study`, which records what is missing (it says how",
        "long that takes), or in a minute by `make real-pages` from what `datasets/real-libraries.jsonl.gz` keeps;",
        "do not edit them.",
        "",
        *_findings(summary, default),
        "",
        "## Mean bias for n > 1000",
        "",
        "Mean of log10(estimate/truth): 0 is right, +1 ten times too high, below 0 dangerous.",
        "",
        "| estimator | " + " | ".join(names) + " | all |",
        "|---|" + "---|" * (len(names) + 1),
        *_rows(summary, names, "bias", "+.2f"),
        "",
        "## Coverage of the 95 % intervals for n > 1000",
        "",
        "Share of data points where the interval agrees with the measured truth, whose own binomial",
        "error is allowed for.",
        "",
        "| estimator | " + " | ".join(names) + " | all |",
        "|---|" + "---|" * (len(names) + 1),
        *_rows(summary, names, "coverage", ".0%"),
        "",
        *depth_tables(default, "recent-rate"),
        "",
        *error_table(campaigns),
        "",
        *_reach(campaigns),
        "",
        "## Power law",
        "",
        "| | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        "| R² | " + " | ".join(f"{r2[name]:.3f}" for name in names) + " |",
        "",
        "![Power law](figures/real-power-law.svg)",
        "",
        "![Scores](figures/real-scores.svg)",
        "",
    ]
    return "\n".join(lines)


def _what_they_are(campaigns: list[Campaign]) -> list[str]:
    """Which campaigns these are, and how well their truth is known."""
    names = sorted({campaign.subject for campaign in campaigns})
    found = [o.truth.discoveries or 0 for c in campaigns for o in c.observations if o.truth]
    seen = [count for count in found if count]
    return [
        f"{len(campaigns)} campaigns on {len(names)} libraries of Debian 12, with the seeds of",
        "`benchmarks/subjects.py`, clang's libFuzzer, our seed schedule, and lengths that are",
        "[drawn](fuzzing.md#how-long-inputs-become). At 100, 200, 400, … inputs the campaign is frozen, and inputs are",
        "made from the frozen corpus, with the same lengths, until so many have shown something new, or so many were",
        f"made; the share that did is the truth. At {len(found)} points it rests on {np.median(seen):.0f} discoveries in",
        f"the median, so that it is known to {1 / np.sqrt(np.median(seen)):.0%}; at {len(found) - len(seen)} of them none was found.",
        f"For choosing forms of estimators: {', '.join(filter(is_for_choosing, names))}. The other",
        "libraries only check what was chosen.",
    ]


def _reach(campaigns: list[Campaign]) -> list[str]:
    """How far each library went, and the truth that was measured there."""
    deep = {c.subject for c in campaigns if c.observations[-1].n > DEEPEST}
    last = max(campaign.observations[-1].n for campaign in campaigns)
    lines = [
        "## How deep",
        "",
        f"{len(deep)} libraries have a campaign of more than {DEEPEST:,} inputs. Beyond {last:,} nothing is measured: what is",
        "said here is not known to hold there. `make real-study` goes on to 52,428,800.",
        "",
        "The deepest campaign of each library, the truth at its end, and all of the time on the clock",
        "that its campaigns took with their measurements, on a machine that was shared.",
        "",
        "| library | campaigns | inputs | discoveries | truth at the end | found in | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, count in sorted(Counter(campaign.subject for campaign in campaigns).items()):
        own = [campaign.observations[-1] for campaign in campaigns if campaign.subject == name]
        end = max(own, key=lambda o: o.n)
        truth, found = end.truth, end.discoveries
        assert truth is not None
        assert found is not None
        lines.append(
            f"| {name} | {count} | {end.n:,} | {len(found):,} | {truth.probability:.1e} "
            f"| {truth.discoveries} of {truth.inputs:,} | {sum(o.seconds or 0 for o in own):,.0f} |"
        )
    return lines


def _findings(summary: pl.DataFrame, default: list[Point]) -> list[str]:
    def mean(name: str, measure: str) -> float:
        rows = summary.filter(pl.col("estimator") == name)
        known = rows[measure].drop_nulls()
        return float(np.mean(known.to_numpy())) if len(known) else float("nan")

    def bias(name: str) -> str:
        return f"{mean(name, 'bias'):+.2f}"

    return [
        *(_finding(default, least) for least in (SHALLOW, DEEP)),
        f"- The **recent growth**: bias {bias('recent-growth')}, coverage "
        f"{mean('recent-growth', 'coverage'):.0%}, below the truth at "
        f"{mean('recent-growth', 'beyond'):.1%}.",
        f"- The papers' estimators: Good-Turing {bias('good-turing')}, Mean Local Laplace "
        f"{bias('mean-local-laplace')}, Mean Local Good-Turing {bias('mean-local-good-turing')}, "
        f"Laplace {bias('laplace')}, resets {bias('reset-1')} and {bias('reset-10')}.",
    ]


def _finding(default: list[Point], least: int) -> str:
    """The default beyond so many inputs: over all points, and the library that is worst."""
    some = [point for point in default if point.n > least]
    names = sorted({point.subject for point in some})
    biases = {n: float(np.mean([p.error for p in some if p.subject == n])) for n in names}
    worst = max(biases, key=lambda name: abs(biases[name]))
    return (
        f"- The default, the **recent rate**, at {len(some)} points beyond {least:,} inputs: mean bias "
        f"{np.mean([p.error for p in some]):+.2f} orders of magnitude (most on {worst}: "
        f"{biases[worst]:+.2f}), intervals that agree at {np.mean([p.holds for p in some]):.0%} of "
        f"the points and end below the truth at {np.mean([p.below for p in some]):.1%}, "
        f"{np.median([p.width for p in some]):.2f} wide in the median. The mean of truth over estimate is "
        f"{np.mean([10**-p.error for p in some]):.2f}."
    )


def _rows(summary: pl.DataFrame, names: list[str], measure: str, form: str) -> list[str]:
    lines = []
    for estimator in ESTIMATOR_COLOURS:
        rows = summary.filter(pl.col("estimator") == estimator)
        values = {row["subject"]: row[measure] for row in rows.to_dicts()}
        known = [v for v in values.values() if v is not None]
        if not known:
            continue
        cells = ["–" if values.get(name) is None else format(values[name], form) for name in names]
        lines.append(
            f"| {estimator} | "
            + " | ".join(cells)
            + f" | {format(sum(known) / len(known), form)} |"
        )
    return lines


if __name__ == "__main__":
    main()
