"""The first lines of a crash report, read from a folder that hostile programs could write to."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.report.crash_files import read_within
from fuzzwise.text import clean

MOST_LINES = 60
MOST_COLUMNS = 400
_MOST_BYTES = 1 << 16


def report_text(folder: Path, name: str) -> str:
    """The beginning of a report below the campaign's folder; empty where it cannot be read."""
    found = read_within(folder, name, _MOST_BYTES)
    return clean(found[0].decode(errors="replace")).strip("\n") if found else ""


def first_lines(text: str) -> str:
    """As many lines of a report as a page shows."""
    lines = text.split("\n")
    shown = [line[:MOST_COLUMNS] for line in lines[:MOST_LINES]]
    more = ["…"] if len(lines) > MOST_LINES or len(text) >= _MOST_BYTES else []
    return "\n".join([*shown, *more])
