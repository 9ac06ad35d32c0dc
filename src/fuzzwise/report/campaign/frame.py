"""One picture of the live view: the campaign in as many lines as the terminal has."""

from __future__ import annotations

from collections import Counter

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.report import short, words
from fuzzwise.report.campaign import table as targets
from fuzzwise.report.campaign.news import news
from fuzzwise.store.states import CampaignState

LEAST_LINES = 6
MOST_NEWS = 6
BAR = 30


def frame(state: CampaignState, width: int, height: int) -> list[Text]:
    """Header, targets and the latest news, in at most ``height`` lines, or 6 if it is less."""
    room = max(LEAST_LINES, height) - 2
    told = news(state, MOST_NEWS)
    # A third of the lines for news, and whatever the targets leave over.
    spare = room - (len(state.targets) + 4)
    lines = min(len(told), max(spare, room // 3 - 1)) if room >= 10 else 0
    blank = [Text(end="")] if room >= 8 else []
    shown = told[len(told) - lines :]
    below = [*blank, *(item.styled(width) for item in shown)] if shown else []
    table = targets.table(state.targets, width, room - len(blank) - len(below))
    return [title(state, width), counts(state, width), *blank, *table, *below]


def title(state: CampaignState, width: int) -> Text:
    """The name, how much of the budget is gone, who is at work."""
    name = short.fitted(short.name(state.name), max(8, width // 4))
    spent = short.clock(state.seconds)
    if not state.running:
        spent = targets.standing(state)
    elif state.budget:
        spent += f" of {short.clock(state.budget)}"
    else:
        spent += ", no budget"
    work = f"{words.many(state.cores, 'core')}, {short.name(state.scheduler)}"
    line = Text(no_wrap=True, end="")
    line.append("fuzzwise", "bold").append(f" {name}  ").append(spent, "bold")
    free = width - cell_len(line.plain) - cell_len(work) - 4
    if state.running and state.budget and free >= 8:
        line.append("  ").append_text(bar(state.seconds / state.budget, min(BAR, free)))
    line.append(f"  {work}", "dim")
    return _cut(line, width)


def bar(part: float, width: int) -> Text:
    """A bar that is filled as far as the budget is spent."""
    full = int(min(1.0, max(0.0, part)) * width)
    return Text(end="").append("━" * full, "cyan").append("─" * (width - full), "dim")


def counts(state: CampaignState, width: int) -> Text:
    """Targets by state, bugs and inputs."""
    return _cut(Text(overview(state), no_wrap=True, end=""), width)


def overview(state: CampaignState) -> str:
    """The same, for the plain log."""
    of = targets.states(Counter(target.state for target in state.targets))
    bugs = words.many(len(state.bugs), "bug") if state.bugs else "no bugs yet"
    inputs = short.count(sum(target.inputs for target in state.targets))
    return f"{words.many(len(state.targets), 'target')}: {of} · {bugs} · {inputs} inputs"


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line
