"""A bug with all that a reader needs who has nothing but the page: stack, input and command."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from fuzzwise.report import crash_text
from fuzzwise.report.campaign import words as say
from fuzzwise.report.crash_files import read_within
from fuzzwise.report.hex_dump import hex_dump
from fuzzwise.report.reproducing import input_name, portable_command
from fuzzwise.report.source_paths import SourcePaths
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


def articles(state: CampaignState, bugs: Sequence[BugState]) -> list[Article]:
    """The articles of the first bugs, in their order."""
    shown = bugs[:MOST_ARTICLES]
    reports = [crash_text.report_text(state.folder, bug.report) for bug in shown]
    files = [file for report in reports for file in program_files(report)]
    paths = SourcePaths(state.folder, [*(bug.file for bug in bugs), *files])
    made, room = [], MOST_IN_ALL
    for bug, report in zip(shown, reports, strict=True):
        article = _article(state, bug, report, paths, room)
        room -= (article.size or 0) if article.link else 0
        made.append(article)
    return made


def paths_of(state: CampaignState) -> SourcePaths:
    """The paths of a campaign, for what tells of bugs without their reports."""
    return SourcePaths(state.folder, [bug.file for bug in state.bugs])


def _article(
    state: CampaignState, bug: BugState, report: str, paths: SourcePaths, room: int
) -> Article:
    first = bug.inputs[0] if bug.inputs else ""
    found = read_within(state.folder, first, MOST_EMBEDDED)
    data, size = found or (b"", 0)
    fits = found is not None and len(data) == size <= room
    encoded = base64.b64encode(data).decode()
    return Article(
        bug=bug,
        title=say.title(bug),
        others=", ".join(name for name in bug.targets if name != bug.target),
        source=say.source(bug, paths),
        frames=shown_frames(report, bug.frames, paths),
        command=portable_command(state, bug),
        inputs=bug.inputs[:MOST_INPUTS],
        input_name=input_name(bug),
        size=size if found else None,
        dump=hex_dump(data, size) if found else "",
        link=f"data:application/octet-stream;base64,{encoded}" if fits else "",
        report=crash_text.first_lines(paths.in_text(without_fuzzer(report))),
    )
