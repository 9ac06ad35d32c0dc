"""A bug with all that a reader needs who has nothing but the page: stack, input and command."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise.report import crash_text
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.elsewhere import Elsewhere
from fuzzwise.report.crash_files import read_within
from fuzzwise.report.hex_dump import hex_dump
from fuzzwise.report.reproducing import input_name
from fuzzwise.report.stacks import ShownFrame, program_files, shown_frames, without_fuzzer
from fuzzwise.store.states import BugState, CampaignState

MOST_ARTICLES = 100
MOST_INPUTS = 3
MOST_EMBEDDED = 1 << 16
"""Bytes of an input that goes into the page; larger ones are named by their path."""
MOST_IN_ALL = 1 << 20
"""Bytes of all inputs in a page, so that it can be mailed."""


@dataclass(frozen=True)
class Article:
    """A bug with all its details.

    ``link`` is the input itself, as an address; "" where it is too large, or cannot be read.
    """

    bug: BugState
    title: str
    others: str
    source: str
    frames: tuple[ShownFrame, ...]
    command: str
    inputs: tuple[str, ...]
    input_name: str
    size: int | None
    dump: str
    link: str
    report: str
    away: str = ""


def articles(
    state: CampaignState, bugs: Sequence[BugState], *, share: bool = False
) -> list[Article]:
    """The articles of the first bugs, in their order; with ``share``, none tells of the machine."""
    shown = bugs[:MOST_ARTICLES]
    reports = [crash_text.report_text(state.files, bug.report) for bug in shown]
    files = [file for report in reports for file in program_files(report)]
    elsewhere = Elsewhere(state, files, share=share)
    told = {bug.id: bug for bug in elsewhere.state().bugs}
    made, room = [], MOST_IN_ALL
    away = "" if share or not state.host else f"{state.host}, in {state.folder}"
    for bug, report in zip(shown, reports, strict=True):
        article = _article(state.files, bug, told[bug.id], report, elsewhere, room)
        room -= (article.size or 0) if article.link else 0
        made.append(replace(article, away=away))
    return made


def _article(
    folder: Path, kept: BugState, bug: BugState, report: str, elsewhere: Elsewhere, room: int
) -> Article:
    """The article of a bug as it is told, with the files that the campaign has ``kept`` of it."""
    first = kept.inputs[0] if kept.inputs else ""
    found = read_within(folder, first, MOST_EMBEDDED)
    data, size = found or (b"", 0)
    fits = found is not None and len(data) == size <= room
    encoded = base64.b64encode(data).decode()
    return Article(
        bug=bug,
        title=say.title(bug),
        others=", ".join(name for name in bug.targets if name != bug.target),
        source=say.source(bug),
        frames=tuple(
            ShownFrame(elsewhere(frame.function), elsewhere(frame.place))
            for frame in shown_frames(report, kept.frames, elsewhere.path)
        ),
        command=elsewhere.command(kept),
        inputs=bug.inputs[:MOST_INPUTS],
        input_name=input_name(bug),
        size=size if found else None,
        dump=hex_dump(data, size) if found else "",
        link=f"data:application/octet-stream;base64,{encoded}" if fits else "",
        report=crash_text.first_lines(elsewhere(without_fuzzer(report))),
    )
