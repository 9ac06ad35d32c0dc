"""What all commands print alike: JSON for programs, tables for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from fuzzwise.model import Estimate


def print_json(value: Any) -> None:
    """Print one JSON document; numbers that JSON does not know become null."""
    click.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def estimate_json(estimate: Estimate | None) -> dict[str, object] | None:
    """An estimate as every command prints it; null where there is none."""
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "method": estimate.method,
        "n": estimate.n,
        "note": estimate.note,
    }


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the first column is left-aligned, numbers are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        last_words = i == len(columns) - 1 and name in ("note", "why")
        table.add_column(name, justify="left" if i == 0 or last_words else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=140, no_color=True)
    click.echo(f"\n{title}")
    console.print(table)


def check_charts(paths: Sequence[Path]) -> None:
    """Refuse chart files of an unknown kind before any work is done."""
    if paths:
        from fuzzwise.report.chart_file import check

        for path in paths:
            check(path)


def save_charts(chart: Any, paths: Sequence[Path]) -> None:
    """Write a chart to each of the files."""
    from fuzzwise.report.chart_file import save

    for path in paths:
        save(chart, path)
        click.echo(f"Chart written to {path}", err=True)


def number(value: float | None, digits: int = 3) -> str:
    """A number with that many significant digits; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "never"
    if value == 0:
        return "0"
    return f"{value:.{digits}g}" if 1e-3 <= abs(value) < 10**digits else f"{value:.{digits - 1}e}"


def count(value: float) -> str:
    """A large number as people say it: 1,234 or 5.6 million."""
    if math.isinf(value):
        return "never"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.3g} {word}" if value < 1e15 else f"{value:.2e}"
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    """A time as people say it: 90 s, 12 min, 5.2 h, 3.1 days."""
    if math.isinf(seconds):
        return "never"
    for size, word in ((86400 * 365.25, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {word}"
    return f"{seconds:.3g} s"


def span(estimate: Estimate, words: Callable[[float], str]) -> str:
    """A value and its interval, in the given words."""
    text = f"about {words(estimate.value)}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({words(estimate.low)} to {words(estimate.high)})"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
