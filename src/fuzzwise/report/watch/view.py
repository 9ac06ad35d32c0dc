"""Campaigns of other fuzzers while they are followed: a picture, or lines of a log in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Self

from rich.text import Text

from fuzzwise.report import grid, left, lines, short, words
from fuzzwise.report.grid import Column
from fuzzwise.report.terminal import Screen
from fuzzwise.report.watch import words as watch_words
from fuzzwise.watch.follow import Look, Standing

LINE_EVERY = 10.0
"""Seconds between two lines about the same campaign in a pipe; warnings do not wait."""
ALARM = "bold red"
TRENDS = {"falling": "↓", "level": "→", "rising": "↑"}
STYLES = {"stop": "bold green", "go on": "cyan", "ended": "yellow"}
KEPT = 5
"""The rank of the last column that is to be shown at 80 cells."""


class View:
    """Shows each look: a picture that is redrawn on a terminal, else lines where there is news.

    A terminal that goes away ends the view and not the watching.
    """

    def __init__(self, limit: float | None = None, *, quiet: bool = False) -> None:
        self._limit = limit
        self._quiet = quiet
        self._screen: Screen | None = None
        self._told: dict[int, tuple[float, str]] = {}
        self._warned: set[tuple[int, str]] = set()

    def __enter__(self) -> Self:
        """Take over the terminal, if there is one."""
        self._screen = None if self._quiet else Screen.take_over()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back."""
        screen, self._screen = self._screen, None
        if screen:
            try:
                screen.give_back()
            except OSError:
                self._quiet = True

    def show(self, look: Look) -> None:
        """Show the campaigns at this look."""
        if self._quiet:
            return
        try:
            if self._screen:
                self._screen.draw(lambda width, height: frame(look, width, height, self._limit))
            else:
                self._log(look)
        except OSError:
            self._quiet = True

    def _log(self, look: Look) -> None:
        said_now = []
        for number, campaign in enumerate(look.campaigns):
            for warning in campaign.warnings:
                if (number, warning.kind) not in self._warned:
                    self._warned.add((number, warning.kind))
                    who = watch_words.name(campaign.judged)
                    said_now.append(f"WARNING  {who}: {short.sentence(warning.text)}")
            kinds = {w.kind for w in campaign.warnings}
            self._warned = {(i, k) for i, k in self._warned if i != number or k in kinds}
            said = line(campaign)
            when, before = self._told.get(number, (-LINE_EVERY, ""))
            due = look.seconds - when >= LINE_EVERY or look.stopped is not None
            if due and said != before:
                self._told[number] = (look.seconds, said)
                said_now.append(f"{short.clock(look.seconds):>7}  {said}")
        if said_now:
            sys.stderr.write("".join(f"{text}\n" for text in said_now))
            sys.stderr.flush()


def line(campaign: Standing) -> str:
    """A campaign in one plain line."""
    judged = campaign.judged
    o = judged.reading.observation
    accepted = judged.judgement.accepted_risk
    parts = [f"risk {short.risk(judged.judgement.risk, accepted)}", words.many(o.n, "input")]
    if o.discoveries is not None:
        parts.append(f"{len(o.discoveries):,} found")
    if judged.reading.crashes:
        parts.append(words.many(judged.reading.crashes, "crash"))
    seconds = judged.judgement.seconds_to_decision
    if seconds is not None and not judged.reached:
        parts.append(left.in_short(seconds))
    word = state(campaign)
    return f"{watch_words.name(judged)}: {f'{word}; ' if word else ''}{', '.join(parts)}"


def state(campaign: Standing) -> str:
    """Stop, go on, or ended; nothing where no risk was accepted and the fuzzer runs."""
    if campaign.judged.reached:
        return "stop"
    if campaign.ended:
        return "ended"
    return "" if campaign.judged.judgement.accepted_risk is None else "go on"


def frame(look: Look, width: int, height: int, limit: float | None = None) -> Text:
    """One picture: what is awaited, the campaign or a table of them, and what is odd."""
    head = Text("fuzzwise watch", "bold", no_wrap=True)
    head.append(f"  {short.clock(look.seconds)}", "default")
    head.append(f" of {short.clock(limit)}" if limit is not None else "", "default")
    risk = look.campaigns[0].judged.judgement.accepted_risk
    if risk is not None:
        head.append(f"  accepted risk {risk:g}", "default")
    hint = "  Ctrl-C ends the view, not the fuzzer"
    if len(head.plain) + len(hint) <= width:
        head.append(hint, "dim")
    head = lines.wrapped(head, width, cut=True)[0]
    if len(look.campaigns) == 1:
        return _joined([head, *_one(look.campaigns[0], width)][: max(1, height)])
    alarms = [
        (watch_words.name(c.judged), warning.text) for c in look.campaigns for warning in c.warnings
    ]
    room = max(1, height - 4 - min(len(alarms), max(2, height // 4)))
    shown = _most_urgent(look.campaigns, room)
    more = len(look.campaigns) - len(shown)
    below = [Text(f"… and {more} more", "dim")] if more else []
    for who, text in alarms[: max(2, height // 4)]:
        said = f"WARNING  {short.fitted(who, 24, middle=True)}: {short.sentence(text)}"
        below.append(Text(short.fitted(said, width, words=True), ALARM, no_wrap=True))
    return _joined([head, *grid.lines(_columns(shown), width, keep=KEPT), *below])


def _joined(made: Sequence[Text]) -> Text:
    return Text("\n", no_wrap=True, end="").join(made)


def rows(campaign: Standing) -> list[tuple[str, str]]:
    """What there is to say of one campaign, as pairs of a name and a value."""
    judged = campaign.judged
    a = judged.judgement
    risk = words.probability(a.risk) if a.risk else short.NONE
    shown = []
    if a.decision is not None:
        shown.append(("verdict", f"{'Stop' if a.decision.stop else 'Go on'}: {a.decision.detail}"))
    shown.append(("risk", f"{risk}  {judged.judgement.trend}".rstrip()))
    if a.decision is not None and not a.decision.stop:
        time_left, inputs_left = left.in_words(a), left.inputs_in_words(a)
        if time_left or inputs_left:
            shown.append(("left", time_left or inputs_left))
        shown.append(("", watch_words.next_look(judged)))
    shown += watch_words.facts(judged)
    if judged.judgement.exponent is not None:
        shown.append(("growth", watch_words.growth(judged)[0]))
    return shown


def _one(campaign: Standing, width: int) -> list[Text]:
    shown = [("campaign", short.fitted(watch_words.name(campaign.judged), width - 10))]
    shown += [("WARNING", short.sentence(warning.text)) for warning in campaign.warnings]
    shown += rows(campaign)
    styles = {"WARNING": ALARM, "verdict": STYLES.get(state(campaign), "")}
    return lines.pairs(shown, width, styles, cut=True)


def _most_urgent(campaigns: Sequence[Standing], room: int) -> list[Standing]:
    """Those that fit, in their order: first those that are not there yet."""
    order = sorted(range(len(campaigns)), key=lambda i: (campaigns[i].judged.reached, i))
    return [campaigns[i] for i in sorted(order[:room])]


def _columns(campaigns: Sequence[Standing]) -> list[Column]:
    names = [watch_words.name(c.judged) for c in campaigns]
    fuzzers = [watch_words.fuzzer(c.judged) for c in campaigns]
    moods = [STYLES.get(state(c), "") for c in campaigns]
    return [
        Column("campaign", names, least=16, middle=True),
        Column("fuzzer", fuzzers, rank=6, least=12),
        Column("state", [state(c) for c in campaigns], styles=moods),
        *_risk_columns(campaigns),
        *_count_columns(campaigns),
    ]


def _risk_columns(campaigns: Sequence[Standing]) -> list[Column]:
    judged = [c.judged for c in campaigns]
    risks = [j.judgement.risk for j in judged]
    at_most = [
        short.chance(r.high if r else None, upper=True, beside=j.judgement.accepted_risk)
        for r, j in zip(risks, judged, strict=True)
    ]
    waits = [0.0 if j.reached else j.judgement.seconds_to_decision for j in judged]
    rough = [short.NONE if wait is None else short.rough(wait) for wait in waits]
    return [
        Column("risk", [short.chance(r.risk if r else None) for r in risks], right=True),
        Column("at most", at_most, rank=1, right=True),
        Column("", [TRENDS.get(j.judgement.trend, " ") for j in judged], rank=4),
        Column("left", rough, rank=2, right=True),
    ]


def _count_columns(campaigns: Sequence[Standing]) -> list[Column]:
    observations = [c.judged.reading.observation for c in campaigns]
    found = [None if o.discoveries is None else len(o.discoveries) for o in observations]
    crashes = [c.judged.reading.crashes for c in campaigns]
    alarms = [ALARM if count else "" for count in crashes]
    speeds = [o.n / o.seconds if o.seconds else None for o in observations]
    return [
        Column("inputs", [short.count(o.n) for o in observations], rank=2, right=True),
        Column("found", [_count(count) for count in found], rank=5, right=True),
        Column("crashes", [_count(count) for count in crashes], rank=3, right=True, styles=alarms),
        Column("exec/s", [_count(speed) for speed in speeds], rank=7, right=True),
    ]


def _count(value: float | None) -> str:
    return short.NONE if value is None else short.count(value)
