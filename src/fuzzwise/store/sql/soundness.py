"""Whether the tables of a database are those of a campaign: their columns, and what is in them.

SQLite keeps any value in any column, and a received file may have views, triggers or computed
columns in the place of tables, which run for as long as their author likes. So before anything is
read, the schema is looked at, and every value of the tables that are read whole. Epochs, of which
there may be a million, are never read whole: of these, the rows that are read are looked at, and
the latest when a campaign goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary

from fuzzwise.store.sql.schema import epochs, metadata
from fuzzwise.text import LONGEST, printable

MOST = 10**18
"""A larger count is damage; sums of a few still fit into 64 bits."""

_TIMES = {
    *("seconds", "at", "began", "ended", "after_seconds", "total_seconds", "epoch", "budget"),
    "own_seconds",
}


LATEST_EPOCHS = 1_000
"""Of epochs, how many are looked at when a campaign goes on: all that most campaigns have."""

Schema = tuple[tuple[str, str, str | None], ...]
"""What a database has: kind, name and definition of each table and index."""

_complete: set[Schema] = set()
"""Schemas that were found to have all tables and columns: what a definition says, it says again."""


class Unsound(ValueError):
    """A table that cannot be what was written; the message names it."""


class UnsoundEpoch(Unsound):
    """A row of epochs that cannot be what was written; the rest of the campaign may be sound."""

    remedy = (
        "Targets, bugs and counts are not among it. To go on without the history of epochs, move "
        "the file away and run the campaign again: what the folders of the targets hold is counted "
        "again."
    )


def check_kinds(connection: Connection) -> Schema:
    """Refuse what could run a program of somebody else; in a database of any version."""
    found = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master").all()
    schema = tuple((kind, name, definition) for kind, name, definition in found)
    if schema in _complete:
        return schema
    for kind, name, _ in schema:
        if kind not in ("table", "index"):
            raise Unsound(f"it has a {printable(str(kind))[:20]} {_shown(name)}")
    for name in (name for kind, name, _ in schema if kind == "table"):
        rows = connection.exec_driver_sql("SELECT hidden FROM pragma_table_xinfo(?)", (name,))
        if any(hidden for (hidden,) in rows):
            raise Unsound(f"the table {_shown(name)} has computed columns")
    return schema


def check_columns(connection: Connection, schema: Schema) -> None:
    """Refuse a database that lacks a table or a column of the present version.

    ``schema`` is what ``check_kinds`` found in the same transaction.
    """
    if schema in _complete:
        return
    for table in metadata.sorted_tables:
        rows = connection.exec_driver_sql(f"PRAGMA table_info({table.name})").all()
        if not rows:
            raise Unsound(f"the table {table.name} is missing")
        missing = {column.name for column in table.columns} - {row.name for row in rows}
        if missing:
            raise Unsound(f"the table {table.name} has no column {min(missing)}")
    _complete.clear()
    _complete.add(schema)


def check_values(connection: Connection, *read: Column[Any]) -> None:
    """Refuse values of another type than was written, in the columns that are read."""
    if not read or connection.exec_driver_sql(_any_wrong(read)).first() is None:
        return
    for column in read:
        if connection.exec_driver_sql(_any_wrong((column,))).first() is not None:
            raise Unsound(f"a value in {column.table.name}.{column.name} is none that was written")


def check_latest_epochs(connection: Connection) -> None:
    """Refuse such values in the latest epochs."""
    latest = f"(SELECT * FROM epochs ORDER BY id DESC LIMIT {LATEST_EPOCHS})"  # noqa: S608
    if connection.exec_driver_sql(_any_wrong(tuple(epochs.c), latest)).first() is not None:
        raise Unsound("a value in epochs is none that was written")


def check_epochs(rows: Iterable[Sequence[Any]], words: Sequence[int] = ()) -> None:
    """Refuse rows of epochs that hold anything but numbers and nothing; words where they belong."""
    for row in rows:
        for place, value in enumerate(row):
            if place in words:
                sound = isinstance(value, str)
            else:
                sound = value is None or (isinstance(value, int | float) and -MOST <= value <= MOST)
            if not sound:
                raise UnsoundEpoch("a value in epochs is none that was written")


@cache
def _any_wrong(columns: tuple[Column[Any], ...], rows: str = "") -> str:
    """A query that finds a row where one of the columns has a value that nobody has written."""
    conditions: dict[str, list[str]] = {}
    for column in columns:
        conditions.setdefault(rows or column.table.name, []).append(_wrong(column))
    queries = [
        f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)}"  # noqa: S608
        for table, wrong in conditions.items()
    ]
    return f"{' UNION ALL '.join(queries)} LIMIT 1"


def _wrong(column: Column[Any]) -> str:
    """A condition that holds where a value is not of the column's type, or cannot be true."""
    name = f'"{column.name}"'
    if isinstance(column.type, Boolean):
        types, beyond = "'integer'", f"{name} NOT IN (0, 1)"
    elif isinstance(column.type, Integer):
        types, beyond = "'integer'", f"{name} NOT BETWEEN -1 AND {MOST}"
    elif isinstance(column.type, Float):
        types = "'integer', 'real'"
        beyond = f"{name} NOT BETWEEN 0 AND {LONGEST:.0f}" if column.name in _TIMES else "0"
    elif isinstance(column.type, LargeBinary):
        types, beyond = "'blob'", "0"
    else:
        types, beyond = "'text'", "0"
    if column.nullable:
        types += ", 'null'"
    return f"typeof({name}) NOT IN ({types}) OR ({name} IS NOT NULL AND ({beyond}))"


def _shown(name: object) -> str:
    return repr(name)[:60]
