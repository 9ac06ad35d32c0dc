"""Risk rate: the chance that the next run shows something new, per second (our own).

    Δ̂_i = (D_i + a) / (N ln N)          D_i = bugs new to the campaign + v · its other bugs
    belief_i = Δ̂_i · N/Time;  choose the highest, ties at random

Why: black-box runs are drawn independently, and bugs differ in probability by orders of magnitude.
If m bugs fall on every e-fold of probability, N runs have shown about m ln N of them, and the
chance that the next run shows another is Σ p (1−p)^N ≈ m/N: discoveries an e-fold of runs, divided
by the runs (the limit of the growth estimators for small exponents). So m̂ = (D + a)/ln N,
and N cancels against the speed: what is compared is discoveries a second with a prior, corrected
for how many runs they took. On synthetic logs the singletons f_1 in the place of D (they estimate
the same m with more noise: f_1 ≈ m, D ≈ m ln N) did worse, and neither f_1 nor the times of the
discoveries beside D helped; those logs have log-uniform probabilities, which is the model.

A live campaign knows more, and real programs run out of bugs. There, the bugs of the second half of
a target's runs, d, tell what it still has (the default estimator of the discovery probability looks
at the same half): as many are expected until its time has doubled, d/(Time · ln 2) a second now. Of
them, as many are new to the campaign as before: the share s = (D_i + a)/(all its bugs + a). The e
older bugs still count a little, w: a program that had many is more likely to have another. Where
coverage is seen, bugs are also expected to grow as the coverage does, in proportion:

    belief_i = (s·(d + w·e) + a)/(Time · ln 2) + (D_i + a) · R_i/C_i

R_i: inputs a second that show new coverage, by an estimator of the discovery probability; C_i: all
inputs that were kept because they did, those of the initial corpus included. R_i alone could not be
compared between targets: a large one shows new coverage all the time, a small one may show a bug
with every second discovery. R_i/C_i, the growth in the second to come, does not depend on how
many species there are to find; what a share of growth is worth in bugs is told by the bugs so far.
So large targets, small ones and black boxes compete in one currency: bugs a second.

Where a risk is accepted, a target that reaches it is retired and its time goes to the others; that
is worth κ of a bug, so κ/(seconds left until then) is added to its belief. Targets that are nearly
there are finished first.

In a live campaign the first turn of a target is an eighth of an epoch, and the next ones double:
bugs come with the logarithm of the time, so a short look at all targets tells most of what a long
one does.

a: what a configuration without bugs is credited with. It is all the exploration there is, and
enough: a/(Time ln N) falls with the time spent, so every configuration returns at some time. v: a
bug that another configuration had shown first says that this one is fertile, but also that others
may be first again.

Δ̂ is a rate of discovery under this prior, for ranking; to decide when to stop, take an estimator of
the residual risk with its interval. Before the third run, and without time, ln N is taken as 1 and
the belief as 0.
"""

# ruff: noqa: ARG001 — all functions that choose or learn have one signature

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    BUGS,
    DISCOVERY_RATE,
    KEPT,
    NEW_BUGS,
    RECENT_BUGS,
    RUNS,
    SECONDS,
    SECONDS_LEFT,
    choosing,
    learning,
)
from fuzzwise.schedulers.parameters import check_positive, check_share
from fuzzwise.schedulers.selection import first_unstarted, highest

PRIOR, DUPLICATES, RETIREMENT, OLD_BUGS = range(4)
"""In memory: a, v, κ and w."""


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    return highest(arms, BELIEF, rng)


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    used = arms[arm, SECONDS]
    if used > 0.0:
        own = arms[arm, NEW_BUGS]
        found = own + memory[DUPLICATES] * max(0.0, arms[arm, BUGS] - own)
        credit = found + memory[PRIOR]
        if arms[arm, RECENT_BUGS] > 0.0:
            share = credit / (arms[arm, BUGS] + memory[PRIOR])
            recent = arms[arm, RECENT_BUGS] - 1.0
            old = max(0.0, arms[arm, BUGS] - recent)
            expected = share * (recent + memory[OLD_BUGS] * old) + memory[PRIOR]
            belief = expected / (math.log(2.0) * used)
        else:
            belief = credit / max(1.0, math.log(max(1.0, arms[arm, RUNS]))) / used
        if arms[arm, KEPT] > 0.0:
            belief += credit * arms[arm, DISCOVERY_RATE] / arms[arm, KEPT]
        if arms[arm, SECONDS_LEFT] > 0.0:
            belief += memory[RETIREMENT] / arms[arm, SECONDS_LEFT]
        arms[arm, BELIEF] = belief


@dataclass(frozen=True)
class RiskRate(Policy):
    """The highest estimated chance of a new bug per second.

    ``prior`` is a, ``duplicates`` v, ``retirement`` κ, and ``old_bugs`` w.
    """

    prior: float = 0.25
    duplicates: float = 0.5
    retirement: float = 0.5
    old_bugs: float = 0.1
    name = "risk-rate"
    functions = Functions(_choose, _learn)
    first_turn = 1 / 8

    def __post_init__(self) -> None:
        check_positive("Risk rate", "prior", self.prior)
        check_share("Risk rate", "duplicates", self.duplicates)
        check_positive("Risk rate", "retirement", self.retirement)
        check_share("Risk rate", "old_bugs", self.old_bugs)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters."""
        return np.array([self.prior, self.duplicates, self.retirement, self.old_bugs])
