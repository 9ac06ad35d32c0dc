"""A target at work on a terminal, and as plain lines where there is none."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import Self

from rich.text import Text

from fuzzwise.engines.contract import Totals
from fuzzwise.judge import Judgement
from fuzzwise.report import bug_bound, left, short, words
from fuzzwise.report.lines import pairs, wrapped
from fuzzwise.report.terminal import Screen

LINE_EVERY = 10.0
DRAW_EVERY = 0.5
START = 2.0
"""Seconds within which most targets run their first input: nothing is said before."""

STYLES = {"WARNING": "bold red"}


class View:
    """Shows progress: a table that is redrawn on a terminal, else a line now and then."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self._name = name
        self._quiet = quiet
        self._screen: Screen | None = None
        self._next = 0.0
        self._quiet_until = time.monotonic() + START
        self._has_begun = False

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
        if totals.observation.n and not self._has_begun:
            self._has_begun, self._next = True, 0.0
        if self._quiet or now < (self._next if self._has_begun else self._quiet_until):
            return
        self._quiet_until = now + LINE_EVERY
        self._next = now + (DRAW_EVERY if self._screen else LINE_EVERY)
        if self._screen:
            self._screen.draw(lambda *size: self._picture(totals, judgement, *size))
        else:
            print(line(totals, judgement), file=sys.stderr, flush=True)  # noqa: T201

    def _picture(self, totals: Totals, judgement: Judgement, width: int, height: int) -> Text:
        return picture(self._name, rows(totals, judgement), width, height)


def picture(name: str, shown: Sequence[tuple[str, str]], width: int, height: int) -> Text:
    """The rows under a title, as many lines of them as there is room for."""
    head = Text("fuzzwise", "bold").append(f" {short.name(name)}", "default")
    made = [*wrapped(head, width, cut=True), *pairs(shown, width, STYLES, cut=True)]
    return Text("\n", no_wrap=True, end="").join(made[: max(1, height)])


def rows(totals: Totals, a: Judgement) -> list[tuple[str, str]]:
    """What there is to say, as pairs of a name and a value."""
    o = totals.observation
    if not o.n and totals.doing:
        return [("", totals.doing), *(("WARNING", warning) for warning in totals.warnings)]
    speed = o.n / o.seconds if o.seconds else 0.0
    found = len(o.discoveries) if o.discoveries is not None else 0
    total = f", about {a.richness.value:,.0f} in all" if a.richness else ""
    by = f"{o.species or 0:,} found by {words.many(found, 'discovery')}{total}"
    trend = f"  {a.trend}" if a.trend else ""
    shown = [
        ("risk", (words.probability(a.risk) if a.risk else "–") + trend),
        ("inputs", f"{o.n:,}   {speed:,.0f}/s   {words.duration(o.seconds or 0)}"),
        ("species", by),
        ("corpus", words.many(totals.corpus, "seed")),
        ("bugs", _bugs(totals, a)),
    ]
    if totals.stability is not None and totals.stability < 1:
        shown.insert(-1, ("stability", _stability(totals.stability)))
    if a.risk and a.risk.note:
        shown.insert(1, ("", a.risk.note))
    if a.accepted_risk is not None and not a.reached and left.in_words(a):
        shown.insert(1, ("left", left.to_accepted(a)))
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


def _bugs(totals: Totals, a: Judgement) -> str:
    """Which bugs there are, and how likely another is by the inputs without one alone."""
    since = max((bug.found_at for bug in totals.bugs), default=0)
    bound = bug_bound.in_short(max(0, totals.observation.n - since), a.terms.confidence)
    if not totals.bugs:
        return f"none; {bound}"
    crashes = sum(bug.count for bug in totals.bugs)
    kinds = ", ".join(sorted({bug.kind for bug in totals.bugs}))
    return f"{len(totals.bugs)} ({words.many(crashes, 'crash')}): {kinds}; {bound}"
