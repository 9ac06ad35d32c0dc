"""What engines compile, kept in the user's cache.

It is loaded into processes, so that whoever can write there can run code as the user: the folder is
the user's own and private, and this is looked at whenever something in it is about to be used.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from fuzzwise import caches
from fuzzwise.errors import BadInput


def cache_folder() -> Path:
    """The folder of fuzzwise in the user's cache; BadInput where there cannot be one."""
    return caches.usable()


def kept(name: str, make: Callable[[Path, Path], None]) -> Path:
    """The folder of that name in the cache; ``make(made, work)`` fills it where it is missing.

    It is filled beside its final place and renamed, so that there is never half of it; ``work`` is
    a folder for what is not kept. One that is there is used, also where nothing can be written.
    BadInput where others may have filled it.
    """
    for place in caches.places():
        if os.path.lexists(place):
            caches.check(place)
            if _is_there(place / name):
                return place / name
    folder = caches.usable() / name
    try:
        _make(folder, make)
    except OSError as error:
        raise BadInput(
            f"{folder}: cannot be made ({error.strerror}). Make room there, or set XDG_CACHE_HOME "
            "to another folder."
        ) from error
    return folder


def _make(folder: Path, make: Callable[[Path, Path], None]) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made, work = Path(scratch) / "made", Path(scratch) / "work"
        made.mkdir()
        work.mkdir()
        make(made, work)
        try:
            made.rename(folder)
        except OSError:
            if not _is_there(folder):  # else another process was faster
                raise


def _is_there(folder: Path) -> bool:
    """Whether there is such a folder; BadInput where it, or a file in it, is not the user's own."""
    try:
        caches.refuse_others(folder)
    except FileNotFoundError:
        return False
    for path in folder.iterdir():
        caches.refuse_others(path)
    return True
