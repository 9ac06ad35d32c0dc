"""What installed packages add to fuzzwise, through entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from fuzzwise.errors import BadInput


class Named(Protocol):
    """Anything that a registry knows by its name."""

    @property
    def name(self) -> str:
        """The name."""


T = TypeVar("T", bound=Named)


def add_installed(known: dict[str, T], group: str, what: str) -> dict[str, T]:
    """The known objects by name, and those that installed packages name in a group.

    A name that is taken already is an error: nothing is replaced in silence.
    """
    result = dict(known)
    for entry in entry_points(group=group):
        added: T = entry.load()
        if added.name in result:
            raise BadInput(
                f"The installed package behind {entry.value!r} registers {what} named "
                f"{added.name!r}, which exists already. Rename it, or uninstall that package."
            )
        result[added.name] = added
    return result
