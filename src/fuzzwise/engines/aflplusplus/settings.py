"""How a target is fuzzed by AFL++."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.starting import STARTUP


@dataclass(frozen=True)
class AflSettings:
    """The settings of a target of AFL++.

    ``hang`` is after how many seconds an input counts as a hang; ``memory_mib`` 0: no limit.
    ``options`` are words for afl-fuzz; ``inputs`` is where it is to pause;
    ``startup`` is how many seconds the fork server has to answer.
    """

    hang: float = 1.0
    memory_mib: int = 2048
    max_length: int | None = None
    options: tuple[str, ...] = ()
    per_seed: bool = False
    species: str = "feature"
    inputs: int | None = None
    startup: float = STARTUP
