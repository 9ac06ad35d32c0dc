"""Weighted-Random: chances in proportion to a belief (FS §4.4)."""

# ruff: noqa: ARG001 — all functions that choose have one signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.beliefs import BELIEFS, BeliefName, check_belief, learn_belief
from fuzzwise.schedulers.kernel import BELIEF, choosing
from fuzzwise.schedulers.selection import first_unstarted, in_proportion


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    return in_proportion(arms, BELIEF, rng)


@dataclass(frozen=True)
class WeightedRandom(Policy):
    """Every configuration once; then with chance belief_i / Σ belief; uniform if all are 0."""

    belief: BeliefName = "rate"
    functions = Functions(_choose, learn_belief)

    def __post_init__(self) -> None:
        check_belief(self.belief)

    @property
    def name(self) -> str:
        """Its name without the kind of epoch."""
        return f"weighted-random/{self.belief}"

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """Which belief it holds."""
        return np.array([float(BELIEFS[self.belief])])
