"""EXP3.S.1: a bandit for rewards that an adversary may choose (Auer et al. 2002; FS §4.4).

    EXP3.S      p_i = (1−γ) w_i/W + γ/K;  draw i;  reward x;  x̂_i = x/p_i, x̂_j = 0 for j ≠ i
                w_j ← w_j·exp(γ x̂_j/K) + (e·α/K)·W,   W the sum of the weights before the update
    EXP3.S.1    for r = 0, 1, 2, …: T_r = 2^r; restart EXP3.S (all w = 1) for T_r steps
                with α = 1/T_r and γ = min{1, √(K ln(K T_r)/T_r)}

The reward is 1 if the epoch found a bug that is new to the campaign, else 0.

Where the paper says nothing: W and K in p_i are those of the *available* configurations, so that
the chances add up to 1 when some are busy or retired; γ, α and the update keep the K of all. A step
ends when its result arrives. Results may be late: x̂ uses the probability with which the
configuration was drawn last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import AVAILABLE, EPOCH_NEW_BUGS, OWN, choosing, helper, learning

WEIGHT = OWN
"""w_i."""
PROBABILITY = OWN + 1
"""p_i at the time the configuration was last drawn."""

GAMMA, ALPHA, LENGTH, STEP, TOTAL = range(5)
"""In memory: γ, α and T_r of the current restart, its finished steps, and W."""

TOO_LARGE = 2.0**500
SMALLER = 2.0**-500


@helper
def _restart(arms: Floats, memory: Floats, length: float) -> None:
    count = float(arms.shape[0])
    memory[LENGTH] = length
    memory[STEP] = 0.0
    memory[ALPHA] = 1.0 / length
    memory[GAMMA] = min(1.0, math.sqrt(count * math.log(count * length) / length))
    memory[TOTAL] = count
    for arm in range(arms.shape[0]):
        arms[arm, WEIGHT] = 1.0


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    if memory[LENGTH] == 0.0:
        _restart(arms, memory, 1.0)
    available = 0
    total = 0.0
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0:
            available += 1
            total += arms[arm, WEIGHT]
    gamma = memory[GAMMA]
    slope = (1.0 - gamma) / total
    floor = gamma / available
    left = rng.random()
    chosen = -1
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0:
            chosen = arm
            left -= slope * arms[arm, WEIGHT] + floor
            if left < 0.0:
                break
    arms[chosen, PROBABILITY] = slope * arms[chosen, WEIGHT] + floor
    return chosen


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    memory[STEP] += 1.0
    if memory[STEP] >= memory[LENGTH]:
        _restart(arms, memory, 2.0 * memory[LENGTH])
        return
    count = float(arms.shape[0])
    if epoch[EPOCH_NEW_BUGS] > 0.0:
        estimate = 1.0 / arms[arm, PROBABILITY]
        grown = arms[arm, WEIGHT] * math.exp(memory[GAMMA] * estimate / count)
    else:
        grown = arms[arm, WEIGHT]
    share = math.e * memory[ALPHA] / count * memory[TOTAL]
    arms[arm, WEIGHT] = grown
    total = 0.0
    for other in range(arms.shape[0]):
        arms[other, WEIGHT] += share
        total += arms[other, WEIGHT]
    if total > TOO_LARGE:  # a power of two: no weight changes but for its exponent
        for other in range(arms.shape[0]):
            arms[other, WEIGHT] *= SMALLER
        total *= SMALLER
    memory[TOTAL] = total


@dataclass(frozen=True)
class Exp3S1(Policy):
    """EXP3.S.1, without parameters: the restarts set them."""

    name = "exp3.s.1"
    own_columns = 2
    functions = Functions(_choose, _learn)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """Before the first restart, which the first choice makes."""
        return np.zeros(5)
