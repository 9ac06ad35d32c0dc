"""The lock on a campaign's folder: whoever has it is the one writer, and readers see that it runs.

It is the kernel's (flock): it goes with the process that holds it, however that ends.
"""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import InUse, is_locked, locked_file

FILE = "lock"
_WIDTH = 10
"""Characters for the number of a process: each takes the place of the one before it."""


def hold(folder: Path) -> FileIO:
    """The lock of a folder, until it is closed; refused where another holds it."""
    try:
        file = locked_file(folder / FILE)
    except InUse as other:
        raise BadInput(
            f"{folder}: another fuzzwise (process {other.holder or 'unknown'}) runs this campaign. "
            f"Watch it with: fuzzwise status {folder}; or choose another folder with --out."
        ) from other
    with suppress(OSError):  # a full disk: the number is for people only
        file.write(f"{os.getpid():<{_WIDTH}}\n".encode())
    return file


def is_held(folder: Path) -> bool:
    """Whether somebody holds the lock of a folder."""
    return is_locked(folder / FILE)
