"""ClusterFuzz's weights: targets are drawn by how their latest runs went.

    weight = 5 for a target that is new; else the least that holds of 1, 0.75 for one whose coverage
             is flat, 0.5 for one that crashes, 0.1 for one whose start crashes
    chosen in proportion to the weight

Source: the weights that ClusterFuzz gives its fuzz targets from their statistics, in our own
terms: it looks at days and weeks, we at epochs. The rule that raises a weight comes before those
that lower it, and of these only the lowest counts. New is a target with fewer than ``new`` epochs,
flat one whose coverage grew by less than 1 % in its latest epoch; crashing one that showed a bug in
its latest epoch, and one that showed it within ``start`` runs crashes at its start. Its weights
for timeouts, for want of memory and for slow units (0.25 each) are not here: an epoch does not tell
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    EPOCH_BUGS,
    EPOCH_RUNS,
    NEW_SPECIES,
    OWN,
    SPECIES,
    choosing,
    learning,
)
from fuzzwise.schedulers.selection import first_unstarted, in_proportion

EPOCHS = OWN
"""The epochs that a target has had."""

FLAT = 0.01
"""The share of its coverage that a target must add in an epoch not to be flat."""

NEW, START = range(2)
"""In memory: until which epoch a target is new, and how many runs are its start."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:  # noqa: ARG001
    arm = first_unstarted(arms)
    return arm if arm >= 0 else in_proportion(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    arms[arm, EPOCHS] += 1.0
    weight = 1.0
    if arms[arm, NEW_SPECIES] < FLAT * arms[arm, SPECIES]:
        weight = 0.75
    if epoch[EPOCH_BUGS] > 0.0:
        weight = 0.1 if epoch[EPOCH_RUNS] <= memory[START] else 0.5
    arms[arm, BELIEF] = 5.0 if arms[arm, EPOCHS] < memory[NEW] else weight


@dataclass(frozen=True)
class ClusterFuzz(Policy):
    """Drawn by weights that new, flat and crashing targets get."""

    new: float = 3
    start: float = 10
    name = "clusterfuzz"
    own_columns = 1
    needs_coverage = True
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        if self.new < 0 or self.start < 0:
            raise BadInput("ClusterFuzz: new and start are numbers of epochs and runs, 0 or more.")

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters."""
        return np.array([self.new, self.start], float)
