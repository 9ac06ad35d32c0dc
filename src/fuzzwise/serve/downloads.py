"""Inputs of bugs to be saved: only files that the store names, inside of the campaign's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import FileIO

from fuzzwise.report.crash_files import open_within
from fuzzwise.report.reproducing import INPUT
from fuzzwise.store.states import BugState, CampaignState
from fuzzwise.text import base_name

_PART = 1 << 16


def open_input(state: CampaignState, bug: BugState, number: int) -> tuple[FileIO, int] | None:
    """An input of a bug and its size; None where there is none that may be read."""
    if not 0 <= number < len(bug.inputs):
        return None
    return open_within(state.files, bug.inputs[number])


def parts(file: FileIO, size: int) -> Iterator[bytes]:
    """The first ``size`` bytes of a file; it may grow meanwhile."""
    with file:
        while size > 0 and (part := file.read(min(size, _PART))):
            size -= len(part)
            yield part


def file_name(bug: BugState, number: int) -> str:
    """What a browser calls the file: plain letters, whatever a target has named it."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", base_name(bug.inputs[number])).strip(".-")
    return plain[:100] or INPUT
