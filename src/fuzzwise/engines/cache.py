"""What engines compile, kept in the user's cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_folder() -> Path:
    """The folder of fuzzwise in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fuzzwise"


def kept(name: str, make: Callable[[Path, Path], None]) -> Path:
    """The folder of that name in the cache; ``make(made, work)`` fills it where it is missing.

    It is filled beside its final place and renamed, so that there is never half of it; ``work`` is
    a folder for what is not kept.
    """
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made, work = Path(scratch) / "made", Path(scratch) / "work"
        made.mkdir()
        work.mkdir()
        make(made, work)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    return folder
