"""The database file of a campaign: opened for one writer or for readers, with errors as sentences.

WAL lets readers work while the writer writes; with synchronous=FULL a committed transaction is on
the disk. A file that is damaged all the same is put aside, never repaired by guessing and never
deleted: what the targets' own folders hold is counted again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from fuzzwise.errors import BadInput
from fuzzwise.store.contract import Damaged, StoreFull
from fuzzwise.text import clean, printable

FILE = "campaign.db"
BUSY_SECONDS = 30.0
"""How long to wait for another process that is in the middle of a transaction."""

READ_SECONDS = 20.0
"""What takes longer to read is no campaign: each answer takes a small part of a second."""

MOST_WAL = 4 << 20
"""Bytes in the write-ahead log before its pages go to the main file."""

_NEXT_TO_FULL = 1 << 20
_SMALLEST_PAGE = 512


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Around code that only reads: whatever values it stumbles over are damage of the file."""
    try:
        with sentences(path):
            yield
    except (DBAPIError, sqlite3.Error, SQLAlchemyError, *_OF_VALUES) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise _damaged(path, cause) from error


_OF_VALUES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn errors of the database into sentences."""
    try:
        yield
    except (DBAPIError, sqlite3.DatabaseError) as error:
        known = _explained(path, error.orig if isinstance(error, DBAPIError) else error)
        if known is None:
            raise
        raise known from error


def _explained(path: Path, error: BaseException | None) -> BadInput | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL:
            return _full(path)
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if _is_full(path):
            return _full(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged(path, error)
        case sqlite3.SQLITE_INTERRUPT:
            return _damaged(path, f"it could not be read within {READ_SECONDS:g} s")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BadInput(f"{path} is locked by another process. Wait for it, or end it.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return BadInput(f"{path} cannot be written. Check who owns it and its folder.")
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR:
            return BadInput(f"{path} cannot be used ({error}). Check the disk and the permissions.")
        case _:
            return None


def _damaged(path: Path, why: object) -> Damaged:
    words = clean(" ".join(str(why).split()))[:300] or type(why).__name__
    remedy = getattr(why, "remedy", _REMEDY)
    return Damaged(f"{printable(str(path))} is damaged ({words}). {remedy}")


_REMEDY = (
    "Run the campaign again: the file is put aside, and what the folders of the targets hold is "
    "counted again."
)


def _full(path: Path) -> StoreFull:
    return StoreFull(
        f"The disk of {path} is full; make space on it. Nothing that was stored is lost."
    )


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _NEXT_TO_FULL
    except OSError:
        return False


def open_for_writing(path: Path) -> Connection:
    """The writer's connection, in WAL mode; the file is made where there is none."""
    connection = _connect(path, "mode=rwc", "BEGIN IMMEDIATE")
    try:
        for setting in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            # The writer moves pages to the main file itself: see checkpoint.
            "wal_autocheckpoint=0",
            "journal_size_limit=0",
        ):
            _pragma(connection, setting)
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> Connection:
    """A reader's connection; each of its transactions sees one state of the database."""
    check_files(path)
    connection = _connect(path, "mode=ro", "BEGIN", READ_SECONDS)
    try:
        _pragma(connection, "schema_version")
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, sqlite3.OperationalError) or os.access(path.parent, os.W_OK):
            raise
        # On a read-only disk nobody writes, and there is no place for the files that WAL needs.
        connection = _connect(path, "immutable=1", "BEGIN", READ_SECONDS)
    return connection


def glance(folder: Path) -> tuple[tuple[int, int, int], ...] | None:
    """Which files the database is, how large they are and when they were written to."""
    seen = []
    for name in (FILE, f"{FILE}-wal"):
        try:
            found = (folder / name).stat()
        except OSError:
            continue
        seen.append((found.st_ino, found.st_size, found.st_mtime_ns))
    return tuple(seen) or None


def check_files(path: Path) -> None:
    """Refuse anything but regular files in the places that SQLite would open."""
    for end in ("", "-wal", "-shm", "-journal"):
        part = path.with_name(path.name + end)
        try:
            kind = part.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISLNK(kind):
            # SQLite follows links, and writes beside what they lead to, even for a reader.
            raise BadInput(
                f"{printable(str(part))} is a link; what it leads to is left alone. Copy the "
                "campaign's folder with the file itself (cp -rL), or remove the link."
            )
        if not stat.S_ISREG(kind):
            raise BadInput(
                f"{printable(str(part))}: is not a regular file. Put the campaign's own file there."
            )


def checkpoint(connection: Connection, path: Path) -> None:
    """Move the log's pages to the main file if it is long; call it right before a transaction.

    That transaction then begins the log again. After it would also do, but if the log's end was
    lost in between, the rest of it would put old pages over newer ones.
    """
    try:
        size = path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        return
    if size > MOST_WAL:
        _pragma(connection, "wal_checkpoint(PASSIVE)")


def put_aside_if_damaged(path: Path, check: Callable[[Connection], None]) -> str:
    """Rename a damaged database and its log; the sentence that says so, or "" if it is sound.

    ``check`` reads what will be needed; a value that it stumbles over is damage like any other.
    """
    check_files(path)
    names = [path.name, f"{path.name}-wal", f"{path.name}-shm"]
    journal = path.with_name(f"{path.name}{_JOURNAL}")
    if _names_another_file(journal):
        raise BadInput(
            f"{journal} belongs to several databases, and so not to a campaign. Remove it, or "
            "choose another folder."
        )
    if not any(path.with_name(name).exists() for name in names) or _is_sound(path, check):
        return ""
    number = 1
    while any(path.with_name(f"{path.name}.damaged-{number}{end}").exists() for end in _ENDS):
        number += 1
    aside = f"{path.name}.damaged-{number}"
    for name, end in zip(names, _ENDS, strict=True):
        if path.with_name(name).exists():
            path.with_name(name).rename(path.with_name(f"{aside}{end}"))
    return (
        f"The campaign's database was damaged; it is now {path.with_name(aside)}, and a new one "
        "was begun. Bugs and counts in the folders of the targets are taken up again; the times "
        "of epochs before now are lost."
    )


_ENDS = ("", "-wal", "-shm")
_JOURNAL = "-journal"
_SEVERAL = bytes.fromhex("d9d505f920a163d7")
_FIRST_BYTES = b"SQLite format 3\0"


def _is_sound(path: Path, check: Callable[[Connection], None]) -> bool:
    size = path.stat().st_size if path.exists() else 0
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    if size == 0:
        # As a new one is for a moment; but one with a log, or with targets, had more in it.
        return not has_log and not (path.parent / "targets").exists()
    if size % _SMALLEST_PAGE and not has_log:
        return False  # the check below takes what is missing for zeros
    if not _begins_like_one(path):
        return False  # SQLite would say so too, and may remove the log
    try:
        with damage_told(path):
            connection = _connect(path, "mode=rw", "BEGIN")
            try:
                if _pragma(connection, "quick_check(1)") != "ok":
                    return False
                with connection.begin():
                    check(connection)
                return True
            finally:
                connection.close()
    except Damaged:
        return False


def _begins_like_one(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_FIRST_BYTES)) == _FIRST_BYTES
    except OSError:
        return True  # SQLite will say what is wrong


class _Connection(sqlite3.Connection):
    """One that lets go of its file when it is closed, also where an error holds on to a cursor.

    SQLite would else keep the file open, and locked, until the error is forgotten.
    """

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, *words: Any) -> Any:
        made = super().cursor(*words)
        self._cursors.add(made)
        return made

    def close(self) -> None:
        for cursor in tuple(self._cursors):
            cursor.close()
        super().close()


def _connect(path: Path, mode: str, begin: str, seconds: float | None = None) -> Connection:
    check_files(path)

    def open_file() -> sqlite3.Connection:
        # isolation_level=None: the driver begins nothing by itself, so that a transaction can
        # hold changes of the schema and readers see one state.
        address = f"{path.absolute().as_uri()}?{mode}"
        made = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, factory=_Connection
        )
        _distrust(made, path, seconds)
        return made

    before = _OPENS.set(open_file)
    try:
        return _engine().connect().execution_options(**{_BEGIN: begin})
    finally:
        _OPENS.reset(before)


_OPENS: ContextVar[Callable[[], sqlite3.Connection]] = ContextVar("_OPENS")
_BEGIN = "fuzzwise_begin"
"""The option of a connection that has the statement which begins a transaction."""


@cache
def _engine() -> Engine:
    """The engine of all files of this process: it keeps the statements that it has compiled.

    To compile those of one look at a campaign takes longer than to read it.
    """
    engine = create_engine("sqlite://", creator=lambda: _OPENS.get()(), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options()[_BEGIN])

    return engine


def _names_another_file(journal: Path) -> bool:
    """Whether SQLite would delete a file that a journal names: a journal of several databases.

    None of ours is one. Such a journal ends with this mark, behind the name.
    """
    try:
        with journal.open("rb") as file:
            file.seek(-len(_SEVERAL), os.SEEK_END)
            return file.read() == _SEVERAL
    except OSError:
        return False  # there is none, or it is shorter


def _distrust(connection: sqlite3.Connection, path: Path, seconds: float | None) -> None:
    """Nothing in the file is run, fills more memory than the file can, or takes longer."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    log = path.with_name(f"{path.name}-wal")
    size = sum(part.stat().st_size for part in (path, log) if part.exists())
    # A writer's values are limited by what it is given, and its file has not grown yet.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1 << 20, min(size, 1 << 30)))
    if seconds is None:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 30)
    else:
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)


def _pragma(connection: Connection, setting: str) -> object:
    """Run a pragma outside any transaction; the first value of its answer."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    row = driver.execute(f"PRAGMA {setting}").fetchone()
    return row[0] if row else None
