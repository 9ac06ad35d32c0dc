"""Coverage rate: whoever saw most new coverage a second in its latest epoch.

    belief_i = species that the latest epoch of i was the first to see / its seconds
    choose the highest; with probability ε, and where all are 0, anyone

What people build first when Round-Robin wastes their time. It forgets everything but one epoch, so
that a target whose latest epoch was empty waits for ε to come back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import BELIEF, EPOCH_SECONDS, NEW_SPECIES, choosing, learning
from fuzzwise.schedulers.parameters import check_share
from fuzzwise.schedulers.selection import first_unstarted, highest, uniformly

EPSILON = 0
"""Where the memory holds ε."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    if rng.random() < memory[EPSILON]:
        return uniformly(arms, rng)
    return highest(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:  # noqa: ARG001
    seconds = epoch[EPOCH_SECONDS]
    arms[arm, BELIEF] = arms[arm, NEW_SPECIES] / seconds if seconds > 0.0 else 0.0


@dataclass(frozen=True)
class CoverageRate(Policy):
    """The most new coverage a second in the latest epoch, ε-greedy."""

    epsilon: float = 0.1
    name = "coverage-rate"
    needs_coverage = True
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        check_share("Coverage rate", "epsilon", self.epsilon)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameter."""
        return np.array([self.epsilon])
