"""All engines by name: ours, and those of installed packages."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from fuzzwise.engines.contract import Engine
from fuzzwise.errors import BadInput
from fuzzwise.plugins import Kind, check_name, leave_out, load

GROUP = "fuzzwise.engines"
"""A package adds an engine by an entry point of this group that names an ``Engine``."""

PLUGINS = Kind(GROUP, "an engine", lambda found: isinstance(found, Engine))

_OURS = {
    "libfuzzer": "fuzzwise.engines.libfuzzer.engine:ENGINE",
    "stock": "fuzzwise.engines.stock.engine:ENGINE",
    "black-box": "fuzzwise.engines.blackbox.engine:ENGINE",
    "python": "fuzzwise.engines.python.engine:ENGINE",
    "afl++": "fuzzwise.engines.aflplusplus.engine:ENGINE",
    "go": "fuzzwise.engines.go.engine:ENGINE",
}

USUAL = "libfuzzer"
"""The engine of what no other claims."""


@cache
def engines() -> dict[str, EntryPoint]:
    """Where each is; it is loaded when it is asked for."""
    known = ours()
    for entry in entry_points(group=GROUP):
        try:
            check_name(entry, entry.name, known, PLUGINS)
            known[entry.name] = entry
        except BadInput as problem:
            leave_out(str(problem))
    return known


def ours() -> dict[str, EntryPoint]:
    """Where those are that come with fuzzwise."""
    return {name: EntryPoint(name, value, GROUP) for name, value in _OURS.items()}


@cache
def engine_named(name: str) -> Engine:
    """The engine of that name; BadInput where it is a plug-in that cannot be used."""
    engine: Engine = load(engines()[name], PLUGINS)
    return engine


@cache
def usable_engines() -> dict[str, Engine]:
    """Every engine that can be loaded; a plug-in that cannot be is left out with a warning."""
    found: dict[str, Engine] = {}
    for name in engines():
        try:
            found[name] = engine_named(name)
        except BadInput as problem:
            leave_out(str(problem))
    return found


def claiming_engine(program: Path, in_command: bool = False) -> str | None:
    """The name of the engine that claims a program; the later in the list are asked first."""
    known = usable_engines()
    claimed = (name for name in reversed(known) if known[name].claims(program, in_command))
    return next(claimed, None)


def likely_engine(program: Path, in_command: bool = False) -> str:
    """The name of the engine that a program was made for."""
    return claiming_engine(program, in_command) or USUAL
