"""The campaign in a folder, in SQLite: opened by one process at a time, read by any."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection

from fuzzwise.errors import BadInput
from fuzzwise.files import make_private, refuse_links, see_to_disk
from fuzzwise.store import lock
from fuzzwise.store.sql.database import Answer, Home
from fuzzwise.store.sql.memory import memory_of
from fuzzwise.store.sql.migrations import STEPS, check_version, migrate, version_of
from fuzzwise.store.sql.schema import epochs, metadata
from fuzzwise.store.sql.soundness import (
    check_columns,
    check_kinds,
    check_latest_epochs,
    check_values,
)
from fuzzwise.store.sql.states import check_words, no_campaign
from fuzzwise.store.sqlite import (
    FILE,
    checkpoint,
    damage_told,
    open_for_reading,
    open_for_writing,
    put_aside_if_damaged,
    sentences,
)

MOST_COPIED = 4 << 30
"""Bytes of a store of an older fuzzwise that a reader brings up to date, in a copy."""

_OF_OTHERS = ("scratch", "seed-links")
"""Folders in those of targets that nobody reads or writes through: where targets run, and links to
the user's seeds, each of which is compared with the seed before it is used."""


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """The folder of a campaign, made where it is missing, for this process alone."""
    with ExitStack() as held:
        try:
            make_private(folder)
            refuse_links(folder, but_in=_OF_OTHERS)
            held.enter_context(lock.hold(folder))
        except OSError as error:
            raise _unusable(folder, error) from error
        yield


class SqliteDatabase:
    """The database file of a folder, for the one process that runs the campaign.

    ``held`` is what to let go of in the end: the connection, then the lock of the folder.
    """

    store = ""

    def __init__(self, path: Path, connection: Connection, held: ExitStack) -> None:
        self._path = path
        self._connection = connection
        self._held = held

    def write(self, change: Callable[[Connection], Answer]) -> Answer:
        """Make a change in one transaction."""
        with sentences(self._path):
            checkpoint(self._connection, self._path)
            with self._connection.begin():
                return change(self._connection)

    def read(self, look: Callable[[Connection], Answer]) -> Answer:
        """Look at one moment."""
        with sentences(self._path), self._connection.begin():
            return look(self._connection)

    def close(self) -> None:
        """Let go of the file and of the folder; everything is in them already."""
        self._held.close()


def open_database(folder: Path) -> tuple[SqliteDatabase, tuple[str, ...]]:
    """Open or make the database of a folder; sentences about a damaged one that was put aside.

    Refused where another store of the folder is open, in whichever process.
    """
    path = folder / FILE
    with ExitStack() as held:
        held.enter_context(held_folder(folder))
        try:
            note = put_aside_if_damaged(path, _check)
        except OSError as error:
            raise _unusable(folder, error) from error
        with sentences(path):
            connection = held.enter_context(open_for_writing(path))
            migrate(connection, path)
            see_to_disk(folder)
        return SqliteDatabase(path, connection, held.pop_all()), (note,) if note else ()


class SqliteSource:
    """The same for readers: also while it runs, of any earlier version, and from anybody."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def is_running(self) -> bool:
        """Whether somebody runs the campaign now."""
        return lock.is_held(self._folder)

    def home(self, connection: Connection) -> Home:  # noqa: ARG002
        """The folder, wherever it was when it was written."""
        return Home(self._folder, self.is_running())

    @contextmanager
    def connected(self, *read: Column[Any]) -> Iterator[Connection]:
        """A connection in a transaction; every value in the columns was looked at before."""
        path = self._folder / FILE
        if not path.exists() and not path.is_symlink():
            raise no_campaign(self._folder)
        with damage_told(path):
            with open_for_reading(path) as connection:
                with connection.begin():
                    schema = check_kinds(connection)
                    version = version_of(connection)
                    check_version(version, path)
                    if version == len(STEPS):
                        check_columns(connection, schema)
                        check_values(connection, *read)
                        yield connection
                        return
                if version == 0:
                    raise no_campaign(self._folder)
            with _brought_up_to_date(path) as connection:
                check_columns(connection, check_kinds(connection))
                check_values(connection, *read)
                yield connection


@contextmanager
def _brought_up_to_date(path: Path) -> Iterator[Connection]:
    """A copy of a store that an older fuzzwise has written, as this one would write it.

    The store itself is left as it is: the older one may still use it.
    """
    with tempfile.TemporaryDirectory(prefix="fuzzwise-") as scratch:
        copy = Path(scratch) / path.name
        for end in ("", "-wal"):
            if (part := path.with_name(path.name + end)).is_file():
                if part.stat().st_size > MOST_COPIED:
                    raise BadInput(
                        f"{part} is of an older fuzzwise, and too large to be read as it is. Go on "
                        "with the campaign for a moment: that brings it up to date."
                    )
                shutil.copyfile(part, copy.with_name(copy.name + end))
        with open_for_writing(copy) as connection:
            migrate(connection, copy)
            with connection.begin():
                yield connection


def _unusable(folder: Path, error: OSError) -> BadInput:
    return BadInput(
        f"{folder} cannot hold a campaign: {error.strerror}. Choose another folder with --out."
    )


def _check(connection: Connection) -> None:
    """Read all that a campaign goes on from; of an older version, as far as this one knows it."""
    schema = check_kinds(connection)
    if version_of(connection) == len(STEPS):
        check_columns(connection, schema)
        check_values(
            connection, *(c for t in metadata.sorted_tables if t is not epochs for c in t.c)
        )
        check_latest_epochs(connection)
        check_words(connection)
        memory_of(connection, begun=False)
