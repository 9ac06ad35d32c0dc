"""The first lines of a crash report, read from a folder that hostile programs could write to."""

from __future__ import annotations

import os
import stat
from pathlib import Path

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
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        plain = stat.S_ISREG(os.fstat(handle).st_mode)
        data = os.read(handle, _MOST_BYTES) if plain else b""
    except OSError:
        return ""
    finally:
        os.close(handle)
    lines = clean(data.decode(errors="replace")).strip("\n").split("\n")
    shown = [line[:MOST_COLUMNS] for line in lines[:MOST_LINES]]
    more = ["…"] if len(lines) > MOST_LINES or len(data) == _MOST_BYTES else []
    return "\n".join([*shown, *more])
