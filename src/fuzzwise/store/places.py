"""How the store of a campaign is opened: the one place that knows which stores there are."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.store.contract import Reader, Store


def is_there(folder: Path) -> bool:
    """Whether a folder has a store."""
    from fuzzwise.store.sqlite import FILE

    return (folder / FILE).is_file()


def glance(folder: Path) -> object:
    """Something cheap that changes whenever the store in a folder may have; None without one."""
    from fuzzwise.store.sqlite import glance as of_files

    return of_files(folder)


def open_store(folder: Path) -> Store:
    """The store of the campaign in a folder, for the one process that runs it."""
    from fuzzwise.store.sql.store import SqlStore

    return SqlStore.open(folder)


def open_reader(folder: Path) -> Reader:
    """A reader of the campaign in a folder."""
    from fuzzwise.store.sql.reading import SqlReader

    return SqlReader(folder)
