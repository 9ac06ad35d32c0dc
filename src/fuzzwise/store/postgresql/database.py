"""The tables of a campaign in PostgreSQL, for its one writer.

A server that restarts or is away for a while is waited for. What was being written then is written
again, unless it is there: every transaction counts itself in the campaign's row, so that a commit
whose answer was lost is known to have been made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import DBAPIError

from fuzzwise.errors import BadInput, FuzzwiseError
from fuzzwise.store.address import Address
from fuzzwise.store.binding import bind, is_bound
from fuzzwise.store.postgresql import lease as leases
from fuzzwise.store.postgresql.catalog import enter, enter_schema, schema_of
from fuzzwise.store.postgresql.connecting import connect, explained, is_away, sentences, use
from fuzzwise.store.postgresql.lease import Lease, Renewal
from fuzzwise.store.sql.database import Answer
from fuzzwise.store.sql.schema import events, runs
from fuzzwise.store.sqlite import FILE
from fuzzwise.store.sqlite_folder import held_folder
from fuzzwise.text import many

PATIENCE = 90.0
"""Seconds to wait for a database that is away; then the campaign ends, and can go on later."""

NOTICED = 1.0
"""Seconds of absence that are worth a sentence."""

FAREWELL = 15.0
"""Seconds to wait for a server in the end, to give the lease back."""

_SHORTEST, _LONGEST = 0.1, 2.0
"""Seconds between two tries, at first and in the end."""


def open_database(
    address: Address, folder: Path, say: Callable[[str], None]
) -> tuple[PostgresDatabase, tuple[str, ...]]:
    """Open or make a campaign; refused where another holds its lease, or its folder.

    ``say`` is told if there is something to wait for.
    """
    with ExitStack() as held:
        held.enter_context(held_folder(folder))
        if (folder / FILE).exists():
            raise BadInput(
                f"{folder} holds a campaign in {FILE}, and is to have one in {address}. Choose "
                f"another folder by out; or move {FILE} away: what the folders of the targets hold "
                "is counted again."
            )
        with sentences(address):
            connection = held.enter_context(connect(address))
            campaign = enter(connection, address)
            lease = leases.take(connection, campaign, folder, say)
            held.callback(_let_go, address, lease)
            enter_schema(connection, campaign, address)
        connection.close()
        notes = _moved(campaign, folder)
        bind(folder, address, campaign.uid)
        return PostgresDatabase(address, campaign, lease, held.pop_all()), notes


class PostgresDatabase:
    """One campaign, under a lease; ``held`` is what to let go of in the end."""

    def __init__(self, address: Address, campaign: Row[Any], lease: Lease, held: ExitStack) -> None:
        self.store = str(address)
        self._address = address
        self._schema = schema_of(campaign)
        self._lease = lease
        self._held = held
        self._writes = lease.writes
        self._connection: Connection | None = None
        self._notices: list[str] = []
        self._renewal = Renewal(address, lease)
        self._renewal.start()

    def write(self, change: Callable[[Connection], Answer]) -> Answer:
        """Make a change in one transaction: once, whatever becomes of connections."""
        answers: list[Answer] = []
        told = tuple(self._notices)

        def attempt(connection: Connection) -> None:
            if leases.renew(connection, self._lease, writes=self._writes + 1):
                answers[:] = [change(connection)]
                _tell(connection, told)
                return
            now = leases.check(connection, self._lease)
            # Ours still: so the count is ahead by the change whose answer was lost.
            assert answers
            assert now.writes == self._writes + 1

        self._persist(attempt)
        self._writes += 1
        del self._notices[: len(told)]
        return answers[0]

    def read(self, look: Callable[[Connection], Answer]) -> Answer:
        """Look at one moment: nobody else writes."""
        return self._persist(look)

    def close(self) -> None:
        """Give the lease back; where the database is away, it runs out by itself."""
        self._renewal.end()
        self._drop()
        self._held.close()

    def _persist(self, attempt: Callable[[Connection], Answer]) -> Answer:
        """Try until there is an answer, but only while it is the server that does not give it."""
        began, pause = time.monotonic(), _SHORTEST
        while True:
            try:
                connection = self._connected()
                with connection.begin():
                    answer = attempt(connection)
                self._note_absence(time.monotonic() - began if pause > _SHORTEST else 0.0)
                return answer
            except (DBAPIError, psycopg.Error) as error:
                if not is_away(error):
                    raise explained(self._address, error) from error
                self._drop()
                if time.monotonic() - began > PATIENCE:
                    raise self._gone(error) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _connected(self) -> Connection:
        if self._connection is None:
            made = connect(self._address)
            try:
                with made.begin():
                    use(made, self._schema)
            except BaseException:
                _close(made)
                raise
            self._connection = made
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            _close(self._connection)
            self._connection = None

    def _note_absence(self, seconds: float) -> None:
        if seconds >= NOTICED:
            self._notices.append(
                f"The database was away for {many(round(seconds), 'second')}; what came meanwhile "
                "was written then, and is counted once."
            )

    def _gone(self, error: DBAPIError | psycopg.Error) -> BadInput:
        why = str(explained(self._address, error))
        return BadInput(
            f"The database was away for {PATIENCE:g} s, and the campaign ends. {why} Nothing that "
            "was stored is lost: run the campaign again to go on."
        )


def _moved(campaign: Row[Any], folder: Path) -> tuple[str, ...]:
    """A sentence where a campaign was begun in another folder, or by somebody else altogether."""
    if not campaign.writes or is_bound(folder, campaign.uid):
        return ()
    return (
        f"The campaign {campaign.name!r} goes on in {folder}; before, it was in {campaign.folder} "
        f"on {campaign.host}.",
    )


def _tell(connection: Connection, notices: tuple[str, ...]) -> None:
    if notices:
        latest = select(runs.c.seconds).order_by(runs.c.id.desc()).limit(1)
        row = {"at": connection.scalar(latest) or 0.0, "kind": "warning", "target": ""}
        connection.execute(insert(events), [row | {"detail": notice} for notice in notices])


def _close(connection: Connection) -> None:
    """Close a connection that may be broken; what it has not committed comes to nothing."""
    with suppress(DBAPIError, psycopg.Error):
        connection.invalidate()
    with suppress(DBAPIError, psycopg.Error):
        connection.close()


def _let_go(address: Address, lease: Lease) -> None:
    """Give a lease back, without waiting for a server that does not answer."""

    def give_back() -> None:
        with (
            suppress(FuzzwiseError),
            sentences(address),
            connect(address) as connection,
            connection.begin(),
        ):
            leases.let_go(connection, lease)

    thread = threading.Thread(target=give_back, daemon=True)
    thread.start()
    thread.join(FAREWELL)
