"""New bugs and seconds of a configuration's last 1, 2, 4, … epochs, for the rotting bandits.

For each length 2^j two blocks are kept: the newest *complete* one, and the one that is filling up;
when the latter has 2^j epochs it takes the former's place. That is the efficient form of the papers
(window lengths growing by a factor of two, memory logarithmic in the epochs): the complete block is
at most 2^j epochs old, and as discoveries only get rarer, an old block errs on the side of
optimism.
"""

from __future__ import annotations

from fuzzwise.model import Floats
from fuzzwise.schedulers.kernel import OWN, helper

EPOCHS = OWN
"""Finished epochs of the configuration."""
BLOCKS = OWN + 1
"""Four columns for each length: new bugs and seconds of the complete block, then of the filling."""

LEVELS = 24
"""Lengths 1 … 2^23 epochs; a configuration with more keeps its last block of 2^23."""

OWN_COLUMNS = 1 + 4 * LEVELS


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
