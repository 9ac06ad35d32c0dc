"""Files of crashes, read from a folder that hostile programs could write to."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import open_regular


def read_within(folder: Path, name: str, most: int) -> tuple[bytes, int] | None:
    """The first bytes of a file below a campaign's folder, and its size; None if it cannot be read.

    What is not a plain file (a link, a pipe that never ends) is not read, nor what lies outside.
    """
    found = open_within(folder, name)
    if found is None:
        return None
    file, size = found
    try:
        with file:
            return file.read(most), size
    except OSError:
        return None


def open_within(folder: Path, name: str) -> tuple[FileIO, int] | None:
    """The same file, opened, and its size; None if it may not or cannot be read."""
    path = folder / name
    try:
        if not name or not path.parent.resolve().is_relative_to(folder.resolve()):
            return None
        file = open_regular(path, follow=False)
        return file, os.fstat(file.fileno()).st_size
    except (OSError, ValueError, BadInput):
        return None
