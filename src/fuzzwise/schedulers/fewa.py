"""FEWA: filtering on expanding window averages, for arms that rot.

    for h = 1, 2, 4, … epochs:
        keep the configurations whose mean over their last h epochs may still be the highest:
            mean_i(h) + c_i(h) ≥ max_j (mean_j(h) − c_j(h))      (j among those kept so far)
        if one that is kept has fewer than 2h epochs, it gets the next one

with mean_i(h) = bugs_i(h)/seconds_i(h), c_i(h) = √(2 α σ² h ln t)/seconds_i(h). Source: Seznec,
Locatelli, Carpentier, Lazaric, Valko, *Rotting bandits are not harder than stochastic ones*,
AISTATS 2019, with its efficient windows. Adapted: the paper compares mean rewards an epoch, which
all have the same width c(h) = √(2 α σ² ln t/h), and filters at 2c; here means and widths are per
second. Of several that lack the next window the one with the fewest epochs is taken, ties at
random. A window that took no time has mean and width 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    BELIEF,
    choosing,
    helper,
)
from fuzzwise.schedulers.selection import first_unstarted, highest
from fuzzwise.schedulers.windows import (
    ALL_EPOCHS,
    ALPHA,
    BLOCKS,
    EPOCHS,
    LEVELS,
    SIGMA,
    WindowPolicy,
    learn_windows,
)

OUT = -np.inf
"""The belief in a configuration that was filtered out; those kept have minus their epochs."""

ROOT_2 = math.sqrt(2.0)


@helper
def _filter(arms: Floats, level: int, bonus: float) -> None:
    """Filter out those whose window of 2^level epochs cannot be the best."""
    bugs = BLOCKS + 4 * level
    best_low = -np.inf
    for arm in range(arms.shape[0]):
        if arms[arm, BELIEF] != OUT:
            seconds = arms[arm, bugs + 1]
            low = (arms[arm, bugs] - bonus) / seconds if seconds > 0.0 else 0.0
            best_low = max(best_low, low)
    for arm in range(arms.shape[0]):
        if arms[arm, BELIEF] != OUT:
            seconds = arms[arm, bugs + 1]
            high = (arms[arm, bugs] + bonus) / seconds if seconds > 0.0 else 0.0
            if high < best_low:
                arms[arm, BELIEF] = OUT


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    for other in range(arms.shape[0]):
        arms[other, BELIEF] = -arms[other, EPOCHS] if arms[other, AVAILABLE] != 0.0 else OUT
    logarithm = math.log(max(memory[ALL_EPOCHS], 1.0))
    bonus = memory[SIGMA] * math.sqrt(2.0 * memory[ALPHA] * logarithm)
    length = 1.0
    for level in range(LEVELS):
        fewest = highest(arms, BELIEF, rng)
        if arms[fewest, EPOCHS] < length:
            return fewest
        _filter(arms, level, bonus)
        bonus *= ROOT_2
        length *= 2.0
    return highest(arms, BELIEF, rng)


@dataclass(frozen=True)
class Fewa(WindowPolicy):
    """Filter with ever longer windows; α = 0.06 as in its author's own code."""

    alpha: float = 0.06
    name = "fewa"
    functions = Functions(_choose, learn_windows)
