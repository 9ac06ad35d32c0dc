"""From any earlier version of the schema to the present one, a step at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection, func, insert, inspect, select

import fuzzwise
from fuzzwise.errors import BadInput
from fuzzwise.store.sql import schema

Step = Callable[[Connection], None]


def _create(connection: Connection) -> None:
    schema.metadata.create_all(connection)


STEPS: tuple[Step, ...] = (_create,)
"""Step k makes version k from version k-1; steps that were released are never edited.

The step that comes next changes the tables with SQL of its own, and ``_create`` becomes the text
of version 1, so that the steps in a row end at the tables of ``schema`` wherever they begin.
"""


def version_of(connection: Connection) -> int:
    """The version of the schema in a database; 0 for an empty one."""
    if not inspect(connection).has_table(schema.schema_version.name):
        return 0
    return connection.scalar(select(func.max(schema.schema_version.c.version))) or 0


def check_version(version: int, path: Path, steps: Sequence[Step] = STEPS) -> None:
    """Refuse a database that a newer fuzzwise has written."""
    if version > len(steps):
        raise BadInput(
            f"{path} was written by a newer fuzzwise (its schema has version {version}, this "
            f"fuzzwise knows {len(steps)}). Update fuzzwise, or give the campaign another folder."
        )


def migrate(connection: Connection, path: Path, steps: Sequence[Step] = STEPS) -> None:
    """Bring a database to the present version; a step is done whole or not at all."""
    with connection.begin():
        version = version_of(connection)
    check_version(version, path, steps)
    for number, step in enumerate(steps[version:], start=version + 1):
        with connection.begin():
            step(connection)
            row = {"version": number, "fuzzwise": fuzzwise.__version__}
            connection.execute(insert(schema.schema_version), row)
