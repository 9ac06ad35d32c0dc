"""The tables of a campaign in PostgreSQL, for readers on any machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, select

from fuzzwise.errors import BadInput, FuzzwiseError
from fuzzwise.store.address import Address
from fuzzwise.store.binding import is_bound
from fuzzwise.store.postgresql.catalog import campaigns, find, row_of, schema_of
from fuzzwise.store.postgresql.connecting import connect, sentences, use
from fuzzwise.store.postgresql.lease import is_held
from fuzzwise.store.sql.database import Home
from fuzzwise.store.sql.migrations import STEPS, check_version, version_of


class PostgresSource:
    """One campaign in a database: the one that the address names, or the only one."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def __str__(self) -> str:
        return str(self._address)

    def is_running(self) -> bool:
        """Whether somebody holds the campaign; nobody, where the database does not answer."""
        try:
            with self._looking() as connection:
                campaign = find(connection, self._address)
                mine = campaigns.c.id == campaign.id
                return bool(connection.scalar(select(is_held()).where(mine)))
        except FuzzwiseError:
            return False

    def glance(self) -> object:
        """How often it was written to; something new each time, where that is not known."""
        try:
            with self._looking() as connection:
                campaign = find(connection, self._address)
                return campaign.uid, campaign.token, campaign.writes
        except FuzzwiseError:
            return object()

    def home(self, connection: Connection) -> Home:
        """Its folder, where that is on this machine; if not, who has it."""
        campaign = row_of(connection, self._address)
        running = connection.scalar(select(is_held()).where(campaigns.c.id == campaign.id))
        recorded = Path(campaign.folder)
        for folder in (self._address.folder, recorded):
            if folder is not None and is_bound(folder, campaign.uid):
                return Home(folder, bool(running), str(self))
        return Home(recorded, bool(running), str(self), campaign.host or "another machine")

    @contextmanager
    def connected(self, *read: Column[Any]) -> Iterator[Connection]:  # noqa: ARG002
        """A connection in a transaction; the database has seen to the values itself."""
        with self._looking() as connection:
            campaign = find(connection, self._address)
            use(connection, schema_of(campaign))
            version = version_of(connection)
            check_version(version, self._address)
            if version == 0:
                raise BadInput(f"{self._address}: this campaign has not begun yet.")
            if version < len(STEPS):
                raise BadInput(
                    f"{self._address} is of an older fuzzwise. Go on with the campaign for a "
                    "moment with this one: that brings it up to date."
                )
            yield connection

    @contextmanager
    def _looking(self) -> Iterator[Connection]:
        with (
            sentences(self._address),
            connect(self._address, reading=True) as connection,
            connection.begin(),
        ):
            yield connection
