"""Connections to PostgreSQL: within bounds of time, with errors as sentences without secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.store.address import EXAMPLE, Address
from fuzzwise.store.contract import Damaged, StoreFull
from fuzzwise.text import clean

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise need_extra("A store in PostgreSQL", "psycopg", "fleet") from error

CATALOG = "fuzzwise"
"""The schema of the database that lists the campaigns; each has one of its own beside it."""

_UNLESS_SAID: dict[str, Any] = {
    "application_name": "fuzzwise",
    "connect_timeout": 10,
    # A server that vanished is noticed within 20 s, and not after hours.
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

_ALWAYS = """
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
       set_config('search_path', %(schema)s, false),
       set_config('lock_timeout', '20s', false),
       -- A writer that is stopped in mid-transaction must not keep others out for good.
       set_config('idle_in_transaction_session_timeout', '15s', false),
       set_config('statement_timeout', %(timeout)s, false),
       set_config('tcp_keepalives_idle', '5', false),
       set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false)
"""

READ_SECONDS = 20
WRITE_SECONDS = 120
"""What takes longer is given up, by the server."""


def connect(address: Address, *, reading: bool = False) -> Connection:
    """A connection; each transaction of one for ``reading`` sees one moment of the database."""

    def opened() -> psycopg.Connection[Any]:
        made = psycopg.connect(**_parameters(address), autocommit=True)
        try:
            timeout = f"{READ_SECONDS if reading else WRITE_SECONDS}s"
            made.execute(_ALWAYS, {"schema": CATALOG, "timeout": timeout})
            made.autocommit = False
        except BaseException:
            made.close()
            raise
        return made

    before = _OPENS.set(opened)
    try:
        connection = _engine().connect()
    finally:
        _OPENS.reset(before)
    if reading:
        return connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
    return connection.execution_options(isolation_level="READ COMMITTED")


def use(connection: Connection, schema: str) -> None:
    """Have the names of tables stand for those in a schema, from now on."""
    connection.execute(text("SELECT set_config('search_path', :schema, false)"), {"schema": schema})


_OPENS: ContextVar[Callable[[], psycopg.Connection[Any]]] = ContextVar("_OPENS")


@cache
def _engine() -> Engine:
    """The engine of all databases of this process: it keeps the statements it has compiled."""
    return create_engine(
        "postgresql+psycopg://", creator=lambda: _OPENS.get()(), poolclass=NullPool
    )


def _parameters(address: Address) -> dict[str, Any]:
    try:
        return {**_UNLESS_SAID, **conninfo_to_dict(address.url)}
    except psycopg.Error:
        # Its words would name what is wrong, which may be a password; so would the error behind.
        raise BadInput(
            f"{address}: PostgreSQL cannot read this address; expected {EXAMPLE}. Write what is no "
            "letter in a password as %XX."
        ) from None


@contextmanager
def sentences(address: Address) -> Iterator[None]:
    """Turn errors of the database into sentences."""
    try:
        yield
    except (DBAPIError, psycopg.Error) as error:
        raise explained(address, error) from error


def is_away(error: DBAPIError | psycopg.Error) -> bool:
    """Whether the server is gone, restarts or was replaced by another: all may soon be well."""
    cause = _cause(error)
    if not isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return _state(cause) in _PASSING
    state = _state(cause)
    return not state or state[:2] in ("08", "57") or state in _PASSING


_PASSING = (
    *("40001", "40P01", "55P03"),  # two transactions were in each other's way
    *("25P03", "25006", "53300"),  # stopped for too long; a standby; too many connections
)


def explained(address: Address, error: DBAPIError | psycopg.Error) -> BadInput:
    """The sentence for an error of the database."""
    cause = _cause(error)
    state, said = _state(cause), _said(address, cause)
    if state == "53100":
        return StoreFull(
            f"The disk of {address} is full; make space on it. Nothing that was stored is lost."
        )
    if state == "42501":
        return BadInput(
            f"{address}: you may not do that there ({said}). To begin campaigns, a user needs "
            "GRANT CREATE ON DATABASE; to read them, USAGE of their schemas and SELECT."
        )
    if is_away(error):
        return BadInput(
            f"{address}: the database cannot be used ({said}). Check that the server runs, the "
            "address, and the password: in ~/.pgpass or PGPASSWORD."
        )
    if isinstance(cause, psycopg.DataError | psycopg.ProgrammingError) and state[:2] == "42":
        return Damaged(f"{address} is not the store of a campaign as fuzzwise makes it ({said}).")
    return BadInput(f"{address}: the database refuses ({said}).")


def _cause(error: BaseException) -> BaseException:
    return error.orig or error if isinstance(error, DBAPIError) else error


def _state(cause: BaseException) -> str:
    return getattr(cause, "sqlstate", None) or ""


def _said(address: Address, cause: BaseException) -> str:
    words = clean(" ".join(str(cause).split()))[:300]
    return words.replace(address.password, "***") if address.password else words
