"""How a fuzz test of Go is fuzzed."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.starting import STARTUP


@dataclass(frozen=True)
class GoSettings:
    """The settings of a fuzz test.

    ``seconds`` and ``memory_mib`` are what one input may take, ``startup`` how many seconds it may
    be until the first one, without the time that the compiler takes. ``inputs``: the fuzzing ends
    there.
    """

    seconds: float = 10.0
    memory_mib: int = 2048
    inputs: int | None = None
    startup: float = STARTUP
