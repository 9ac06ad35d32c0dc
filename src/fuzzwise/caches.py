"""Where things are kept that can be made again: in the user's cache, if that can be written to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fuzzwise.errors import BadInput


def places() -> Iterator[Path]:
    """The folders in which to look, the best first; they need not exist.

    The last is among the temporary files, for users without a home, or with one that is
    write-protected, as in containers.
    """
    if asked := os.environ.get("XDG_CACHE_HOME"):
        yield Path(asked) / "fuzzwise"
    else:
        with suppress(RuntimeError):  # nobody has said where home is
            yield Path.home() / ".cache" / "fuzzwise"
    with suppress(OSError):  # there is no folder for temporary files
        if _is_mine(shared := Path(_temporary_files()) / f"fuzzwise-{os.getuid()}"):
            yield shared


def usable() -> Path:
    """The best folder that can be written to, made where it is missing; BadInput without one."""
    tried = []
    for place in places():
        tried.append(str(place))
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK | os.X_OK):
                return place
    raise BadInput(
        f"fuzzwise has to keep what it compiles, but cannot write to {' or '.join(tried)}. Set "
        "XDG_CACHE_HOME to a folder that can be written to."
    )


def for_numba() -> None:
    """Name a folder for what numba compiles, where it cannot be kept beside our source."""
    if not os.access(Path(__file__).parent, os.W_OK) and "NUMBA_CACHE_DIR" not in os.environ:
        with suppress(BadInput):
            os.environ["NUMBA_CACHE_DIR"] = str(usable() / "numba")


def _is_mine(place: Path) -> bool:
    """Whether nobody else has put it there, or can change what is in it."""
    try:
        info = place.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022


def _temporary_files() -> str:
    import tempfile  # which is slow to load, and seldom needed

    return tempfile.gettempdir()
