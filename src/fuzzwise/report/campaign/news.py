"""What happened in a campaign, as sentences: bugs and events in the order they came."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.text import Text

from fuzzwise.report import short
from fuzzwise.report.lines import wrapped
from fuzzwise.store.states import BugState, CampaignState, EventState

STYLES = {"bug": "bold red", "broken": "bold red", "retired": "green", "warning": "yellow"}


@dataclass(frozen=True)
class News:
    """One sentence of the log; ``target`` is "" for the campaign itself, ``key`` tells it apart."""

    at: float
    kind: str
    target: str
    text: str
    key: object

    def line(self) -> str:
        """The moment, the target and the sentence."""
        return self.styled(None)[0].plain

    def styled(self, width: int | None, *, cut: bool = False) -> list[Text]:
        """The same for a terminal, in lines of at most so many cells."""
        line = Text(no_wrap=True, end="").append(f"{short.clock(self.at):>6}  ", "dim")
        line.append(f"{self.target}: " if self.target else "")
        line.append(self.kind, STYLES.get(self.kind, "bold")).append(f": {self.text}")
        return wrapped(line, width, hang=8, cut=cut)


def news(
    state: CampaignState, most: int | None = None, known: Collection[object] = ()
) -> list[News]:
    """What is not ``known`` yet by its key, the oldest first, or only the latest few of it.

    Bugs are told from the list of bugs, which knows more of them than the event that goes with it.
    """
    happened: list[BugState | EventState] = [*state.bugs]
    happened += [event for event in state.events if event.kind != "bug"]
    fresh = sorted((item for item in happened if _key(item) not in known), key=lambda it: it.at)
    return [_told(item) for item in fresh[0 if most is None else max(0, len(fresh) - most) :]]


def _key(item: BugState | EventState) -> object:
    return item.id if isinstance(item, BugState) else item


def _told(item: BugState | EventState) -> News:
    if isinstance(item, BugState):
        return News(item.at, "bug", short.name(item.target), about(item), _key(item))
    said = short.sentence(item.detail)
    return News(item.at, item.kind, short.name(item.target), said, _key(item))


def about(bug: BugState) -> str:
    """A bug in a few words: heap-buffer-overflow in parse_header (write), ID."""
    what = short.sentence(bug.severity) + (", flaky" if bug.flaky else "")
    return f"{short.sentence(bug.kind)}{place(bug)} ({what}), {short.name(bug.id)}"


def place(bug: BugState) -> str:
    """The function in which it crashes, where that is known."""
    return f" in {function(bug)}" if bug.frames else ""


def function(bug: BugState) -> str:
    """The innermost function of the stack."""
    return short.fitted(short.sentence(bug.frames[0]), 60) if bug.frames else "?"
