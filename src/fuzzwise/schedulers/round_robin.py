"""Round-Robin: everyone in turn (FS §4.4)."""

# ruff: noqa: ARG001 — all functions that choose have one signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.beliefs import learn_nothing
from fuzzwise.schedulers.kernel import AVAILABLE, choosing

CURSOR = 0
"""Where the memory holds the configuration whose turn is next."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    count = arms.shape[0]
    arm = int(memory[CURSOR])
    for _ in range(count):
        if arms[arm, AVAILABLE] != 0.0:
            break
        arm = arm + 1 if arm + 1 < count else 0
    memory[CURSOR] = arm + 1 if arm + 1 < count else 0
    return arm


@dataclass(frozen=True)
class RoundRobin(Policy):
    """The configurations in a fixed order, again and again; unavailable ones are passed over.

    No deterministic online algorithm has a better competitive ratio than K, the number of
    configurations, and this one attains it (FS §4).
    """

    name = "round-robin"
    functions = Functions(_choose, learn_nothing)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The cursor, at the first configuration."""
        return np.zeros(1)
