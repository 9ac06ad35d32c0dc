"""How a program that takes libFuzzer's command line is fuzzed."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.starting import STARTUP


@dataclass(frozen=True)
class StockSettings:
    """The settings of a stock target.

    ``seconds`` and ``memory_mib`` are what one input may take, ``startup`` how many seconds it may
    be until the first one. ``options`` are words for libFuzzer; ``inputs``: the fuzzing ends there.
    """

    seconds: float = 10.0
    memory_mib: int = 2048
    max_length: int | None = None
    options: tuple[str, ...] = ()
    inputs: int | None = None
    startup: float = STARTUP
