"""What was fuzzed when, core by core, as lanes on a line of time."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.report import words
from fuzzwise.store.states import CampaignState, Stretch
from fuzzwise.text import many

WIDTH = 1000.0
LANE = 22
MOST_LANES = 64
COLOURS = 8
"""Of the style sheet; targets beyond so many share them."""


@dataclass(frozen=True)
class Bar:
    """A target on a core for a while; numbers are places in the picture."""

    x: float
    y: int
    width: float
    colour: int
    words: str


@dataclass(frozen=True)
class Mark:
    """A bug or a retirement: where it is in the picture, and in words."""

    x: float
    kind: str
    words: str
    bug: str


@dataclass(frozen=True)
class Span:
    """A part of the campaign's time."""

    start: float
    end: float

    def place(self, at: float) -> float:
        """Where a moment is in the picture."""
        inside = min(max(at, self.start), self.end)
        return round((inside - self.start) / ((self.end - self.start) or 1.0) * WIDTH, 2)

    def zoomed(self, factor: float, whole: float) -> Span:
        """The part around its middle that is so many times as long, within the whole."""
        length = min(whole, max(1.0, (self.end - self.start) * factor))
        return self._within(self.start + (self.end - self.start - length) / 2, length, whole)

    def moved(self, by: float, whole: float) -> Span:
        """The part before or behind it, by a share of its length, within the whole."""
        length = self.end - self.start
        return self._within(self.start + by * length, length, whole)

    @staticmethod
    def _within(start: float, length: float, whole: float) -> Span:
        start = max(0.0, min(start, whole - length))
        return Span(round(start, 3), round(start + length, 3))


@dataclass(frozen=True)
class Lanes:
    """The picture: bars in lanes, marks above them, and which colour is which target."""

    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    legend: tuple[tuple[str, int, float], ...]
    lanes: int
    height: int
    label: str


def lanes_of(state: CampaignState, stretch: Stretch, span: Span) -> Lanes:
    """Each epoch in the first lane that is free; of too many, those that are known, in turns."""
    count = min(MOST_LANES, max(1, state.cores))
    colour = {target.name: i % COLOURS for i, target in enumerate(state.targets)}
    bars, spent = [], dict.fromkeys(colour, 0.0)
    for lane, start, end, target in _placed(state, stretch, span, count):
        x, far = span.place(start), span.place(end)
        told = f"{target}: {words.duration(start)} to {words.duration(end)}"
        bars.append(Bar(x, lane * LANE, max(0.5, far - x), colour.get(target, 0), told))
        spent[target] = spent.get(target, 0.0) + max(0.0, end - start)
    total = sum(spent.values()) or 1.0
    most = sorted(((n, s / total) for n, s in spent.items() if s), key=lambda item: -item[1])
    legend = tuple((name, colour.get(name, 0), share) for name, share in most)
    return Lanes(
        bars=tuple(bars),
        marks=_marks(state, span),
        legend=legend,
        lanes=count,
        height=count * LANE,
        label=_label(span, legend, stretch.whole),
    )


def _placed(
    state: CampaignState, stretch: Stretch, span: Span, count: int
) -> list[tuple[int, float, float, str]]:
    """Lane, beginning, end and target of each bar."""
    shown = [epoch for epoch in stretch.epochs if epoch.ended is not None or state.running]
    if stretch.whole:
        placed, free = [], [0.0] * count
        for epoch in shown:
            lane = next((i for i in range(count) if free[i] <= epoch.began), None)
            lane = min(range(count), key=free.__getitem__) if lane is None else lane
            free[lane] = max(state.seconds if epoch.ended is None else epoch.ended, epoch.began)
            placed.append((lane, epoch.began, free[lane], epoch.target))
        return placed
    ends = [epoch.began for epoch in shown[count:]] + [span.end] * count
    return [
        (i % count, epoch.began, max(epoch.began, end), epoch.target)
        for i, (epoch, end) in enumerate(zip(shown, ends, strict=False))
    ]


def _marks(state: CampaignState, span: Span) -> tuple[Mark, ...]:
    found = [
        (bug.at, Mark(span.place(bug.at), "bug", f"{bug.kind} in {bug.target}", bug.id))
        for bug in state.bugs
    ]
    found += [
        (event.at, Mark(span.place(event.at), event.kind, f"{event.kind}: {event.target}", ""))
        for event in state.events
        if event.kind in ("retired", "broken", "returned")
    ]
    inside = [item for item in found if span.start <= item[0] <= span.end]
    return tuple(mark for _, mark in sorted(inside, key=lambda item: item[0])[:400])


def _label(span: Span, legend: tuple[tuple[str, int, float], ...], whole: bool) -> str:
    part = f"{words.duration(span.start)} to {words.duration(span.end)} of the campaign"
    if not legend:
        return f"{part}: nothing was fuzzed."
    top = ", ".join(f"{name} {words.percent(share)}" for name, _, share in legend[:5])
    of = "" if whole else " Of many epochs, some are shown, evenly spread."
    return f"{part}: {many(len(legend), 'target')}, most time for {top}.{of}"
