"""All engines by name: ours, and those of installed packages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from fuzzwise.engines.contract import Engine
from fuzzwise.errors import BadInput

GROUP = "fuzzwise.engines"
"""A package adds an engine by an entry point of this group that names an ``Engine``."""

_OURS = {
    "libfuzzer": "fuzzwise.engines.libfuzzer.engine:ENGINE",
    "black-box": "fuzzwise.engines.blackbox.engine:ENGINE",
    "python": "fuzzwise.engines.python.engine:ENGINE",
    "afl++": "fuzzwise.engines.aflplusplus.engine:ENGINE",
}

USUAL = "libfuzzer"
"""The engine of what no other claims."""


@cache
def engines() -> dict[str, EntryPoint]:
    """Where each is; it is loaded when it is asked for."""
    known = {name: EntryPoint(name, value, GROUP) for name, value in _OURS.items()}
    for entry in entry_points(group=GROUP):
        if entry.name in known:
            raise BadInput(
                f"The installed package behind {entry.value!r} registers an engine named "
                f"{entry.name!r}, which exists already. Rename it, or uninstall that package."
            )
        known[entry.name] = entry
    return known


@cache
def engine_named(name: str) -> Engine:
    """The engine of that name."""
    engine: Engine = engines()[name].load()
    return engine


def likely_engine(program: Path, in_command: bool = False) -> str:
    """The name of the engine that a program was made for; the later in the list are asked first."""
    names = reversed(engines())
    claimed = (name for name in names if engine_named(name).claims(program, in_command))
    return next(claimed, USUAL)
