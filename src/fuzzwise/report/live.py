"""A target at work on a terminal, and as plain lines where there is none."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Self

from fuzzwise.engines.contract import Totals
from fuzzwise.judge import Judgement
from fuzzwise.report import left, words
from fuzzwise.report.terminal import Screen

if TYPE_CHECKING:
    from rich.table import Table

LINE_EVERY = 10.0
DRAW_EVERY = 0.5


class View:
    """Shows progress: a table that is redrawn on a terminal, else a line now and then."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self._name = name
        self._quiet = quiet
        self._screen: Screen | None = None
        self._next = 0.0

    def __enter__(self) -> Self:
        """Take over the terminal, if there is one."""
        self._screen = None if self._quiet else Screen.take_over()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back."""
        if self._screen:
            self._screen.give_back()

    def __call__(self, totals: Totals, judgement: Judgement) -> None:
        """Show the target at this moment, if it is time to."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (DRAW_EVERY if self._screen else LINE_EVERY)
        if self._screen:
            self._screen.draw(lambda *_: self._table(totals, judgement))
        else:
            print(line(totals, judgement), file=sys.stderr, flush=True)  # noqa: T201

    def _table(self, totals: Totals, judgement: Judgement) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.ROUNDED, show_header=False, title=f"fuzzwise · {self._name}")
        table.add_column(style="dim", justify="right")
        table.add_column(min_width=48)
        for name, value in rows(totals, judgement):
            table.add_row(name, Text(value))
        return table


def rows(totals: Totals, a: Judgement) -> list[tuple[str, str]]:
    """What there is to say, as pairs of a name and a value."""
    o = totals.observation
    if not o.n and totals.doing:
        return [("", totals.doing), *(("WARNING", warning) for warning in totals.warnings)]
    speed = o.n / o.seconds if o.seconds else 0.0
    found = len(o.discoveries) if o.discoveries is not None else 0
    total = f", about {a.richness.value:,.0f} in all" if a.richness else ""
    trend = f"  {a.trend}" if a.trend else ""
    shown = [
        ("risk", (words.probability(a.risk) if a.risk else "–") + trend),
        ("inputs", f"{o.n:,}   {speed:,.0f}/s   {words.duration(o.seconds or 0)}"),
        ("species", f"{o.species or 0:,} found by {found:,} discoveries{total}"),
        ("corpus", f"{totals.corpus:,} seeds"),
        ("bugs", _bugs(totals)),
    ]
    if totals.stability is not None and totals.stability < 1:
        shown.insert(-1, ("stability", _stability(totals.stability)))
    if a.risk and a.risk.note:
        shown.insert(1, ("", a.risk.note))
    if a.accepted_risk is not None and a.seconds_left:
        shown.insert(1, ("left", f"{left.in_words(a)} to the accepted {a.accepted_risk:g}"))
    if totals.doing:
        shown.append(("", totals.doing))
    shown += [("WARNING", warning) for warning in totals.warnings]
    return shown


def line(totals: Totals, a: Judgement) -> str:
    """The same in one plain line."""
    return "  ".join(f"{name}: {value}" if name else value for name, value in rows(totals, a))


def _stability(share: float) -> str:
    """Rounded down, so that what is not all is not called 100%."""
    return f"{math.floor(share * 1000) / 10:g}% of coverage is the same when an input runs again"


def _bugs(totals: Totals) -> str:
    if not totals.bugs:
        return "none"
    crashes = sum(bug.count for bug in totals.bugs)
    kinds = ", ".join(sorted({bug.kind for bug in totals.bugs}))
    return f"{len(totals.bugs)} ({crashes} crashes): {kinds}"
