"""The first lines of a crash report, read from a folder that hostile programs could write to."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import open_regular
from fuzzwise.text import clean

MOST_LINES = 60
MOST_COLUMNS = 400
_MOST_BYTES = 1 << 16


def first_lines(folder: Path, name: str) -> str:
    """The beginning of a report below the campaign's folder; empty where it cannot be read.

    What is not a plain file (a link, a pipe that never ends) is not read, nor what lies outside.
    """
    path = folder / name
    try:
        if not name or not path.parent.resolve().is_relative_to(folder.resolve()):
            return ""
        with open_regular(path, follow=False) as file:
            data = file.read(_MOST_BYTES)
    except (OSError, ValueError, BadInput):
        return ""
    lines = clean(data.decode(errors="replace")).strip("\n").split("\n")
    shown = [line[:MOST_COLUMNS] for line in lines[:MOST_LINES]]
    more = ["…"] if len(lines) > MOST_LINES or len(data) == _MOST_BYTES else []
    return "\n".join([*shown, *more])
