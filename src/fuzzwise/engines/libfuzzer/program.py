"""Whether a harness can be started at all."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.errors import BadInput


def check_program(target: Path) -> None:
    """Refuse what cannot be started."""
    if target.is_dir():
        raise BadInput(f"{target}: is a folder. Give the target in it, a file.")
    if target.exists() and not target.is_file():
        raise BadInput(f"{target}: is not a regular file. Give the target itself.")
    if not target.is_file():
        raise BadInput(f"{target}: there is no such file. Build a target with `fuzzwise build`.")
    if not os.access(target, os.X_OK):
        raise BadInput(
            f"{target}: is not executable. Build a target with `fuzzwise build`, or, if it is one, "
            f"run: chmod +x {target}"
        )
