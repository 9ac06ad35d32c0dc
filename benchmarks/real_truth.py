"""Every estimator against measured truth on real libraries: writes docs/real-study.md.

Run ``make real-study``. It first records the campaigns that are missing (``real_campaigns.py``: some hours on one
core, and it goes on from where it was stopped), then judges and draws, which takes a minute.
``--no-record`` judges what there is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import polars as pl

from fuzzwise.lab.evaluate.measures import beside_truth, score, summarise
from fuzzwise.lab.evaluate.published import fit_truth
from fuzzwise.report.charts.file import save
from fuzzwise.report.charts.score import draw_power_laws, draw_scores
from fuzzwise.report.charts.style import ESTIMATOR_COLOURS
from fuzzwise.snapshot import Campaign
from fuzzwise.stopping import AcceptedRisk
from real import DEFAULT_WORK, chosen
from real_campaigns import REPEATS, is_for_choosing, record, recorded_so_far
from real_depth import depth_tables
from subjects import Subject, version

STOP_RISKS = (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 1e-5, 1e-6)


def main() -> None:
    """Run what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-record", action="store_true", help="only judge what is recorded")
    options = parser.parse_args()
    subjects = chosen(options.names)
    if options.no_record:
        campaigns = recorded_so_far(subjects, options.work, options.repeats)
    else:
        campaigns = record(subjects, options.work, options.repeats)
    known = {campaign.subject for campaign in campaigns}
    _write(options, [subject for subject in subjects if subject.name in known], campaigns)


def _write(options: argparse.Namespace, subjects: list[Subject], campaigns: list[Campaign]) -> None:
    judged = beside_truth(campaigns)
    scores = score(judged)
    summary = summarise(scores)
    truth = judged.select("subject", "campaign", "n", delta="truth").unique()
    laws = fit_truth(truth)
    figures = options.out / "figures"
    save(draw_power_laws(*laws, "Measured on real libraries: Δ falls nearly as a power law",
                         [f"{len(campaigns)} campaigns, our schedule on stock libFuzzer"]),
         figures / "real-power-law.svg")  # fmt: skip
    save(draw_scores(scores, "Estimators against the measured discovery probability",
                     [f"{len(campaigns)} campaigns on {len(subjects)} libraries"]),
         figures / "real-scores.svg")  # fmt: skip
    versions = {subject.name: version(subject, options.work) for subject in subjects}
    r2 = {law.name: law.law.r2 for law in laws[0]}
    page = _page(summary, judged, r2, versions, campaigns)
    (options.out / "real-study.md").write_text(page, encoding="utf-8")


def _page(
    summary: pl.DataFrame,
    judged: pl.DataFrame,
    r2: dict[str, float],
    versions: dict[str, str],
    campaigns: list[Campaign],
) -> str:
    names = list(r2)
    lines = [
        "# Estimators on real libraries, against measured truth",
        "",
        f"{len(campaigns)} campaigns on {len(names)} libraries from Debian, up to {_reach(campaigns)} inputs, with",
        "the seeds of `benchmarks/subjects.py`, clang's libFuzzer and our seed schedule and lengths. At 100, 200,",
        "400, … inputs the campaign is frozen, and inputs are made from the frozen corpus until 36 (to",
        "204,800 inputs, 64) have shown something new, or 26 million (4 million; beyond 3,276,800 inputs 52",
        "million) were made; the share that did is the truth, known to 17 % (13 %) or better where these were",
        "found. This page and its figures are written by `make real-study`; do not edit them.",
        "",
        f"For choosing forms of estimators: {', '.join(filter(is_for_choosing, names))}. The other libraries only",
        "check what was chosen.",
        "",
        *_findings(summary),
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
        *depth_tables(judged, "recent-rate"),
        "",
        *_stops(campaigns),
        "",
        "## Power law",
        "",
        "| | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        "| R² | " + " | ".join(f"{r2[name]:.3f}" for name in names) + " |",
        "| Debian version | " + " | ".join(versions.get(name, "") for name in names) + " |",
        "",
        "![Power law](figures/real-power-law.svg)",
        "",
        "![Scores](figures/real-scores.svg)",
        "",
    ]
    return "\n".join(lines)


def _reach(campaigns: list[Campaign]) -> str:
    """How far most and how far the deepest went."""
    last = sorted(campaign.observations[-1].n for campaign in campaigns)
    return f"{last[len(last) // 2]:,} (the deepest {last[-1]:,})"


def _stops(campaigns: list[Campaign]) -> list[str]:
    """What the stop rule would have done, and whether it was right."""
    lines = [
        "## Would it have stopped rightly?",
        "",
        "The stop rule, with 95 % confidence, shown each campaign's data points in order: how many",
        "campaigns it stops for an accepted risk, and at how many of these stops the measured truth was",
        "above that risk.",
        "",
        "| accepted risk | stopped | truth above |",
        "|---|---|---|",
    ]
    for risk in STOP_RISKS:
        stops = [_stop(campaign, risk) for campaign in campaigns]
        truths = [(name, truth) for name, truth in stops if truth is not None]
        wrong = Counter(name for name, truth in truths if truth > risk)
        who = ", ".join(f"{count} on {name}" for name, count in wrong.items()) or "none"
        lines.append(f"| {risk:g} | {len(truths)} of {len(campaigns)} | {who} |")
    return lines


def _stop(campaign: Campaign, risk: float) -> tuple[str, float | None]:
    """The measured truth where the rule stops; None where it does not."""
    rule, since = AcceptedRisk(risk), 0
    for observation in campaign.observations:
        if rule(observation, since).stop and observation.truth:
            return campaign.subject, observation.truth.probability
        since = observation.n
    return campaign.subject, None


def _findings(summary: pl.DataFrame) -> list[str]:
    def mean(name: str, measure: str) -> float:
        rows = summary.filter(pl.col("estimator") == name)
        return float(rows[measure].mean())  # type: ignore[arg-type]

    def bias(name: str) -> str:
        return f"{mean(name, 'bias'):+.2f}"

    return [
        f"- The default, the **recent rate**: mean bias {bias('recent-rate')} orders of magnitude, "
        f"intervals that agree at {mean('recent-rate', 'coverage'):.0%} of the points, and that end "
        f"below the truth at {mean('recent-rate', 'beyond'):.1%}.",
        f"- The **recent growth**: bias {bias('recent-growth')}, coverage "
        f"{mean('recent-growth', 'coverage'):.0%}, below the truth at "
        f"{mean('recent-growth', 'beyond'):.1%}.",
        f"- The papers' estimators: Good-Turing {bias('good-turing')}, Mean Local Laplace "
        f"{bias('mean-local-laplace')}, Mean Local Good-Turing {bias('mean-local-good-turing')}, "
        f"Laplace {bias('laplace')}, resets {bias('reset-1')} and {bias('reset-10')}.",
    ]


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
