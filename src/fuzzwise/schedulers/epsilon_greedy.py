"""ε-Greedy: mostly the highest belief, sometimes anyone (FS §4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.beliefs import BELIEFS, BeliefName, check_belief, learn_belief
from fuzzwise.schedulers.kernel import BELIEF, choosing
from fuzzwise.schedulers.parameters import check_share
from fuzzwise.schedulers.selection import first_unstarted, highest, uniformly

EPSILON = 1
"""Where the memory holds ε; the number of the belief comes before it."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    if rng.random() < memory[EPSILON]:
        return uniformly(arms, rng)
    return highest(arms, BELIEF, rng)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Every configuration once; then uniform with probability ε, else the highest belief.

    Ties are broken at random, which makes the choice uniform as long as all beliefs are 0. The
    excerpt of FS gives no ε; 0.1 is the usual one.
    """

    belief: BeliefName = "rate"
    epsilon: float = 0.1
    functions = Functions(_choose, learn_belief)

    def __post_init__(self) -> None:
        check_belief(self.belief)
        check_share("ε-Greedy", "epsilon", self.epsilon)

    @property
    def name(self) -> str:
        """Its name without the kind of epoch."""
        return f"epsilon-greedy/{self.belief}"

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """Which belief it holds, and ε."""
        return np.array([float(BELIEFS[self.belief]), self.epsilon])
