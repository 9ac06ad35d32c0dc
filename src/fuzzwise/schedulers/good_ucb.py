"""Good-UCB: the Good-Turing estimate of what is still unseen, plus optimism.

    index_i = (f_1/N + C·√(ln(4t)/N)) · N/Time

f_1 are the bugs that the configuration has shown exactly once, N its runs, t the runs of all.
Source: Bubeck, Ernst, Garivier, *Optimal Discovery with Probabilistic Expert Advice*, JMLR 14
(2013). C is a parameter, 1/2 by default. Adapted: the paper's index is per run; multiplied by the
runs per second it compares configurations whose runs differ in cost. A configuration without runs
or time has index 0. With bugs as rare as 1 in 10^5 runs, the second term dominates for long: the
bound is for any distribution, and pays for that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    EPOCH_RUNS,
    OWN,
    RUNS,
    SECONDS,
    SINGLETONS,
    choosing,
    learning,
)
from fuzzwise.schedulers.parameters import check_not_negative
from fuzzwise.schedulers.selection import first_unstarted, highest

ESTIMATE = OWN
"""f_1/Time: the Good-Turing estimate per second."""
WIDTH = OWN + 1
"""√N/Time: what the optimism is multiplied by, per second."""

OPTIMISM, ALL_RUNS = range(2)
"""In memory: C, and the runs of all configurations."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    bonus = memory[OPTIMISM] * math.sqrt(math.log(4.0 * max(memory[ALL_RUNS], 1.0)))
    for other in range(arms.shape[0]):
        arms[other, BELIEF] = arms[other, ESTIMATE] + bonus * arms[other, WIDTH]
    return highest(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    memory[ALL_RUNS] += epoch[EPOCH_RUNS]
    n = arms[arm, RUNS]
    used = arms[arm, SECONDS]
    if n > 0.0 and used > 0.0:
        arms[arm, ESTIMATE] = arms[arm, SINGLETONS] / used
        arms[arm, WIDTH] = math.sqrt(n) / used


@dataclass(frozen=True)
class GoodUcb(Policy):
    """The highest optimistic Good-Turing estimate per second; ``optimism`` is C."""

    optimism: float = 0.5
    name = "good-ucb"
    own_columns = 2
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        check_not_negative("Good-UCB", "optimism", self.optimism)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """C, and no runs yet."""
        return np.array([self.optimism, 0.0])
