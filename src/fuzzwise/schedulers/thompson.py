"""Thompson sampling of bugs per second: a Gamma prior, Poisson bugs, and forgetting.

    B_i ← γ·B_i + new bugs,  S_i ← γ·S_i + seconds            (at every epoch of i)
    λ_i ~ Gamma(shape = a + B_i, rate = a/m + S_i),  m = (a + Σ new bugs)/Σ seconds
    choose the highest λ_i

New bugs of a configuration are Poisson with a rate that falls as its bugs are used up; the discount
γ forgets the time when it was higher (Raj and Kalyani 2017 discount Beta-Bernoulli sampling in the
same way). The prior has the strength of ``a`` bugs and the campaign's own mean rate m, so
that no unit of time is built in. Costs one Gamma draw for each configuration a choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    BELIEF,
    EPOCH_NEW_BUGS,
    EPOCH_SECONDS,
    OWN,
    choosing,
    learning,
)
from fuzzwise.schedulers.parameters import check_discount, check_positive
from fuzzwise.schedulers.selection import first_unstarted, highest

DISCOUNTED_BUGS = OWN
DISCOUNTED_SECONDS = OWN + 1

DISCOUNT, STRENGTH, ALL_BUGS, ALL_SECONDS = range(4)
"""In memory: γ, a, and the new bugs and seconds of all configurations."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    strength = memory[STRENGTH]
    if memory[ALL_SECONDS] > 0.0:
        prior_seconds = strength * memory[ALL_SECONDS] / (strength + memory[ALL_BUGS])
    else:
        prior_seconds = 1.0  # nothing took time yet: any unit gives the same choice
    for other in range(arms.shape[0]):
        if arms[other, AVAILABLE] != 0.0:
            drawn = rng.standard_gamma(strength + arms[other, DISCOUNTED_BUGS])
            arms[other, BELIEF] = drawn / (prior_seconds + arms[other, DISCOUNTED_SECONDS])
    return highest(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    memory[ALL_BUGS] += epoch[EPOCH_NEW_BUGS]
    memory[ALL_SECONDS] += epoch[EPOCH_SECONDS]
    discount = memory[DISCOUNT]
    arms[arm, DISCOUNTED_BUGS] = discount * arms[arm, DISCOUNTED_BUGS] + epoch[EPOCH_NEW_BUGS]
    arms[arm, DISCOUNTED_SECONDS] = discount * arms[arm, DISCOUNTED_SECONDS] + epoch[EPOCH_SECONDS]


@dataclass(frozen=True)
class Thompson(Policy):
    """Discounted Gamma-Poisson Thompson sampling; the defaults did best on synthetic logs."""

    discount: float = 0.999
    strength: float = 0.1
    name = "thompson"
    own_columns = 2
    functions = Functions(_choose, _learn)

    def __post_init__(self) -> None:
        check_discount("Thompson", "discount", self.discount)
        check_positive("Thompson", "strength", self.strength)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters, and nothing found in no time."""
        return np.array([self.discount, self.strength, 0.0, 0.0])
