"""The one place that makes files: whole or not at all, through no link, held by one process.

A folder that was received, or that others may write to, can hold a link wherever a file is
expected. So new files have random names and are made exclusively, and a lock is a plain file of
one's own.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import FileIO
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from fuzzwise.errors import BadInput

_EXCLUSIVELY = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and no pipe waited for."""


class InUse(Exception):
    """Another process holds the lock; ``holder`` is what the file says about it."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def new_file(path: Path) -> tuple[BinaryIO, Path]:
    """A new file beside a path, to be renamed to it once it is whole; and its name.

    Nobody can know the name before: it is random, and nothing that has it already is opened. It
    ends with a number and ``.part``.
    """
    while True:
        number = int.from_bytes(os.urandom(8))
        partial = path.with_name(f"{path.name[:150]}.{number}.part")
        with contextlib.suppress(FileExistsError):
            return os.fdopen(os.open(partial, _EXCLUSIVELY | os.O_WRONLY, 0o666), "wb"), partial


@contextmanager
def whole_file(path: Path, *, to_disk: bool = True) -> Iterator[BinaryIO]:
    """A file to write to under another name; it is seen to the disk and renamed in the end.

    There is the old content or the new one, whatever happens in between; not ``to_disk``, only as
    long as the machine itself goes on. A link in its place is replaced, not followed.
    """
    file, partial = new_file(path)
    try:
        with file:
            yield file
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
        partial.replace(path)
        if to_disk:
            see_to_disk(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def write_whole(path: Path, content: bytes, *, to_disk: bool = True) -> None:
    """Write a file whole or not at all: see ``whole_file``."""
    with whole_file(path, to_disk=to_disk) as file:
        file.write(content)


def write_anew(path: str, content: bytes, mode: int) -> None:
    """Write a file in the place of what has its name; a link there is replaced, not followed.

    It is cheap, and not whole where the process ends meanwhile.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108  # of many thousand files, objects take as long as the rest
    handle = os.open(path, _EXCLUSIVELY | os.O_WRONLY, mode)
    try:
        os.fchmod(handle, mode)
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Make a folder, where it is missing, that is its owner's alone; one that is there stays."""
    make_folders(folder, mode=0o700)


def refuse_links(folder: Path, *, but_in: Collection[str] = ()) -> None:
    """BadInput where there is a link anywhere below a folder that is to be written to.

    Whoever made the folder would else choose what is overwritten. ``but_in``: names of folders that
    are not looked into. Nothing is opened, and only links cost more than their names.
    """
    ahead = [os.fspath(folder)]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        raise BadInput(
                            f"{entry.path} is a link, and what is written there would go "
                            "elsewhere. Remove it, or choose another folder."
                        )
                    if entry.is_dir(follow_symlinks=False) and entry.name not in but_in:
                        ahead.append(entry.path)
        except OSError:
            continue  # gone meanwhile, or not readable: whoever writes there will say so


def see_to_disk(*paths: Path) -> None:
    """Wait until files, or the names that folders have, are where a power cut cannot reach them."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folders(*folders: Path, mode: int = 0o777) -> None:
    """Make folders, with those above them, and see to the disk that they are there.

    ``mode`` is for the folders themselves; NotADirectoryError where a file is above one.
    """
    for folder in folders:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            what = os.strerror(errno.ENOTDIR)
            raise NotADirectoryError(errno.ENOTDIR, what, str(folder)) from error
        folder.mkdir(mode=mode, exist_ok=True)
        see_to_disk(*(path.parent for path in missing))


def content_hash(path: Path, algorithm: str = "sha256") -> str:
    """The hash of a file's content; it is read again only when its stamp has changed."""
    return _hash(path, algorithm, stamp(path))


def stamp(path: Path) -> tuple[int, int, int]:
    """What tells, without reading a file, that it is still the same."""
    info = path.stat()
    return info.st_ino, info.st_size, info.st_mtime_ns


def files_of(places: Iterable[Path]) -> list[Path]:
    """The files that places are, or have below them, in order."""
    return [Path(path) for path in paths_of(places)]


def paths_of(places: Iterable[Path]) -> list[str]:
    """The same as plain strings: of many thousand files, objects take longer than to find them."""
    found: list[str] = []
    for place in places:
        if place.is_file():
            found.append(str(place))
        else:
            _add_below(str(place), found)
    return found


def _add_below(folder: str, found: list[str]) -> None:
    """All files of a folder, name by name; links to folders are not followed."""
    try:
        with os.scandir(folder) as entries:
            known = sorted(entries, key=attrgetter("name"))
    except OSError:
        return  # gone meanwhile, or not readable
    for entry in known:
        if entry.is_dir(follow_symlinks=False):
            _add_below(entry.path, found)
        elif entry.is_file():
            found.append(entry.path)


PATIENCE = 5.0
"""Seconds to wait for another's lock. One who only looks whether there is a lock has it for an
instant; that of a killed process stays until what it was about to start has begun or ended."""


class LockedFile(FileIO):
    """A file with a lock on it, which goes when the file is closed.

    Whoever is forked has a copy of the descriptor until it begins its program, and with it the
    lock: so it is let go of, and not left to the end of the last copy. A copy may be closed; only
    the process that has the lock lets go of it.
    """

    def __init__(self, handle: int) -> None:
        super().__init__(handle, "r+")
        self._holder = os.getpid()

    def close(self) -> None:
        """Let go of the lock."""
        if not self.closed and os.getpid() == self._holder:
            _unlock(self.fileno())
        super().close()


def locked_file(path: Path, patience: float | None = None) -> LockedFile:
    """The file, made where it is missing, with a lock (flock) on it that no other process has.

    To close the file lets go of the lock, and so does the end of the process, however it comes.
    Another's lock is waited for during ``patience`` seconds, if not otherwise told ``PATIENCE``;
    then the file is ``InUse``.
    BadInput where it is no plain file, or another user's; its content stays as it is.
    """
    file = _own_plain_file(path)
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError as error:
            if time.monotonic() >= deadline:
                with file:
                    raise InUse(file.read(20).decode(errors="replace").strip()) from error
        time.sleep(0.02)


def is_locked(path: Path) -> bool:
    """Whether somebody has a lock on a file, if it is a plain one."""
    try:
        handle = os.open(path, os.O_RDONLY | _AS_IT_IS)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return False
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        _unlock(handle)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _unlock(handle: int) -> None:
    """Let go of a lock, in whichever processes there are copies of the descriptor."""
    with contextlib.suppress(OSError):  # a file system that has no locks had none to give
        fcntl.flock(handle, fcntl.LOCK_UN)


def _own_plain_file(path: Path) -> LockedFile:
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | _AS_IT_IS, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise BadInput(
            f"{path} is a link; what it leads to is left alone. Remove the link, or choose another "
            "folder."
        ) from error
    file = LockedFile(handle)
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode):
        what = "no plain file"
    elif info.st_uid != os.geteuid():
        what = "another user's"
    elif info.st_nlink > 1:
        what = "also in another folder (a hard link)"
    else:
        return file
    file.close()
    raise BadInput(f"{path} is {what}. Choose another folder, that is your own.")


@lru_cache(maxsize=200_000)
def _hash(path: Path, algorithm: str, stamp: tuple[int, int, int]) -> str:  # noqa: ARG001
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
