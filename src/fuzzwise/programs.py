"""Programs that settings files name: whether they can be run, found out without running them."""

from __future__ import annotations

import shutil
from pathlib import Path

from fuzzwise.errors import BadInput


def locate(word: str, home: Path) -> Path:
    """The program as an absolute path: relative to ``home`` if it has a slash, else from the PATH.

    BadInput, which goes on behind "names the program X, ", where it cannot be run.
    """
    if "\0" in word:
        raise BadInput("which has a NUL character; remove it.")
    path = home / word
    try:
        found = shutil.which(path if "/" in word else word)
        if found is not None:
            return Path(found).absolute()
        if "/" not in word:
            raise BadInput("which is not in the PATH; install it, or give its path.")
        if path.is_dir():
            raise BadInput("which is a folder; give the path of an executable file.")
        if path.exists():
            raise BadInput(f"which is not executable; run: chmod +x {path}")
    except OSError as error:  # a name that is too long
        raise BadInput(f"which cannot be used ({error.strerror}); correct it.") from error
    raise BadInput("but there is no such file; build it, or correct the path.")
