"""One picture of the live view: the campaign in as many lines as the terminal has."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.report import short, words
from fuzzwise.report.campaign import table as targets
from fuzzwise.report.campaign.news import news
from fuzzwise.report.lines import wrapped
from fuzzwise.store.states import CampaignState

LEAST_LINES = 6
MANY_LINES = 20
MOST_NEWS = 6
BAR = 30


def frame(state: CampaignState, width: int, height: int) -> list[Text]:
    """Header, targets and the latest news, in at most ``height`` lines, or 6 if it is less."""
    head = [title(state, width), *counts(state, width)[: 2 if height >= MANY_LINES else 1]]
    room = max(LEAST_LINES, height) - len(head)
    # A third of the lines for news, and whatever the targets leave over.
    spare = room - (len(state.targets) + 4)
    shown = _latest(state, width, max(spare, room // 3 - 1) if room >= 10 else 0)
    blank = [Text(end="")] if room >= 8 else []
    below = [*blank, *shown] if shown else []
    table = targets.table(
        state.targets, width, room - len(blank) - len(below), running=state.running
    )
    return [*head, *blank, *table, *below]


def _latest(state: CampaignState, width: int, room: int) -> list[Text]:
    """The latest news that fit whole, the newest last; one that never fits is cut."""
    made: list[Text] = []
    for item in reversed(news(state, MOST_NEWS)):
        lines = item.styled(width, cut=True)
        if len(made) + len(lines) > room:
            if not made and room > 0:
                made = [*lines[: room - 1], _cut(lines[room - 1], width - 2).append(" …")]
            break
        made = [*lines, *made]
    return made


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
    if free >= -2:
        line.append(f"  {work}", "dim")
    return _cut(line, width)


def bar(part: float, width: int) -> Text:
    """A bar that is filled as far as the budget is spent."""
    full = int(min(1.0, max(0.0, part)) * width)
    return Text(end="").append("━" * full, "cyan").append("─" * (width - full), "dim")


def counts(state: CampaignState, width: int) -> list[Text]:
    """Targets by state, bugs and inputs, in a line or two."""
    return wrapped(Text(overview(state), no_wrap=True, end=""), width, cut=True)


def overview(state: CampaignState) -> str:
    """The same, for the plain log."""
    of = targets.fates(state)
    bugs = words.many(len(state.bugs), "bug") if state.bugs else "no bugs yet"
    inputs = short.count(sum(target.inputs for target in state.targets))
    return f"{words.many(len(state.targets), 'target')}: {of} · {bugs} · {inputs} inputs"


def _cut(line: Text, width: int) -> Text:
    """The line, without the words at its end that do not fit."""
    if cell_len(line.plain) <= width:
        return line
    first = wrapped(line, width - 2)[0]
    first.truncate(width - 2)
    return first.append(" …")
