"""What the SQL store asks of a database: the rest of this package is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Column, Connection

Answer = TypeVar("Answer")


class Database(Protocol):
    """The tables of one campaign, for its one writer; errors are sentences."""

    @property
    def store(self) -> str:
        """Its address, "" where it is in the folder of the campaign."""
        ...

    def write(self, change: Callable[[Connection], Answer]) -> Answer:
        """Make a change in one transaction, which is durable when this returns.

        ``change`` may be called again if a transaction came to nothing: it keeps nothing by itself.
        """
        ...

    def read(self, look: Callable[[Connection], Answer]) -> Answer:
        """Look at one moment; ``look`` may be called again too."""
        ...

    def close(self) -> None:
        """Let go of the campaign; everything is kept already."""
        ...


@dataclass(frozen=True)
class Home:
    """Where a campaign is at work.

    ``store`` is the address of its store, "" where that is in the folder; ``host`` is who has the
    folder, "" where that is here.
    """

    folder: Path
    running: bool
    store: str = ""
    host: str = ""


class Source(Protocol):
    """The tables of one campaign, for readers; its text is how it is called in sentences."""

    def is_running(self) -> bool:
        """Whether somebody runs the campaign now."""
        ...

    def home(self, connection: Connection) -> Home:
        """Where it runs, at the moment that a connection sees."""
        ...

    def connected(self, *read: Column[Any]) -> AbstractContextManager[Connection]:
        """A connection in a transaction: all that it reads belongs to one moment.

        ``read`` are the columns that are read whole: every value in them is sound.
        """
        ...
