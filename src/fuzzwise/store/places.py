"""How the store of a campaign is opened: the one place that knows which stores there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzwise.store import binding
from fuzzwise.store.address import Address, is_address, read_address
from fuzzwise.store.contract import Reader, Store

Place = Path | Address
"""Where a campaign is kept: in a folder, or in a database."""


def is_there(folder: Path) -> bool:
    """Whether a folder has a store."""
    from fuzzwise.store.sqlite import FILE

    return (folder / FILE).is_file()


def is_campaign(folder: Path) -> bool:
    """Whether a folder is that of a campaign, wherever its store is."""
    return is_there(folder) or bool(binding.store_of(folder))


def glance(place: Place) -> object:
    """Something cheap that changes whenever the store in a place may have; None without one."""
    if isinstance(place, Address):
        from fuzzwise.store.postgresql.source import PostgresSource

        return PostgresSource(place).glance()
    from fuzzwise.store.sqlite import glance as of_files

    return of_files(place)


def open_store(
    folder: Path,
    address: Address | None = None,
    say: Callable[[str], None] = lambda sentence: None,  # noqa: ARG005
) -> Store:
    """The store of the campaign in a folder, for the one process that runs it.

    In the folder itself, or in a database; ``say`` is told if there is somebody to wait for.
    """
    from fuzzwise.store.sql.store import SqlStore

    if address is None:
        binding.refuse_bound(folder)
        return SqlStore.open(folder)
    from fuzzwise.store.postgresql.database import open_database

    return SqlStore(folder, *open_database(address, folder, say))


def open_reader(place: Place | str) -> Reader:
    """A reader of the campaign in a folder or in a database; a text is a path or an address."""
    from fuzzwise.store.sql.reading import SqlReader

    if isinstance(place, str):
        place = read_address(place) if is_address(place) else Path(place)
    if isinstance(place, Address):
        from fuzzwise.store.postgresql.source import PostgresSource

        return SqlReader(PostgresSource(place))
    from fuzzwise.store.sqlite_folder import SqliteSource

    return SqlReader(SqliteSource(place))
