"""Boian: discounted discoveries over discounted time, with several memories (2024).

    reward_γ ← γ·reward_γ + new bugs,  time_γ ← γ·time_γ + seconds,  for γ = 0.9, 0.99, 0.999
    at choice s: γ is the (s mod 3)-th; with probability ε_s anyone, else highest reward_γ/time_γ

Source: the Boian scheduler of *Fuzzing at Scale: The Untold Story of the Scheduler* (Nikolić and
Jain, 2024; arXiv 2406.18058), with new bugs in the place of new coverage; ``boian/coverage`` has
new coverage, as the source has. A configuration's sums shrink at its own epochs: shrinking both
sums of an idle one as well would not change their ratio. ε rises from 0.01 towards 0.75; the shape
of the rise is not in our source: here ε_s = 0.75 − 0.74·2^(−s/h), with h = ``half_life`` choices a
configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    EPOCH_NEW_BUGS,
    EPOCH_SECONDS,
    NEW_SPECIES,
    OWN,
    choosing,
    learning,
)
from fuzzwise.schedulers.parameters import check_discount, check_positive, check_share
from fuzzwise.schedulers.selection import first_unstarted, highest, uniformly

REWARDS = OWN
"""Three columns: the discounted new bugs for each discount."""
TIMES = OWN + 3
"""Three columns: the discounted seconds for each discount."""

CHOICES, FIRST_EPSILON, LAST_EPSILON, HALF_LIFE, DISCOUNTS = range(5)
"""In memory: choices made so far, then the parameters; the discounts are the last three cells."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    choices = memory[CHOICES]
    memory[CHOICES] += 1.0
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    last = memory[LAST_EPSILON]
    epsilon = last - (last - memory[FIRST_EPSILON]) * 2.0 ** (-choices / memory[HALF_LIFE])
    if rng.random() < epsilon:
        return uniformly(arms, rng)
    which = int(choices % 3.0)
    for other in range(arms.shape[0]):
        time = arms[other, TIMES + which]
        arms[other, BELIEF] = arms[other, REWARDS + which] / time if time > 0.0 else 0.0
    return highest(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    for which in range(3):
        discount = memory[DISCOUNTS + which]
        arms[arm, REWARDS + which] = discount * arms[arm, REWARDS + which] + epoch[EPOCH_NEW_BUGS]
        arms[arm, TIMES + which] = discount * arms[arm, TIMES + which] + epoch[EPOCH_SECONDS]


@learning
def _learn_coverage(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    for which in range(3):
        discount = memory[DISCOUNTS + which]
        arms[arm, REWARDS + which] = discount * arms[arm, REWARDS + which] + arms[arm, NEW_SPECIES]
        arms[arm, TIMES + which] = discount * arms[arm, TIMES + which] + epoch[EPOCH_SECONDS]


@dataclass(frozen=True)
class Boian(Policy):
    """Discounted new bugs a second, the discount rotating, ε-greedy with a rising ε."""

    discounts: tuple[float, float, float] = (0.9, 0.99, 0.999)
    first_epsilon: float = 0.01
    last_epsilon: float = 0.75
    half_life: float = 1000.0
    name = "boian"
    own_columns = 6
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        if len(self.discounts) != 3:
            raise BadInput(f"Boian: {len(self.discounts)} discounts were given; give three.")
        for discount in self.discounts:
            check_discount("Boian", "discounts", discount)
        check_share("Boian", "first_epsilon", self.first_epsilon)
        check_share("Boian", "last_epsilon", self.last_epsilon)
        check_positive("Boian", "half_life", self.half_life)

    def memory(self, count: int) -> Floats:
        """No choices yet, and the parameters."""
        rise = self.half_life * count
        return np.array([0.0, self.first_epsilon, self.last_epsilon, rise, *self.discounts])


@dataclass(frozen=True)
class BoianCoverage(Boian):
    """The same by new coverage a second."""

    name = "boian/coverage"
    needs_coverage = True
    functions = Functions(_choose, _learn_coverage)
