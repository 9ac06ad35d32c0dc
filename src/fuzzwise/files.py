"""Files that are written whole or not at all, hashed once, and held by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterable
from functools import lru_cache
from io import FileIO
from pathlib import Path


class InUse(Exception):
    """Another process holds the lock; ``holder`` is what the file says about it."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def write_whole(path: Path, content: bytes, *, to_disk: bool = True) -> None:
    """Write a file under another name, see it to the disk, and rename it.

    There is the old content or the new one, whatever happens in between; not ``to_disk``, only as
    long as the machine itself goes on.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def content_hash(path: Path, algorithm: str = "sha256") -> str:
    """The hash of a file's content; it is read again only when its stamp has changed."""
    return _hash(path, algorithm, stamp(path))


def stamp(path: Path) -> tuple[int, int, int]:
    """What tells, without reading a file, that it is still the same."""
    info = path.stat()
    return info.st_ino, info.st_size, info.st_mtime_ns


def files_of(places: Iterable[Path]) -> list[Path]:
    """The files that places are, or have below them, in order."""
    found: list[Path] = []
    for place in places:
        paths = [place] if place.is_file() else sorted(place.rglob("*"))
        found += [path for path in paths if path.is_file()]
    return found


def locked_file(path: Path, patience: float = 0.0) -> FileIO:
    """The file, made where it is missing, with a lock (flock) on it that no other process has.

    To close the file lets go of the lock, and so does the end of the process, however it comes.
    Another process's lock is waited for during ``patience`` seconds; then the file is ``InUse``.
    """
    file = FileIO(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+")
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError as error:
            if time.monotonic() >= deadline:
                with file:
                    raise InUse(file.read(20).decode(errors="replace").strip()) from error
        time.sleep(0.02)


@lru_cache(maxsize=200_000)
def _hash(path: Path, algorithm: str, stamp: tuple[int, int, int]) -> str:  # noqa: ARG001
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
