"""What coverage, bugs and retired targets are worth together, counted in bugs.

    worth = bugs + p · new species + κ · retired targets,   p = a · log₂(T) / S

It is the currency of ``risk-rate``, held still: a target that shows no bug is credited with ``a``
of one until its time has doubled, and earns that by what it covers. S: the species that a target
of the recording shows beyond its initial corpus, in the mean; T: how long it was recorded, in
seconds, the first of which is a look, so that log₂(T) is how often its time has doubled since. So
the average target is worth a bug for every 1/a doublings, and a species is worth the same in every
target. κ is what the scheduler takes a retired target to be worth.

Limits: the price is one of the recording, so that worths of two recordings cannot be compared.
Nobody knows what a species is worth in bugs; this is what the default scheduler acts by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fuzzwise.lab.growth.recording import SPECIES, GrowthRecording
from fuzzwise.schedulers.risk_rate import RiskRate


class Prices(NamedTuple):
    """In bugs: a new species, and a target whose risk is accepted."""

    species: float
    retired: float


def prices(recording: GrowthRecording) -> Prices:
    """Those of a recording; a species is worth nothing where none is new."""
    default = RiskRate()
    shown = [
        np.mean([one.table[SPECIES, -1] - one.table[SPECIES, 0] for one in many])
        for many in recording.repeats
    ]
    average = float(np.mean(shown))
    doublings = max(1.0, math.log2(max(1.0, recording.shortest_seconds)))
    species = default.prior * doublings / average if average > 0 else 0.0
    return Prices(species, default.retirement)
