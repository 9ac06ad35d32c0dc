"""CERT BFF's choice of a seed file: Laplace's law of succession as a weight.

    weight_i = (s + 1)/(max(t, s) + 2),  chosen in proportion

s are the distinct bugs ("uniques") of the configuration, t its runs. BFF 2.x
calls it a Bayesian multi-armed bandit. A configuration without runs weighs 1/2, far more than any
that was tried for an epoch, so that no separate first round is needed. Bugs per *run*: it does not
know that runs differ in cost, which is what FS improves on.
"""

# ruff: noqa: ARG001 — all functions that choose or learn have one signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    BUGS,
    RUNS,
    choosing,
    learning,
)
from fuzzwise.schedulers.selection import in_proportion

UNTRIED = 0.5


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    for arm in range(arms.shape[0]):
        if arms[arm, BELIEF] == 0.0:  # no result of it yet: a weight is never 0
            arms[arm, BELIEF] = UNTRIED
    return in_proportion(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    successes = arms[arm, BUGS]
    arms[arm, BELIEF] = (successes + 1.0) / (max(arms[arm, RUNS], successes) + 2.0)


@dataclass(frozen=True)
class Bff(Policy):
    """Chances in proportion to (s + 1)/(max(t, s) + 2)."""

    name = "bff"
    functions = Functions(_choose, _learn)
