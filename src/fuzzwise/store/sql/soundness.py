"""Whether the tables of a database are those of a campaign: their columns, and what is in them.

SQLite keeps any value in any column, and a received file may have views, triggers or computed
columns in the place of tables, which run for as long as their author likes. So before anything is
read, the schema is looked at, and every value where all rows are read anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Table

from fuzzwise.store.sql.schema import epochs, metadata
from fuzzwise.text import LONGEST, printable

MOST = 10**18
"""A larger count is damage; sums of a few still fit into 64 bits."""

_TIMES = {"seconds", "at", "began", "ended", "after_seconds", "total_seconds", "epoch", "budget"}


class Unsound(ValueError):
    """A table that cannot be what was written; the message names it."""


def check_kinds(connection: Connection) -> None:
    """Refuse what could run a program of somebody else; in a database of any version."""
    for kind, name in connection.exec_driver_sql("SELECT type, name FROM sqlite_master"):
        if kind not in ("table", "index"):
            raise Unsound(f"it has a {printable(str(kind))[:20]} {_shown(name)}")
    for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type='table'"):
        rows = connection.exec_driver_sql("SELECT hidden FROM pragma_table_xinfo(?)", (name,))
        if any(hidden for (hidden,) in rows):
            raise Unsound(f"the table {_shown(name)} has computed columns")


def check_columns(connection: Connection) -> None:
    """Refuse a database that lacks a table or a column of the present version."""
    for table in metadata.sorted_tables:
        rows = connection.exec_driver_sql(f"PRAGMA table_info({table.name})").all()
        if not rows:
            raise Unsound(f"the table {table.name} is missing")
        missing = {column.name for column in table.columns} - {row.name for row in rows}
        if missing:
            raise Unsound(f"the table {table.name} has no column {min(missing)}")


def check_values(connection: Connection, *, with_epochs: bool = False) -> None:
    """Refuse values of another type than was written; of epochs, of which there are many, if asked.

    What a view shows of epochs is checked when it is read.
    """
    for table in metadata.sorted_tables:
        if table is epochs and not with_epochs:
            continue
        wrong = {column.name: _wrong(column) for column in table.columns}
        if _has_row(connection, table, wrong.values()):
            for name, condition in wrong.items():
                if _has_row(connection, table, [condition]):
                    raise Unsound(f"a value in {table.name}.{name} is none that was written")


def check_epochs(rows: Iterable[Sequence[Any]], words: Sequence[int] = ()) -> None:
    """Refuse rows of epochs that hold anything but numbers and nothing; words where they belong."""
    for row in rows:
        for place, value in enumerate(row):
            if place in words:
                sound = isinstance(value, str)
            else:
                sound = value is None or (isinstance(value, int | float) and -MOST <= value <= MOST)
            if not sound:
                raise Unsound("a value in epochs is none that was written")


def _has_row(connection: Connection, table: Table, conditions: Iterable[str]) -> bool:
    query = f"SELECT 1 FROM {table.name} WHERE {' OR '.join(conditions)} LIMIT 1"  # noqa: S608
    return connection.exec_driver_sql(query).first() is not None


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
