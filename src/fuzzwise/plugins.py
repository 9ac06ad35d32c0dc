"""What installed packages add to fuzzwise, through entry points.

A package that cannot be used is left out with a warning: it is no reason for a command to fail that
does not need it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar

from fuzzwise.errors import BadInput


class PluginLeftOut(UserWarning):
    """Something that an installed package adds cannot be used; the message says why."""


class Named(Protocol):
    """Anything that a registry knows by its name."""

    @property
    def name(self) -> str:
        """The name."""


T = TypeVar("T", bound=Named)


@dataclass(frozen=True)
class Kind:
    """Something that packages can add: in which group of entry points, and how it is known."""

    group: str
    what: str
    is_one: Callable[[Any], bool]


def add_installed(known: Mapping[str, T], kind: Kind) -> dict[str, T]:
    """The known objects by name, and those of installed packages that can be used."""
    result, problems = with_installed(known, kind)
    for problem in problems:
        leave_out(problem)
    return result


def with_installed(known: Mapping[str, T], kind: Kind) -> tuple[dict[str, T], list[str]]:
    """The known objects and those of installed packages, and what is wrong with the others."""
    result, problems = dict(known), []
    for entry in entry_points(group=kind.group):
        try:
            added: T = load(entry, kind)
            check_name(entry, added.name, result, kind)
            result[added.name] = added
        except BadInput as problem:
            problems.append(str(problem))
    return result, problems


def load(entry: EntryPoint, kind: Kind) -> Any:
    """The object that an entry point names; BadInput where there is none of its kind."""
    try:
        found = entry.load()
        is_one = kind.is_one(found)
    except (Exception, SystemExit) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(
            f"{_named(entry, kind)} cannot be loaded ({why}). Mend or uninstall its package."
        ) from error
    if not is_one:
        raise BadInput(
            f"{_named(entry, kind)} is not {kind.what} but an object of {type(found).__name__}. "
            "Mend or uninstall its package."
        )
    return found


def check_name(entry: EntryPoint, name: str, taken: Mapping[str, object], kind: Kind) -> None:
    """BadInput for a name that is taken already: nothing is replaced in silence."""
    if name in taken:
        raise BadInput(
            f"The installed package behind {entry.value!r} registers {kind.what} named {name!r}, "
            "which exists already. Rename it, or uninstall that package."
        )


def leave_out(problem: str) -> None:
    """Warn of a plug-in that is not used."""
    warnings.warn(f"{problem} It is left out.", PluginLeftOut, stacklevel=2)


def _named(entry: EntryPoint, kind: Kind) -> str:
    return f"The plug-in {entry.name!r} ({entry.value}), for {kind.what},"
