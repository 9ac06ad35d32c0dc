"""How a harness is fuzzed by libFuzzer."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.starting import STARTUP


@dataclass(frozen=True)
class LibFuzzerSettings:
    """The settings of a libFuzzer target, and of a Python one, which ``python`` runs.

    ``seconds`` and ``memory_mib`` are what one input may take, ``startup`` how many seconds it may
    be until the first one. ``options`` are words for libFuzzer.
    ``measure``: the true discovery probability is measured at each data point; ``per_seed``: all
    counts of each seed are kept; ``inputs``: the fuzzing ends there.
    """

    seconds: float = 10.0
    memory_mib: int = 2048
    max_length: int | None = None
    options: tuple[str, ...] = ()
    schedule: str = "fresh"
    species: str = "feature"
    measure: bool = False
    per_seed: bool = False
    inputs: int | None = None
    python: str | None = None
    startup: float = STARTUP
