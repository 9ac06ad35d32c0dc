"""Where programs are: the one place that looks them up, without running them.

A program comes from an absolute place on the PATH, or has a slash in its name. An empty or relative
entry of the PATH, which stands for the current folder, is passed over: a folder that somebody sent
may hold a file called gdb.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fuzzwise.errors import BadInput


def search_path(given: str | None = None) -> str:
    """The absolute entries of the PATH, or of another list of folders."""
    entries = (os.environ.get("PATH", os.defpath) if given is None else given).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry))  # noqa: PTH117


def find(name: str, among: str | None = None) -> Path | None:
    """The program as an absolute path; None where there is none that can be run.

    A name with a slash is relative to the current folder, as whoever wrote it meant it. ``among``
    replaces the PATH.
    """
    if "\0" in name:
        return None
    found = shutil.which(name) if "/" in name else shutil.which(name, path=search_path(among))
    return Path(found).absolute() if found else None


def locate(word: str, home: Path) -> Path:
    """The program as an absolute path: relative to ``home`` if it has a slash, else from the PATH.

    BadInput, which goes on behind "names the program X, ", where it cannot be run.
    """
    if "\0" in word:
        raise BadInput("which has a NUL character; remove it.")
    path = home / word
    try:
        found = find(str(path.absolute()) if "/" in word else word)
        if found is not None:
            return found
        if "/" not in word:
            raise BadInput("which is not in the PATH; install it, or give its path.")
        if path.is_dir():
            raise BadInput("which is a folder; give the path of an executable file.")
        if path.exists():
            raise BadInput(f"which is not executable; run: chmod +x {path}")
    except OSError as error:  # a name that is too long
        raise BadInput(f"which cannot be used ({error.strerror}); correct it.") from error
    raise BadInput("but there is no such file; build it, or correct the path.")
