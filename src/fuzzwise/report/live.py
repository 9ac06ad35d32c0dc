"""A running campaign on a terminal, and as plain lines where there is none."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from fuzzwise.assessment import Assessment, assess
from fuzzwise.engines.progress import Limits, Progress
from fuzzwise.report import left, words
from fuzzwise.report.terminal import Screen
from fuzzwise.snapshot import Campaign

if TYPE_CHECKING:
    from rich.table import Table

LINE_EVERY = 10.0
DRAW_EVERY = 0.5


class View:
    """Shows progress: a table that is redrawn on a terminal, else a line now and then."""

    def __init__(self, name: str, limits: Limits, *, quiet: bool = False) -> None:
        self._name = name
        self._limits = limits
        self._quiet = quiet
        self._screen: Screen | None = None
        self._next = 0.0
        self._trend: list[tuple[float, float]] = []

    def __enter__(self) -> Self:
        """Take over the terminal, if there is one."""
        self._screen = None if self._quiet else Screen.take_over()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back."""
        if self._screen:
            self._screen.give_back()

    def __call__(self, progress: Progress) -> None:
        """Show the campaign at this moment, if it is time to."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (DRAW_EVERY if self._screen else LINE_EVERY)
        assessment = assess(
            Campaign("", (progress.observation,)),
            self._limits.accepted_risk,
            self._limits.confidence,
        )
        if self._screen:
            self._screen.draw(lambda *_: self._table(progress, assessment))
        else:
            print(line(progress, assessment), file=sys.stderr, flush=True)  # noqa: T201

    def _table(self, progress: Progress, a: Assessment) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.ROUNDED, show_header=False, title=f"fuzzwise · {self._name}")
        table.add_column(style="dim", justify="right")
        table.add_column(min_width=48)
        for name, value in rows(progress, a, self._arrow(a)):
            table.add_row(name, Text(value))
        return table

    def _arrow(self, a: Assessment) -> str:
        """Whether the risk falls, compared with what it was when half the inputs were made."""
        if a.risk is None:
            return ""
        self._trend.append((a.observation.n, a.risk.value))
        half = [value for n, value in self._trend if n <= a.observation.n / 2]
        if not half or half[-1] <= 0:
            return ""
        change = a.risk.value / half[-1]
        return f"  {'falling' if change < 0.9 else 'rising' if change > 1.1 else 'level'}"


def rows(progress: Progress, a: Assessment, trend: str = "") -> list[tuple[str, str]]:
    """What there is to say, as pairs of a name and a value."""
    o = progress.observation
    speed = o.n / o.seconds if o.seconds else 0.0
    found = len(o.discoveries) if o.discoveries is not None else 0
    total = f", about {a.richness.value:,.0f} in all" if a.richness else ""
    shown = [
        ("risk", (words.probability(a.risk) if a.risk else "–") + trend),
        ("inputs", f"{o.n:,}   {speed:,.0f}/s   {words.duration(o.seconds or 0)}"),
        ("species", f"{o.species:,} found by {found:,} discoveries{total}"),
        ("corpus", f"{progress.corpus:,} seeds"),
        ("bugs", _bugs(progress)),
    ]
    if a.risk and a.risk.note:
        shown.insert(1, ("", a.risk.note))
    if a.accepted_risk is not None and a.seconds_left:
        shown.insert(1, ("left", f"{left.in_words(a)} to the accepted {a.accepted_risk:g}"))
    if progress.measuring:
        shown.append(("", "measuring the truth with the corpus frozen"))
    shown += [("WARNING", warning) for warning in progress.warnings]
    return shown


def line(progress: Progress, a: Assessment) -> str:
    """The same in one plain line."""
    return "  ".join(f"{name}: {value}" if name else value for name, value in rows(progress, a))


def _bugs(progress: Progress) -> str:
    if not progress.bugs:
        return "none"
    crashes = sum(bug.count for bug in progress.bugs)
    kinds = ", ".join(sorted({bug.kind for bug in progress.bugs}))
    return f"{len(progress.bugs)} ({crashes} crashes): {kinds}"
