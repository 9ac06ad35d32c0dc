"""New bugs and seconds of a configuration's last 1, 2, 4, … epochs, for the rotting bandits.

For each length 2^j two blocks are kept: the newest *complete* one, and the one that is filling up;
when the latter has 2^j epochs it takes the former's place. That is the efficient form of the papers
(window lengths growing by a factor of two, memory logarithmic in the epochs): the complete block is
at most 2^j epochs old, and as discoveries only get rarer, an old block errs on the side of
optimism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Policy
from fuzzwise.schedulers.kernel import EPOCH_NEW_BUGS, EPOCH_SECONDS, OWN, helper, learning
from fuzzwise.schedulers.parameters import check_not_negative

EPOCHS = OWN
"""Finished epochs of the configuration."""
BLOCKS = OWN + 1
"""Four columns for each length: new bugs and seconds of the complete block, then of the filling."""

LEVELS = 24
"""Lengths 1 … 2^23 epochs; a configuration with more keeps its last block of 2^23."""

OWN_COLUMNS = 1 + 4 * LEVELS

ALPHA, SIGMA, ALL_EPOCHS = range(3)
"""In memory: the parameters, and the epochs of all configurations."""


@helper
def complete_levels(epochs: float) -> int:
    """How many lengths have a complete block after that many epochs."""
    levels = 0
    length = 1.0
    while length <= epochs and levels < LEVELS:
        levels += 1
        length *= 2.0
    return levels


@helper
def add_epoch(arms: Floats, arm: int, new_bugs: float, seconds: float) -> None:
    """Put a finished epoch into the blocks of every length."""
    arms[arm, EPOCHS] += 1.0
    epochs = arms[arm, EPOCHS]
    length = 1.0
    for level in range(LEVELS):
        block = BLOCKS + 4 * level
        arms[arm, block + 2] += new_bugs
        arms[arm, block + 3] += seconds
        if epochs % length == 0.0:
            arms[arm, block] = arms[arm, block + 2]
            arms[arm, block + 1] = arms[arm, block + 3]
            arms[arm, block + 2] = 0.0
            arms[arm, block + 3] = 0.0
        length *= 2.0


@learning
def learn_windows(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    """Count the epoch, and put it into the blocks."""
    memory[ALL_EPOCHS] += 1.0
    add_epoch(arms, arm, epoch[EPOCH_NEW_BUGS], epoch[EPOCH_SECONDS])


@dataclass(frozen=True)
class WindowPolicy(Policy):
    """A policy that compares windows; the noise of an epoch's new bugs is sigma.

    σ = 0.1 is that of epochs of which one in a hundred finds a bug.
    """

    alpha: float
    sigma: float = 0.1
    own_columns = OWN_COLUMNS

    def __post_init__(self) -> None:
        check_not_negative(self.name, "alpha", self.alpha)
        check_not_negative(self.name, "sigma", self.sigma)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters, and no epochs yet."""
        return np.array([self.alpha, self.sigma, 0.0])
