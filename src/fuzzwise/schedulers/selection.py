"""Ways to pick a configuration from a column of numbers; the policies are built from them.

All of them look at available configurations only, add up in plain loops (the same additions in the
same order whether compiled or not) and draw the smallest number of uniforms. Those of the default
policy are without loops: a live campaign may have ten thousand targets and no compiler.
"""

from __future__ import annotations

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.kernel import AVAILABLE, STARTED, helper


@helper
def first_unstarted(arms: Floats) -> int:
    """The first available configuration that never got an epoch, or -1."""
    waiting = np.flatnonzero((arms[:, STARTED] == 0.0) & (arms[:, AVAILABLE] != 0.0))
    return int(waiting[0]) if len(waiting) > 0 else -1


@helper
def uniformly(arms: Floats, rng: np.random.Generator) -> int:
    """An available configuration, each with the same chance."""
    count = 0
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0:
            count += 1
    skip = int(rng.random() * count)
    last = -1
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0:
            last = arm
            if skip == 0:
                break
            skip -= 1
    return last


@helper
def in_proportion(arms: Floats, column: int, rng: np.random.Generator) -> int:
    """An available configuration with a chance in proportion to a column; uniform if all are 0."""
    total = 0.0
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0:
            total += arms[arm, column]
    if not total > 0.0:
        return uniformly(arms, rng)
    left = rng.random() * total
    last = -1
    for arm in range(arms.shape[0]):
        if arms[arm, AVAILABLE] != 0.0 and arms[arm, column] > 0.0:
            last = arm
            left -= arms[arm, column]
            if left < 0.0:
                break
    return last


@helper
def highest(arms: Floats, column: int, rng: np.random.Generator) -> int:
    """The available configuration with the highest value in a column; ties at random."""
    available = np.flatnonzero(arms[:, AVAILABLE] != 0.0)
    values = arms[:, column][available]
    winners = available[values == values.max()]
    if len(winners) == 1:
        return int(winners[0])
    return int(winners[int(rng.random() * len(winners))])
