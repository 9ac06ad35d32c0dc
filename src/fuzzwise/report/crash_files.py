"""Files of crashes, read from a folder that hostile programs could write to."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import open_regular


def read_within(folder: Path, name: str, most: int) -> tuple[bytes, int] | None:
    """The first bytes of a file below a campaign's folder, and its size; None if it cannot be read.

    What is not a plain file (a link, a pipe that never ends) is not read, nor what lies outside.
    """
    path = folder / name
    try:
        if not name or not path.parent.resolve().is_relative_to(folder.resolve()):
            return None
        with open_regular(path, follow=False) as file:
            return file.read(most), os.fstat(file.fileno()).st_size
    except (OSError, ValueError, BadInput):
        return None
