"""A campaign as Markdown, for a pull request or the summary of a CI job: the verdict first."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence

from fuzzwise.report import words
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.elsewhere import Elsewhere
from fuzzwise.report.unlinked import unlinked
from fuzzwise.store.states import CampaignState, TargetState
from fuzzwise.text import printable

MOST_ROWS = 20
_MEANING = re.compile(r"([\\`*_\[\]|~#@!$])")


MOST_COMMANDS = 10


def summary(
    kept: CampaignState, new_ids: Collection[str] | None = None, *, share: bool = False
) -> str:
    """The verdict, the targets (worst first) and the bugs (new ones first).

    ``new_ids`` are the bugs that a baseline does not know; None where there is no baseline. With
    ``share``, nothing tells of the machine.
    """
    elsewhere = Elsewhere(kept, share=share)
    state = elsewhere.state()
    lines = [
        f"## {text(state.name)}",
        "",
        f"**{text(say.verdict(state, new_ids))}** {text(say.progress(state))}",
    ]
    if state.bugs:
        lines += ["", *_bugs(state, new_ids), "", *_commands(kept, elsewhere, new_ids)]
    if state.targets:
        lines += ["", *_targets(state)]
    retired, _, _ = say.by_fate(state)
    if retired:
        lines += [
            "",
            f"Retired: with {state.confidence:.0%} confidence, for each of these targets, the "
            "probability that the next input shows anything new is below the accepted risk. It is "
            "no proof that there are no bugs.",
        ]
    return "\n".join(lines) + "\n"


def text(value: str) -> str:
    """Untrusted words as they are: no markup, no HTML, no link, no mention of anybody."""
    return _MEANING.sub(r"\\\1", html.escape(unlinked(printable(value)), quote=False))


def _targets(state: CampaignState) -> list[str]:
    order = say.worst_first(state.targets)
    left = "time left" if state.running else "still needed"
    head = ("target", "state", "risk", "at most", "accepted", left, "bugs", "time")
    rows = [_target(target, state.running) for target in order[:MOST_ROWS]]
    return [*_table(head, "llrrrrrr", rows), *_more(len(order), "target")]


def _target(target: TargetState, running: bool) -> Sequence[str]:
    return (
        text(target.name),
        text(say.fate(target, running)),
        say.chance(target.risk.risk if target.risk else None),
        say.at_most(target),
        say.chance(target.accepted_risk),
        say.left(target),
        str(len(target.bugs)),
        html.escape(words.percent(target.share_of_time)),
    )


def _bugs(state: CampaignState, new_ids: Collection[str] | None) -> list[str]:
    order = say.bugs_worst_first(state.bugs, new_ids)
    head = ["bug", "severity", "kind", "in", "source", "target"]
    rows = [
        [
            text(bug.id),
            text(bug.severity) + (", flaky" if bug.flaky else ""),
            text(bug.kind),
            text(say.place(bug)),
            text(say.source(bug)) or "–",
            text(bug.target),
        ]
        for bug in order[:MOST_ROWS]
    ]
    if new_ids is not None:
        head.append("new")
        for row, bug in zip(rows, order, strict=False):
            row.append("**new**" if bug.id in new_ids else "known")
    return [*_table(head, "l" * len(head), rows), *_more(len(order), "bug")]


def _commands(
    kept: CampaignState, elsewhere: Elsewhere, new_ids: Collection[str] | None
) -> list[str]:
    """How to see the worst bugs again; inputs are where the campaign's folder has them."""
    shown = [
        f"- {_code(bug.id)}: {_code(line)}, input {_code(elsewhere.place(bug.inputs[0]))}"
        for bug in say.bugs_worst_first(kept.bugs, new_ids)[:MOST_COMMANDS]
        if bug.inputs and (line := elsewhere.command(bug))
    ]
    return ["To see them crash, beside the program and the input:", "", *shown] if shown else []


def _code(value: str) -> str:
    """Words in the font of code, whatever they are."""
    shown = printable(value)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence} {shown} {fence}" if "`" in shown else f"`{shown}`"


def _table(head: Sequence[str], align: str, rows: Sequence[Sequence[str]]) -> list[str]:
    rule = [":--" if side == "l" else "--:" for side in align]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def _more(count: int, word: str) -> list[str]:
    if count <= MOST_ROWS:
        return []
    return ["", f"… and {words.many(count - MOST_ROWS, f'more {word}')}"]
