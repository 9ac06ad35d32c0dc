"""HypoFuzz's choice of a test: softmax over the expected discoveries a second.

    value_i = 1/(runs since the last discovery of i) · (runs of i/seconds of i)
    share_i = exp(value_i)/Σ_j exp(value_j),  weight_i = max(share_i, floor),  chosen in proportion

Source: HypoFuzz (Hatfield-Dodds), studied, not copied. Discoveries are bugs new to the
configuration; those of ``hypofuzz/coverage`` are new coverage, as in HypoFuzz itself. After an
epoch that showed a bug the first factor is 1; of coverage it is known which run was the last to
discover something, so that nothing is lost between epochs. With no time used the value is 1. The
softmax has no temperature: values far below 1 a second, as bugs have them, come out almost equal,
which is what the method does.
"""

# ruff: noqa: ARG001 — all functions that choose or learn have one signature

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    BELIEF,
    OWN,
    RUNS,
    RUNS_SINCE,
    RUNS_SINCE_SPECIES,
    SECONDS,
    choosing,
    learning,
)
from fuzzwise.schedulers.parameters import check_share
from fuzzwise.schedulers.selection import first_unstarted, in_proportion

VALUE = OWN
"""Expected discoveries a second."""

FLOOR = 0
"""Where the memory holds the smallest share."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    top = -np.inf
    for other in range(arms.shape[0]):
        if arms[other, AVAILABLE] != 0.0 and arms[other, VALUE] > top:
            top = arms[other, VALUE]
    total = 0.0
    for other in range(arms.shape[0]):
        if arms[other, AVAILABLE] != 0.0:
            arms[other, BELIEF] = math.exp(arms[other, VALUE] - top)
            total += arms[other, BELIEF]
    for other in range(arms.shape[0]):
        if arms[other, AVAILABLE] != 0.0:
            arms[other, BELIEF] = max(arms[other, BELIEF] / total, memory[FLOOR])
    return in_proportion(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    since = arms[arm, RUNS_SINCE]
    per_run = 1.0 / since if since > 0.0 else 1.0
    used = arms[arm, SECONDS]
    arms[arm, VALUE] = per_run * arms[arm, RUNS] / used if used > 0.0 else 1.0


@learning
def _learn_coverage(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    since = arms[arm, RUNS_SINCE_SPECIES]
    per_run = 1.0 / since if since > 0.0 else 1.0
    used = arms[arm, SECONDS]
    arms[arm, VALUE] = per_run * arms[arm, RUNS] / used if used > 0.0 else 1.0


@dataclass(frozen=True)
class HypoFuzz(Policy):
    """Softmax over expected discoveries a second, with a floor under every share."""

    floor: float = 0.01
    name = "hypofuzz"
    own_columns = 1
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        check_share("HypoFuzz", "floor", self.floor)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The floor."""
        return np.array([self.floor])


@dataclass(frozen=True)
class HypoFuzzCoverage(HypoFuzz):
    """The same by discoveries of coverage."""

    name = "hypofuzz/coverage"
    needs_coverage = True
    functions = Functions(_choose, _learn_coverage)
