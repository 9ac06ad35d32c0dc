"""All engines by name. A new one is a module with an ``ENGINE``, and its line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from fuzzwise.engines.engine import Engine

ENGINES = {
    "libfuzzer": "fuzzwise.engines.libfuzzer.engine",
    "black-box": "fuzzwise.engines.blackbox.engine",
    "python": "fuzzwise.engines.python.engine",
    "afl++": "fuzzwise.engines.aflplusplus.engine",
}
"""The module of each, which is loaded when it is asked for."""

USUAL = "libfuzzer"
"""The engine of what no other claims."""


@cache
def engine_named(name: str) -> Engine:
    """The engine of that name."""
    engine: Engine = import_module(ENGINES[name]).ENGINE
    return engine


def likely_engine(program: Path, in_command: bool = False) -> str:
    """The name of the engine that a program was made for; the later in the list are asked first."""
    claimed = (name for name in reversed(ENGINES) if engine_named(name).claims(program, in_command))
    return next(claimed, USUAL)
