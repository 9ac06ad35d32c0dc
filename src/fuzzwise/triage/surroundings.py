"""Where a target runs: variables of its environment, and a folder.

They stand before its command as the words of ``env``: so they are part of every line that is
printed to see a bug again, and whoever reads such a command has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ENV = "/usr/bin/env"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""What a variable can be called."""

NEEDED = "symbolize=1:abort_on_error=0:handle_abort=1"
"""Options of sanitizers without which a report cannot be read, whatever else is asked for."""

_OPTIONS = "SAN_OPTIONS"
_IN = "-C"


@dataclass(frozen=True)
class Surroundings:
    """Variables besides those that everybody has; ``folder`` None: an empty one of fuzzwise."""

    variables: tuple[tuple[str, str], ...] = ()
    folder: Path | None = None

    def before(self, command: Sequence[str]) -> tuple[str, ...]:
        """The command as it works anywhere, also in a shell."""
        if not self.variables and self.folder is None:
            return tuple(command)
        place = (_IN, str(self.folder)) if self.folder else ()
        return (ENV, *place, *(f"{name}={value}" for name, value in self.variables), *command)

    def joined(self, others: Mapping[str, str], needed: str = NEEDED) -> dict[str, str]:
        """The variables of others with these among them.

        Options of sanitizers add up: the later ones count, and last of all what is ``needed``.
        """
        known = dict(others)
        for name, value in self.variables:
            if name.endswith(_OPTIONS):
                value = ":".join(filter(None, (known.get(name), value, needed)))
            known[name] = value
        return known


ANYWHERE = Surroundings()
"""Those of targets that ask for nothing."""


def apart(command: Sequence[str]) -> tuple[Surroundings, tuple[str, ...]]:
    """What ``before`` has put before a command, and the command; others stay as they are."""
    words = tuple(command)
    if words[:1] != (ENV,):
        return ANYWHERE, words
    rest = words[1:]
    folder = None
    if rest[:1] == (_IN,) and len(rest) > 1:
        folder, rest = Path(rest[1]), rest[2:]
    variables = []
    while rest and (found := re.match(rf"({NAME.pattern})=", rest[0])):
        variables.append((found[1], rest[0][found.end() :]))
        rest = rest[1:]
    if not rest or rest[0].startswith("-"):
        return ANYWHERE, words  # other options of env are not ours to read
    return Surroundings(tuple(variables), folder), rest
