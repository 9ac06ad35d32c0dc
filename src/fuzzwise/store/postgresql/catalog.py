"""Which campaigns a database has: the table that lists them, and the schema that each is in.

A campaign is known by its name, on every machine; so names are unique in a database. The row of a
campaign also has its lease: see ``lease``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    DateTime,
    Integer,
    MetaData,
    Row,
    Table,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.schema import CreateSchema

from fuzzwise.errors import BadInput
from fuzzwise.store.address import Address
from fuzzwise.store.postgresql.connecting import CATALOG, use
from fuzzwise.store.sql.migrations import Step, check_version, migrate, version_of
from fuzzwise.store.sql.schema import Words, epochs, schema_version

LISTED = 20
_OPENING = 0x66757A7A  # anything that others do not lock

campaigns = Table(
    "campaigns",
    MetaData(schema=CATALOG),
    Column("id", Integer, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("uid", Words, nullable=False),  # random: tells it from another of the same name
    Column("folder", Words, nullable=False),  # of the latest who held it,
    Column("host", Words, nullable=False),  # on this machine
    Column("token", BigInteger, nullable=False),  # how often it was taken
    Column("holder", Words, nullable=False),  # who has it, for people; "": nobody
    Column("place", Words, nullable=False),  # the holder's folder, on the holder's machine
    Column("until", DateTime(timezone=True)),  # when the lease runs out, by the server's clock
    Column("writes", BigInteger, nullable=False),  # transactions that were made
)

# As for SQLite: only those that are under way. Nobody else loads this database's dialect.
for _index in epochs.indexes:
    if _index.name == "epochs_under_way":
        _index.dialect_options["postgresql"]["where"] = _index.dialect_options["sqlite"]["where"]


def _create(connection: Connection) -> None:
    schema_version.create(connection)
    campaigns.create(connection)


STEPS: tuple[Step, ...] = (_create,)
"""Step k makes version k of the catalog from version k-1; those of campaigns are apart."""


def schema_of(campaign: Row[Any]) -> str:
    """The schema that has the tables of a campaign."""
    return f"{CATALOG}_{campaign.id}"


def find(connection: Connection, address: Address) -> Row[Any]:
    """The campaign of an address; the only one, where it names none."""
    version = version_of(connection)
    if version == 0:
        raise _nothing(address)
    check_version(version, address, STEPS)
    return row_of(connection, address)


def row_of(connection: Connection, address: Address) -> Row[Any]:
    """The same, where the catalog is known to be there."""
    if address.campaign:
        found = connection.execute(select(campaigns).where(campaigns.c.name == address.campaign))
        row = found.first()
        if row is None:
            raise BadInput(f"{address}: there is no such campaign. {_those(connection)}")
        return row
    rows = connection.execute(select(campaigns).order_by(campaigns.c.name).limit(2)).all()
    if not rows:
        raise _nothing(address)
    if len(rows) > 1:
        raise BadInput(
            f"{address} has several campaigns; append ?campaign=NAME to say which. "
            f"{_those(connection)}"
        )
    return rows[0]


def enter(connection: Connection, address: Address) -> Row[Any]:
    """The campaign of an address, made where it is missing; the catalog too."""
    with _alone(connection):
        with connection.begin():
            if connection.scalar(select(func.to_regnamespace(CATALOG))) is None:
                connection.execute(CreateSchema(CATALOG))
        migrate(connection, address, STEPS)
        with connection.begin():
            mine = select(campaigns).where(campaigns.c.name == address.campaign)
            row = connection.execute(mine).first()
            if row is None:
                connection.execute(insert(campaigns), _new(address.campaign))
                row = connection.execute(mine).one()
                connection.execute(CreateSchema(schema_of(row)))
            return row


def enter_schema(connection: Connection, campaign: Row[Any], address: Address) -> None:
    """Have a connection use the tables of a campaign, brought up to date."""
    with connection.begin():
        use(connection, schema_of(campaign))
    migrate(connection, address)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """While nobody else makes campaigns; the connection is closed where that fails."""
    with connection.begin():
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _OPENING})
    yield
    with connection.begin():
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _OPENING})


def _new(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "uid": os.urandom(8).hex(),
        "folder": "",
        "host": "",
        "token": 0,
        "holder": "",
        "place": "",
        "writes": 0,
    }


def _those(connection: Connection) -> str:
    query = select(campaigns.c.name).order_by(campaigns.c.name).limit(LISTED + 1)
    names = list(connection.scalars(query))
    if not names:
        return "It has none yet."
    more = " and more" if len(names) > LISTED else ""
    return f"It has: {', '.join(names[:LISTED])}{more}."


def _nothing(address: Address) -> BadInput:
    return BadInput(
        f"{address} has no campaign yet. Start one with: fuzzwise run CAMPAIGN.toml, with this "
        "address as store in its [campaign]."
    )
