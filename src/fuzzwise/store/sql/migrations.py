"""From any earlier version of the schema to the present one, a step at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Table, func, insert, inspect, select

from fuzzwise import __version__
from fuzzwise.errors import BadInput
from fuzzwise.store.sql import schema

Step = Callable[[Connection], None]


def _create(connection: Connection) -> None:
    schema.metadata.create_all(connection)


def _add_what_was_judged(connection: Connection) -> None:
    """What a target's judgement said is kept as it was made, and whether a bug was checked."""
    add_columns(connection, schema.targets, "seconds_to_decision", "discovery_rate")
    add_columns(connection, schema.bugs, "checked")


def _add_stability(connection: Connection) -> None:
    add_columns(connection, schema.targets, "stability")


def _add_own_time(connection: Connection) -> None:
    add_columns(connection, schema.runs, "own_seconds")


def _add_builds(connection: Connection) -> None:
    add_columns(connection, schema.targets, "builds")


STEPS: tuple[Step, ...] = (
    *(_create, _add_what_was_judged, _add_stability, _add_own_time),
    _add_builds,
)
"""Step k makes version k from version k-1.

The first makes the tables as they are now, so that a new database has everything at once; later
steps bring what older ones lack, and find nothing to do in a new one.
"""


def add_columns(connection: Connection, table: Table, *names: str) -> None:
    """Add columns of the present schema, without values, that a table does not have yet."""
    there = {column["name"] for column in inspect(connection).get_columns(table.name)}
    for name in names:
        if name not in there:
            kind = table.c[name].type.compile(connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {name} {kind}")


def version_of(connection: Connection) -> int:
    """The version of the schema in a database; 0 for an empty one."""
    if not inspect(connection).has_table(schema.schema_version.name):
        return 0
    return connection.scalar(select(func.max(schema.schema_version.c.version))) or 0


def check_version(version: int, place: object, steps: Sequence[Step] = STEPS) -> None:
    """Refuse a database that a newer fuzzwise has written; ``place`` is where it is."""
    if version > len(steps):
        raise BadInput(
            f"{place} was written by a newer fuzzwise (its schema has version {version}, this "
            f"fuzzwise knows {len(steps)}). Update fuzzwise, or give the campaign another folder."
        )


def migrate(connection: Connection, place: object, steps: Sequence[Step] = STEPS) -> None:
    """Bring a database to the present version; a step is done whole or not at all."""
    with connection.begin():
        version = version_of(connection)
    check_version(version, place, steps)
    for number, step in enumerate(steps[version:], start=version + 1):
        with connection.begin():
            step(connection)
            row = {"version": number, "fuzzwise": __version__}
            connection.execute(insert(schema.schema_version), row)
