"""ClusterFuzz's weights: targets are drawn by how their runs went.

    weight = 5 for a target that is new; else the least of
             1
             0.75, where its coverage is flat
             1 − (1 − m) · (share of its epochs that were so), for each way to fail:
                 crashes m = 0.5, want of time or memory m = 0.25, crashes at the start m = 0.1
    chosen in proportion to the weight

Source: the weights that ClusterFuzz gives its fuzz targets from their statistics, in our own
terms: it looks at days and weeks, we at epochs. The rule that raises a weight comes before those
that lower it, and of these only the lowest counts. New is a target with fewer than ``new`` epochs,
flat one whose coverage grew by less than 1 % in its latest epoch; an epoch that crashed after at
most ``start`` runs crashed at its start. Its weight for slow units is not here: an epoch does not
tell them. Recordings of growth tell the first crash of each bug only, and nothing of want.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    EPOCH_CRASHES,
    EPOCH_RUNS,
    EPOCH_STALLS,
    NEW_SPECIES,
    OWN,
    SPECIES,
    choosing,
    helper,
    learning,
)
from fuzzwise.schedulers.selection import first_unstarted, in_proportion

EPOCHS, CRASHED, STALLED, AT_START = OWN, OWN + 1, OWN + 2, OWN + 3
"""The epochs that a target has had; and of these, those that crashed, that wanted for time or
memory, and that crashed at their start."""

FLAT = 0.01
"""The share of its coverage that a target must add in an epoch not to be flat."""

NEW, START = range(2)
"""In memory: until which epoch a target is new, and how many runs are its start."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:  # noqa: ARG001
    arm = first_unstarted(arms)
    return arm if arm >= 0 else in_proportion(arms, BELIEF, rng)


@helper
def _lowered(arms: Floats, arm: int, ways: int, least: float) -> float:
    """The weight of a target whose epochs fail in some way: ``least`` where all of them do."""
    return float(1.0 - (1.0 - least) * arms[arm, ways] / arms[arm, EPOCHS])


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    arms[arm, EPOCHS] += 1.0
    if epoch[EPOCH_STALLS] > 0.0:
        arms[arm, STALLED] += 1.0
    if epoch[EPOCH_CRASHES] > epoch[EPOCH_STALLS]:
        arms[arm, CRASHED] += 1.0
        if epoch[EPOCH_RUNS] <= memory[START]:
            arms[arm, AT_START] += 1.0
    weight = 0.75 if arms[arm, NEW_SPECIES] < FLAT * arms[arm, SPECIES] else 1.0
    weight = min(weight, _lowered(arms, arm, CRASHED, 0.5))
    weight = min(weight, _lowered(arms, arm, STALLED, 0.25))
    weight = min(weight, _lowered(arms, arm, AT_START, 0.1))
    arms[arm, BELIEF] = 5.0 if arms[arm, EPOCHS] < memory[NEW] else weight


@dataclass(frozen=True)
class ClusterFuzz(Policy):
    """Drawn by weights that new, flat and failing targets get."""

    new: float = 3
    start: float = 10
    name = "clusterfuzz"
    own_columns = 4
    needs_coverage = True
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        if self.new < 0 or self.start < 0:
            raise BadInput("ClusterFuzz: new and start are numbers of epochs and runs, 0 or more.")

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters."""
        return np.array([self.new, self.start], float)
