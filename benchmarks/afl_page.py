"""The page docs/afl-study.md: what was measured on AFL++, beside the figures for libFuzzer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import mean, pstdev

import polars as pl

from afl_tables import (
    ESTIMATORS,
    SECOND_ENTRY,
    Judgement,
    by_progress,
    by_waiting,
    counting_tables,
    errors_of,
    means,
    misses_of,
    rows_at,
    stop_table,
    who,
)
from afl_waiting import CHOSEN_ON, waiting_tables
from fuzzwise.estimators.waiting import ENOUGH, FEW, RAISED, RAISED_AT_MOST
from fuzzwise.lab.evaluate.measures import score, summarise
from fuzzwise.text import many


def write_page(judgement: Judgement, out: Path) -> None:
    """Write the page; libFuzzer's figures come from real-study.md beside it."""
    other = (out / "real-study.md").read_text(encoding="utf-8")
    lines = [
        *_introduction(judgement),
        "",
        *_findings(judgement, other),
        "",
        *_beside(judgement, other, "bias", "+.2f", "Mean bias for n > 1000", BIAS_TEXT),
        "",
        *_beside(judgement, other, "coverage", ".0%", "Coverage of the 95 % intervals", COVER_TEXT),
        "",
        *by_progress(judgement),
        "",
        *waiting_tables(judgement),
        "",
        *stop_table(judgement),
        "",
        *counting_tables(judgement),
        "",
        *_checks(judgement),
        "",
        "![Scores](figures/afl-scores.svg)",
        "",
    ]
    (out / "afl-study.md").write_text("\n".join(lines), encoding="utf-8")


BIAS_TEXT = (
    "Mean of log10(estimate/truth) over the data points up to {last:,} inputs: 0 is right, +1 ten\n"
    "times too high, below 0 dangerous. libFuzzer's rows are those of [the study of libFuzzer]"
    "(real-study.md),\nwhere fuzzwise's own schedule picks a seed anew for each input: a frozen corpus "
    "then has one\nprobability, the same for the next input and for the mean over many."
)
COVER_TEXT = (
    "Share of data points where the interval agrees with the measured truth, whose own binomial\n"
    "error is allowed for; the same data points."
)


def _introduction(judgement: Judgement) -> list[str]:
    last, most = judgement.last, max(point.inputs for point in judgement.points)
    deep = {point.subject for point in judgement.points if point.inputs > last}
    later = f" One on each of {len(deep)} goes on to {most:,}." if deep else ""
    return [
        "# What `watch` says of AFL++, against measured truth",
        "",
        f"{many(judgement.repeats, 'campaign')} of {last:,} mutated inputs on each of {len(judgement.versions)} libraries from Debian, with",
        f"the seeds of `benchmarks/subjects.py`, under stock afl-fuzz {judgement.afl_version}.{later} At 1,600,",
        "3,200, 6,400, … inputs the queue is frozen and as many inputs again (at most 409,600) are made",
        "from it; the share that shows something new is the truth. `fuzzwise watch` reads the output",
        "folder as it was at that moment. This page and its figure are written by `make afl-study`; do",
        "not edit them.",
    ]


def _findings(judgement: Judgement, other: str) -> list[str]:
    ours = means(judgement.queue_summary, "recent-rate")
    future = means(summarise(score(judgement.future)), "recent-rate")
    libfuzzer = _published(other, "bias")["recent-rate"]["all"]
    stays = [p.first_stay() for p in judgement.points if p.inputs == judgement.last]
    groups = [group.points for group in by_waiting(judgement)]
    most_wait, few_wait = [*groups[0], *groups[1]], [*groups[2], *groups[3]]
    waiting, tried = rows_at(judgement.plain, most_wait), rows_at(judgement.plain, few_wait)
    raised, raised_tried = rows_at(judgement.queue, most_wait), rows_at(judgement.queue, few_wait)
    checked = rows_at(judgement.queue, [p for p in most_wait if p.subject not in CHOSEN_ON])
    early = rows_at(judgement.queue, [p for p in judgement.points if p.inputs < SECOND_ENTRY])
    return [
        "- afl-fuzz stays with a queue entry for thousands of inputs (with the first one for "
        f"{min(stays):,} to {max(stays):,}), so that its discoveries tell of few entries until those that it favors "
        "have had their turn. **That, and not the number of inputs, decides whether the estimate can be trusted:**",
        f"- While more than a third of the favored entries wait, the **recent rate** as such is too low: bias "
        f"{mean(errors_of(waiting)):+.2f} orders of magnitude against the frozen queue, its interval ends below the truth at "
        f"{sum(misses_of(waiting)):.0f} of {len(waiting)} points. With fewer waiting the bias is {mean(errors_of(tried)):+.2f}, and the interval "
        f"ends below the truth at {sum(misses_of(tried)):.0f} of {len(tried)}.",
        f"- So **`watch`, `fuzz` and `run` raise it for AFL++**: the share that waits is taken to show {RAISED:.0f} times what an input showed in the "
        f"mean since the start, and at most {RAISED_AT_MOST:.0f} times. At the same points the bias is then {mean(errors_of(raised)):+.2f}, with a spread of {pstdev(errors_of(raised)):.2f} "
        f"({mean(errors_of(checked)):+.2f} and {pstdev(errors_of(checked)):.2f} on the libraries that had no part in the choice), and the interval ends below the truth at "
        f"{sum(misses_of(raised)):.0f} of {len(raised)} ({sum(misses_of(checked)):.0f} of {len(checked)}); with fewer waiting {mean(errors_of(raised_tried)):+.2f}, and at "
        f"{sum(misses_of(raised_tried)):.0f} of {len(raised_tried)}. A constant, and no more than that: what it may hide is said below.",
        f"- **None of them accepts a risk before AFL++ has tried {ENOUGH} entries**, as long as more than {FEW:.0%} of the favored ones wait. "
        "(The rule before was to refuse for as long as more than that wait; the second table of what waiting entries are worth compares them.)",
        f"- Before afl-fuzz leaves its first entry (up to 12,800 inputs) the raised estimate is too high, by {mean(errors_of(early)):+.2f}: "
        "the truth then is that of one entry, since the frozen fuzzer stays with it too.",
        f"- Against **what the same campaign then found** in its next n inputs, the recent rate as such has a mean bias of "
        f"{future['bias']:+.2f}, the interval ends below it at {future['beyond']:.0%} of the points. As a forecast of "
        "the campaign's own discoveries it holds from the start.",
        f"- Over all points up to {judgement.last:,} inputs, most of them before the favored entries had their turn: "
        f"bias {ours['bias']:+.2f} (libFuzzer: {libfuzzer}), coverage {ours['coverage']:.0%}.",
        f"- Other targets may differ: these are {len(judgement.versions)} libraries, at most 819,200 inputs, one version of AFL++ with a fixed "
        "seed. Nothing longer was measured with entries waiting.",
    ]


def _beside(
    judgement: Judgement, other: str, measure: str, form: str, title: str, text: str
) -> list[str]:
    names = sorted(judgement.versions)
    published = _published(other, measure)
    lines = [
        f"## {title}",
        "",
        *text.format(last=judgement.last).split("\n"),
        "",
        "| estimator | fuzzer | " + " | ".join(names) + " | all |",
        "|---|---|" + "---|" * (len(names) + 1),
    ]
    for estimator in ESTIMATORS:
        rows = judgement.queue_summary.filter(pl.col("estimator") == estimator).to_dicts()
        values = {row["subject"]: row[measure] for row in rows if row[measure] is not None}
        cells = [format(values[name], form) if name in values else "–" for name in names]
        average = format(mean(values.values()), form)
        lines.append(f"| {estimator} | AFL++ | " + " | ".join([*cells, average]) + " |")
        theirs = [published[estimator].get(name, "–") for name in [*names, "all"]]
        lines.append(f"| {estimator} | libFuzzer | " + " | ".join(theirs) + " |")
    used = judgement.queue.filter(
        (pl.col("n") <= judgement.last) & (pl.col("estimator") == "recent-rate")
    ).to_dicts()
    if measure == "bias":
        left_out = len(used) - len(errors_of(used))
        lines += [
            "",
            f"AFL++: {len(used)} points, of which {left_out} have no logarithm and are left out.",
        ]
    return lines


def _checks(judgement: Judgement) -> list[str]:
    points = judgement.points
    total = Counter[str]()
    for point in points:
        total.update(point.measured.numbers)
    misplaced = sum(point.misplaced() for point in points)
    names = sorted(judgement.versions)
    others = [p for p in points if not p.measured.numbers.get("repeated", 1)]
    least = f", all of {min(p.inputs for p in others):,} inputs or more" if others else ""
    return [
        "## How it was measured, and checked",
        "",
        "- Each library is built by afl-clang-fast and linked to `benchmarks/native/afl_truth.c`, a `main` in",
        "  persistent mode with inputs in shared memory that looks at the coverage map after each run. What",
        "  shows nothing new to the queue it leaves alone; in the frozen phase it empties the map of a run that does, so",
        "  that afl-fuzz sees nothing. afl-fuzz is as installed, with `-s` for the seed (which takes the measured speed",
        "  of an entry out of its schedule) and `-t 1000`; trimming is on, the deterministic stage is off, as by default.",
        "- With a fixed seed afl-fuzz mostly repeats itself: each campaign was run once up to n inputs, for the folder, and",
        "  once more with the freeze. Both made the same discoveries at the same executions, but for",
        f"  {len(others)} of {len(points)} campaigns ({who(Counter(p.subject for p in others))}{least}), where the folder is that of the frozen one",
        "  and the most favored entries that ever waited count.",
        f"- Of {total['discoveries']:,} queue entries that afl-fuzz wrote in {len(points)} campaigns, all but {misplaced} are discoveries that the",
        f"  driver saw at that very execution. Inputs with something new that afl-fuzz did not keep: {total['unconfirmed']}. Runs that did not",
        f"  come back: {total['unfinished']}. Trimmings that went otherwise than predicted, so that a few runs are miscounted:",
        f"  {total['broken_trims']} in {total['executions']:,} executions.",
        "- A frozen afl-fuzz finds nothing, so it leaves an entry sooner than it would have: the truth is a mean over",
        "  more entries than the campaign would have mutated in as many inputs. Its binomial interval takes inputs for",
        "  independent; those from one entry are not.",
        "",
        "| | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        "| Debian version | " + " | ".join(judgement.versions[name] for name in names) + " |",
    ]


def _published(page: str, measure: str) -> dict[str, dict[str, str]]:
    """The cells of a table of real-study.md, by estimator and library."""
    heading = {"bias": "## Mean bias", "coverage": "## Coverage"}[measure]
    table = page.partition(heading)[2].partition("\n| ")[2].partition("\n\n")[0].splitlines()
    names = [cell.strip() for cell in table[0].strip("| ").split("|")][1:]
    found = {}
    for line in table[2:]:
        estimator, *cells = (cell.strip() for cell in line.strip("| ").split("|"))
        found[estimator] = dict(zip(names, cells, strict=True))
    return found
