"""How a campaign stands, as text: for ``fuzzwise status``, and for the end of ``fuzzwise run``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Sequence

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.report import grid, left, lines, short, words
from fuzzwise.report.campaign import table as targets
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.frame import overview
from fuzzwise.report.campaign.news import about, news, place
from fuzzwise.report.grid import Column
from fuzzwise.store.states import (
    ALONE,
    BROKEN,
    RETIRED,
    BugState,
    CampaignState,
    DecisionState,
    TargetState,
)
from fuzzwise.text import printable
from fuzzwise.triage.surroundings import apart

EVENTS = 10
SHORT = 20
"""Reasons of at most so many cells stand in a column; longer ones may be below their row."""
NAME = 36
"""Cells of a name that are not cut: other columns are left out before."""
LISTED = 10
"""Bugs and targets that are named one by one in the summary of a run."""


def print_status(state: CampaignState) -> None:
    """Print everything there is to say about a campaign, all targets and all bugs."""
    lines.show(status(state, lines.width_of(sys.stdout)))


def print_decisions(decisions: Sequence[DecisionState]) -> None:
    """Print why each target got its epoch, and what came of it; the newest last."""
    lines.show(decision_lines(decisions, lines.width_of(sys.stdout)))


def status(state: CampaignState, width: int | None) -> list[Text]:
    """The lines of ``print_status``; tables fit the width, or are shown whole without one."""
    ordered = targets.by_urgency(state.targets)
    work = f"{words.many(state.cores, 'core')}, scheduler {short.name(state.scheduler)}"
    made = _wrapped(
        width,
        _text(f"Campaign {short.name(state.name)}: {targets.standing(state)}", "bold"),
        _text(f"{overview(state)} · {work}, epochs of {words.duration(state.epoch)}"),
        *map(_text, _where(state)),
    )
    if ordered:
        columns = targets.columns(ordered, NAME, running=state.running)
        shown = [column for column in columns if column.title != "note"]
        made += [Text(), *grid.lines(shown, width, keep=targets.KEPT)]
    if several := [
        _text(f"{short.name(t.name)}, {said}") for t in ordered for said in say.builds(t)
    ]:
        made += [Text(), _text("Builds of one target", "bold"), *_wrapped(width, *several)]
    if said := [(t, targets.note(t)) for t in ordered if targets.note(t)]:
        notes = [
            _text(f"{short.name(t.name)} ({say.fate(t, state.running)}): {note}")
            for t, note in said
        ]
        made += [Text(), _text("Notes", "bold"), *_wrapped(width, *notes)]
    if state.bugs:
        made += [Text(), _text("Bugs", "bold"), *grid.lines(_bug_columns(state.bugs), width)]
    if told := news(state, EVENTS):
        made += [Text(), _text("Latest", "bold")]
        made += [line for item in told for line in item.styled(width)]
    steps = [line for step in next_steps(state) for line in _step(step, width)]
    return [*made, Text(), *map(_text, steps)]


def next_steps(state: CampaignState) -> list[tuple[str, str]]:
    """What to do now, and the command that does it, or "" where there is none."""
    folder = _folder(state)
    report = ("The whole story:", f"fuzzwise report {folder} -o report.html")
    if state.running:
        return [("Watch it:", f"fuzzwise status {folder} --follow"), report]
    steps = []
    if state.bugs:
        there = f", on {short.name(state.host)}" if state.host else ""
        command = _command(state, say.clearest(state.bugs))
        steps.append((f"See the worst bug crash{there}:", command))
    broken = [target for target in state.targets if target.state == BROKEN]
    if broken:
        what = "target that is" if len(broken) == 1 else "targets that are"
        steps.append((f"Mend the {len(broken)} {what} broken, and run the campaign again.", ""))
    elif state.stopped and state.stopped.reason == "all-retired":
        nothing = "Nothing is left to do until there is a new build or a lower accepted risk."
        steps.append((nothing, ""))
    else:
        steps.append((f"Go on where it stopped: {_same_again(state)}", ""))
    return [*steps, report]


def _same_again(state: CampaignState) -> str:
    """How to go on; where a budget is used, how there is more of it."""
    reason = state.stopped.reason if state.stopped else ""
    if state.scheduler == ALONE:
        more = {
            "time-budget": ", for another --time",
            "input-budget": ", and a larger --inputs: those of the last call are used",
        }
        return f"fuzzwise fuzz, with the same target and folder{more.get(reason, '')}."
    if reason == "time-budget":
        return (
            "fuzzwise run, with the file of the campaign and a time, such as --time 1h, or with a "
            "larger budget in the file."
        )
    return "fuzzwise run, with the file of the campaign."


def print_summary(state: CampaignState, new_ids: Collection[str] | None = None) -> None:
    """Print what came of a campaign, at the end of ``run``."""
    for line in summary(state, new_ids):
        lines.say(line, hang=4)


def summary(state: CampaignState, new_ids: Collection[str] | None = None) -> list[str]:
    """What came of a campaign, as lines for the end of ``run``.

    ``new_ids`` are the bugs that were not known before; None where there is nothing to compare.
    """
    return [
        f"Campaign {short.name(state.name)}: {targets.standing(state)}",
        *_found(state, new_ids),
        *_ended(state),
        *_spent(state),
        f"Report: fuzzwise report {_folder(state)} -o report.html",
    ]


def decision_lines(decisions: Sequence[DecisionState], width: int | None) -> list[Text]:
    """The lines of ``print_decisions``."""
    if not decisions:
        return [_text("No decision has been made yet.")]

    def result(value: float | None) -> str:
        return "…" if value is None else short.count(value)

    why = [short.sentence(d.reason) for d in decisions]
    took = ["…" if d.seconds is None else short.rough(d.seconds) for d in decisions]
    other = [words.number(d.other_belief, 2) if d.other else "" for d in decisions]
    folds = max(map(cell_len, why)) > SHORT
    reasons = Column("why", why, rank=1, least=24, folds=folds)
    return grid.lines(
        [
            Column("at", [short.clock(d.at) for d in decisions], right=True),
            Column("target", [short.name(d.target) for d in decisions], least=NAME, middle=True),
            *([] if folds else [reasons]),
            Column("expected", [words.number(d.belief, 2) for d in decisions], rank=1, right=True),
            Column("next best", [short.name(d.other) for d in decisions], rank=6),
            Column("expected", other, rank=7, right=True),
            Column("took", took, rank=4, right=True),
            Column("inputs", [result(d.inputs) for d in decisions], rank=5, right=True),
            Column("new", [result(d.discoveries) for d in decisions], rank=2, right=True),
            Column("bugs", [result(d.new_bugs) for d in decisions], rank=3, right=True),
            *([reasons] if folds else []),
        ],
        width,
    )


def _bug_columns(bugs: Sequence[BugState]) -> list[Column]:
    return [
        Column("bug", [short.name(bug.id) for bug in bugs]),
        Column("severity", [short.sentence(bug.severity) for bug in bugs], rank=1),
        Column("crashes", [short.count(bug.crashes) for bug in bugs], rank=3, right=True),
        Column("found at", [short.clock(bug.at) for bug in bugs], rank=4, right=True),
        Column("", ["flaky" if bug.flaky else "" for bug in bugs], rank=2),
        Column("what and where", [_what(bug) for bug in bugs], least=44, folds=True),
    ]


def _what(bug: BugState) -> str:
    """A bug and where it shows: heap-buffer-overflow in parse_header (png, gif)."""
    where = ", ".join(map(short.name, bug.targets))
    return f"{short.sentence(bug.kind)}{place(bug)} ({where})"


def _found(state: CampaignState, new_ids: Collection[str] | None) -> list[str]:
    if not state.bugs:
        return ["Found: no bugs"]
    new = [bug for bug in state.bugs if new_ids is None or bug.id in new_ids]
    among = f", {len(new)} of them new" if new_ids is not None else ""
    made = [f"Found: {words.many(len(state.bugs), 'bug')}{among}"]
    made += [f"  {short.name(bug.target)}: {about(bug)}" for bug in new[:LISTED]]
    return [*made, *_more(len(new) - LISTED)]


def _ended(state: CampaignState) -> list[str]:
    """Who is retired, who is not, and who could not be fuzzed."""
    ordered = targets.by_urgency(state.targets)
    retired = [short.name(t.name) for t in ordered if t.state == RETIRED]
    broken = [t for t in ordered if t.state == BROKEN]
    others = [t for t in ordered if t.state not in (RETIRED, BROKEN)]
    made = []
    if retired:
        made.append(f"Retired, risk accepted: {_names(retired)}")
    if others:
        asked = any(target.accepted_risk is not None for target in others)
        made.append("Not retired:" if asked else "Risk now:")
        for target in others[:LISTED]:
            seconds = left.of_target(target)
            more = "" if seconds is None else f", {left.on_a_core(seconds)}"
            risk = short.risk(target.risk, target.accepted_risk)
            unknown = "risk not known yet" if target.inputs else "has not run yet"
            known = f"risk {risk}" if target.risk else unknown
            made.append(f"  {short.name(target.name)}: {known}{more}{_why_not(target)}")
        made += _more(len(others) - LISTED)
    if broken:
        made.append("Broken, not fuzzed:")
        made += [f"  {short.name(t.name)}: {targets.note(t)}" for t in broken[:LISTED]]
        made += _more(len(broken) - LISTED)
    return made


def _why_not(target: TargetState) -> str:
    """What holds a target back whose risk looks low enough: all that is odd about it."""
    risk, accepted = target.risk, target.accepted_risk
    if accepted is None or risk is None or (risk.high or risk.value) >= accepted:
        return ""
    odd = targets.note(target)
    return f"; {odd}" if odd else ""


def _spent(state: CampaignState) -> list[str]:
    used = sorted((t for t in state.targets if t.seconds), key=lambda t: -t.seconds)
    if not used:
        return ["Time: none was spent on a target"]
    parts = [f"{short.name(t.name)} {words.percent(t.share_of_time)}" for t in used]
    return [f"Time: {words.duration(sum(t.seconds for t in used))} on cores: {_names(parts)}"]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _more(count: int) -> list[str]:
    return [f"  … and {count} more"] if count > 0 else []


def _folder(state: CampaignState) -> str:
    """The campaign as a word for the shell: its folder, from here if that is shorter, or store."""
    if state.store:
        return short.name(shlex.quote(state.store))
    near = os.path.relpath(state.folder)
    return short.name(shlex.quote(min(near, str(state.folder), key=len)))


def _where(state: CampaignState) -> list[str]:
    """Where the files of bugs are, if that is on another machine."""
    if not state.host:
        return []
    folder = short.name(str(state.folder))
    return [f"Inputs and reports of bugs are on {short.name(state.host)}, in {folder}"]


def _command(state: CampaignState, bug: BugState) -> str:
    """The line that shows a bug, whole: half of a command does something else.

    Files of a campaign that is below the present folder are named from here, unless the target runs
    in a folder of its own.
    """
    folder = str(state.folder.absolute())
    near = os.path.relpath(folder)
    if not near.startswith(os.curdir) and not _has_folder(bug.command):
        return printable(bug.command.replace(f"{folder}/", f"{near}/"))
    return printable(bug.command)


def _has_folder(command: str) -> bool:
    """Whether a command goes to a folder before it names any file."""
    try:
        return apart(shlex.split(command))[0].folder is not None
    except ValueError:
        return False


def _text(line: str, style: str = "") -> Text:
    return Text(line, style, end="")


def _wrapped(width: int | None, *made: Text) -> list[Text]:
    return [part for line in made for part in lines.wrapped(line, width, hang=2)]


def _step(step: tuple[str, str], width: int | None) -> list[str]:
    """A sentence and its command, in one line or the command below it."""
    what, command = step
    whole = f"{what} {command}".rstrip()
    if not command or width is None or len(whole) <= width:
        return lines.fitted(whole, width)
    return [*lines.fitted(what, width), *lines.command(command, width)]
