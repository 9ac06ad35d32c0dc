"""RAW-UCB: an upper bound that looks back as far as is useful, for arms that rot.

    index_i = min over windows h of  (bugs_i(h) + √(2 α σ² h ln t)) / seconds_i(h)

bugs_i(h) and seconds_i(h) are the new bugs and the seconds of the last h epochs of i, t all epochs.
A long window is precise, a short one up to date; as rewards only fall, each bound is valid and the
least of them is the best. Source: Seznec, Ménard, Lazaric, Valko, *A single algorithm for both
restless and rested rotting bandits*, AISTATS 2020, with windows of 1, 2, 4, … epochs. Adapted: the
paper's index is a mean reward an epoch plus √(2 α σ² ln t/h); multiplied by h and divided by the
seconds of the window it is per second. σ bounds the noise of an epoch's new bugs; windows that took
no time are left out, and without any the index is 0.
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
)
from fuzzwise.schedulers.selection import first_unstarted, highest
from fuzzwise.schedulers.windows import (
    ALL_EPOCHS,
    ALPHA,
    BLOCKS,
    EPOCHS,
    SIGMA,
    WindowPolicy,
    complete_levels,
    learn_windows,
)

ROOT_2 = math.sqrt(2.0)


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    logarithm = math.log(max(memory[ALL_EPOCHS], 1.0))
    width = memory[SIGMA] * math.sqrt(2.0 * memory[ALPHA] * logarithm)
    for other in range(arms.shape[0]):
        if arms[other, AVAILABLE] == 0.0:
            continue
        lowest = np.inf
        bonus = width
        for level in range(complete_levels(arms[other, EPOCHS])):
            seconds = arms[other, BLOCKS + 4 * level + 1]
            if seconds > 0.0:
                lowest = min(lowest, (arms[other, BLOCKS + 4 * level] + bonus) / seconds)
            bonus *= ROOT_2
        arms[other, BELIEF] = lowest if lowest < np.inf else 0.0
    return highest(arms, BELIEF, rng)


@dataclass(frozen=True)
class RawUcb(WindowPolicy):
    """The highest of the least upper bounds; α = 1.4 as in its author's own code."""

    alpha: float = 1.4
    name = "raw-ucb"
    functions = Functions(_choose, learn_windows)
