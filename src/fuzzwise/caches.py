"""Where things are kept that can be made again: in the user's cache, if that can be written to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import make_private

_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


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
    """The best folder that can be written to, made where it is missing; BadInput without one.

    BadInput also where others may have put something into it: see ``check``.
    """
    tried = []
    for place in places():
        tried.append(str(place))
        with suppress(OSError):
            if place.is_absolute():
                make_private(place)
            check(place)
            if os.access(place, os.W_OK | os.X_OK):
                return place
    raise BadInput(
        f"fuzzwise has to keep what it compiles, but cannot write to {' or '.join(tried)}. Set "
        "XDG_CACHE_HOME to a folder that can be written to."
    )


def check(place: Path) -> None:
    """BadInput where a folder of the cache is another user's, a link, or writable by others.

    What is compiled is loaded into processes. A folder that others may only read becomes private.
    """
    if not place.is_absolute():
        raise BadInput(
            f"XDG_CACHE_HOME is {str(place.parent)!r}, which is relative to the current folder. "
            "Set it to an absolute path."
        )
    mode = refuse_others(place)
    if mode & _WRITTEN_BY_OTHERS or _is_anybodys(place.parent):
        raise _not_loaded(place, "can be written by other users")
    if stat.S_IMODE(mode) != stat.S_IRWXU:
        with suppress(OSError):  # on a disk that is write-protected for everybody
            place.chmod(stat.S_IRWXU)


def refuse_others(path: Path) -> int:
    """BadInput where a file or a folder can be another user's; else its mode."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        raise _not_loaded(path, "is a link")
    if info.st_uid != os.geteuid():
        raise _not_loaded(path, "belongs to another user")
    return info.st_mode


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


def _is_anybodys(folder: Path) -> bool:
    """Whether anybody may put another folder in the place of one in it."""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _not_loaded(path: Path, why: str) -> BadInput:
    return BadInput(
        f"{path} {why}, so that nothing in it is loaded. Remove it, or set XDG_CACHE_HOME to a "
        "folder of your own."
    )


def _temporary_files() -> str:
    import tempfile  # which is slow to load, and seldom needed

    return tempfile.gettempdir()
