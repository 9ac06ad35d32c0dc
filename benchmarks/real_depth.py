"""One estimator by library and by depth: bias, spread, and what its interval is worth."""

from __future__ import annotations

import polars as pl

from real_campaigns import is_for_choosing

SHALLOW, DEEP = 1000, 200_000


def depth_tables(judged: pl.DataFrame, estimator: str) -> list[str]:
    """The lines of a page on it."""
    rows = _measured(judged.filter(pl.col("estimator") == estimator))
    lines = [
        f"## The interval of `{estimator}`, by depth",
        "",
        "Bias and spread (standard deviation) of log10(estimate/truth); the share of 95 % intervals that",
        "agree with the measured truth, whose own error is allowed for, and that end below it; the median of",
        "log10(upper/lower end). Points at which the measurement found nothing are left out.",
    ]
    for title, deep in ((f"{SHALLOW:,} < n ≤ {DEEP:,}", False), (f"n > {DEEP:,}", True)):
        chosen = rows.filter((pl.col("n") > DEEP) == deep)
        if chosen.is_empty():
            continue
        lines += ["", f"### {title}", "", *_table(chosen)]
    return lines


def _measured(judged: pl.DataFrame) -> pl.DataFrame:
    col = pl.col
    return judged.filter((col("n") > SHALLOW) & (col("truth") > 0) & (col("value") > 0)).select(
        "subject",
        "n",
        error=(col("value") / col("truth")).log10(),
        holds=(col("low") <= col("truth_high")) & (col("high") >= col("truth_low")),
        below=col("high") < col("truth_low"),
        width=(col("high") / col("low")).log10(),
    )


def _table(rows: pl.DataFrame) -> list[str]:
    lines = [
        "| library | points | bias | spread | holds | ends below | width |",
        "|---|---|---|---|---|---|---|",
    ]
    names = sorted(rows["subject"].unique())
    halves = {
        "all for choosing": [name for name in names if is_for_choosing(name)],
        "all for checking": [name for name in names if not is_for_choosing(name)],
        "all": names,
    }
    for title, members in ({name: [name] for name in names} | halves).items():
        chosen = rows.filter(pl.col("subject").is_in(members))
        if not chosen.is_empty():
            lines.append(_row(title, chosen))
    return lines


def _row(title: str, rows: pl.DataFrame) -> str:
    error = rows["error"]
    spread = error.std(ddof=0) or 0.0
    cells = [
        str(len(rows)),
        f"{error.mean():+.2f}",
        f"{spread:.2f}",
        f"{rows['holds'].mean():.0%}",
        f"{rows['below'].mean():.1%}",
        f"{rows['width'].median():.2f}",
    ]
    return f"| {title} | " + " | ".join(cells) + " |"
