"""Uniform-Random: every configuration with the same chance (FS §4.4)."""

# ruff: noqa: ARG001 — all functions that choose have one signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.beliefs import learn_nothing
from fuzzwise.schedulers.kernel import Choose, Learn, choosing
from fuzzwise.schedulers.selection import uniformly


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    return uniformly(arms, rng)


@dataclass(frozen=True)
class UniformRandom:
    """Each available configuration with the same chance, whatever the past."""

    name = "uniform-random"
    own_columns = 0

    @property
    def choose(self) -> Choose:
        """The function that chooses."""
        return _choose

    @property
    def learn(self) -> Learn:
        """The function that learns."""
        return learn_nothing

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """Nothing, in the one cell that compiled functions need."""
        return np.zeros(1)
