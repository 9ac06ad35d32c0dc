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
older bugs still count a little, w: a program that had many is more likely to have another.

A target that has shown no bug is credited with a of one until its time has doubled. Where coverage
is seen, it says which of them earns the credit. In an e-fold of its time the average target shows
G new species, for the same credit; so one new species is worth a/(G ln 2) of a bug, and

    belief_i = (s·(d + w·e) + h·a)/(Time · ln 2) + (1−h) · a/(G ln 2) · g_i · (D_i + k)/(E_i + k)

g_i: new species a second, those of later epochs counted more (by the square of the time at which
they came); after a first epoch, which has the species of the initial corpus in it, 2.5 times the
discoveries that are expected a second. G = the mean of g_j · Time_j over the targets. So between
targets without bugs the time goes where most new coverage is to be had, and the sum of all credits
stays what it was. E_i: the bugs that its size would have at the campaign's bugs a species; a target
that has shown more of them is likely to go on so, whether it is large or small. As long as there
are no bugs, that factor is 1. It is the mean of a Gamma posterior: k expected bugs of its own have
to be seen before a target is taken to be as it is, and not as all are. With k = 1, one early bug in
a small target says little.

h: the part of the credit that all targets get alike. A target that grows slowly now may only be
starting, and bugs may hide where nothing grows; h is what it costs to see. It keeps every target's
time at about h of an equal share, at least. Replayed on targets that were set apart for choosing,
less than a tenth brings hardly more coverage, and half, as it was before, clearly less.

So without bugs the species of all targets together are maximised. Two others maximise something
else. ``risk-rate/proportion``: the sum of the logarithms of species, so that small targets count as
much as large ones; g_i is then the growth in proportion. ``risk-rate/retirement``: how many targets
are below their accepted risk; κ is then large.

Where a risk is accepted, a target that reaches it is retired and its time goes to the others; that
is worth κ of a bug, so κ/(seconds left until then) is added to its belief. Targets that are nearly
there are finished first. κ = a: as much as a target without bugs is credited with until its time
has doubled, which is about the time that goes free. Replayed with risks that are accepted, on the
targets set apart for choosing, twice as much put the coverage of all of them below Round-Robin's
for a while, and less retired clearly fewer targets.

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

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.kernel import (
    BELIEF,
    BUGS,
    DISCOVERY_RATE,
    EPOCH_SECONDS,
    KEPT,
    NEW_BUGS,
    OWN,
    RECENT_BUGS,
    RUNS,
    SECONDS,
    SECONDS_LEFT,
    SPECIES,
    choosing,
    helper,
    learning,
)
from fuzzwise.schedulers.parameters import check_positive, check_share
from fuzzwise.schedulers.selection import first_unstarted, highest

PRIOR, DUPLICATES, RETIREMENT, OLD_BUGS, EVEN, ALIKE, IN_PROPORTION = range(7)
"""In memory: a, v, κ, w, h, k, and 1 where growth counts in proportion."""
TARGETS, GROWTH, ALL_BUGS, ALL_SPECIES = range(7, 11)
"""In memory, over the targets of which coverage is seen: how many they are, the sums of g · Time,
of the bugs as they count, and of the species."""
MEMORY = 11

EACH = 2.5
"""Species that a discovery shows: 1.2 to 4.1 in ten minutes of real targets, 2.2 in the median, and
somewhat more in their first seconds."""

NOVEL, LATELY = OWN, OWN + 1
"""Species that were new, and seconds, those of long ago counted less."""
SIZE, FOUND = OWN + 2, OWN + 3
"""Species, or inputs kept where these are not told; and bugs, as they count."""
GAIN, PART = OWN + 4, OWN + 5
"""g, and its part in the sum of g · Time; 0 where no coverage is seen."""
SURE = OWN + 6
"""What is believed of it whatever the others show."""


@helper
def _price(memory: Floats) -> float:
    """What a new species is worth in bugs: (1−h)·a/(G ln 2)."""
    if not memory[GROWTH] > 0.0:
        return 0.0
    usual = memory[GROWTH] / memory[TARGETS] * math.log(2.0)
    return float((1.0 - memory[EVEN]) * memory[PRIOR] / usual)


@helper
def _usual_bugs(memory: Floats) -> float:
    """Bugs a species, over all targets of which coverage is seen."""
    return float(memory[ALL_BUGS] / memory[ALL_SPECIES]) if memory[ALL_SPECIES] > 0.0 else 0.0


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    arm = first_unstarted(arms)
    if arm >= 0:
        return arm
    if memory[TARGETS] > 0.0:
        # What the others have shown since its own last turn changes what its coverage is worth.
        usual, alike = _usual_bugs(memory), memory[ALIKE]
        fertile = (arms[:, FOUND] + alike) / (usual * arms[:, SIZE] + alike)
        arms[:, BELIEF] = arms[:, SURE] + _price(memory) * arms[:, GAIN] * fertile
    return highest(arms, BELIEF, rng)


@helper
def _see_coverage(arms: Floats, memory: Floats, arm: int, seconds: float, found: float) -> None:
    """Take in what an epoch showed of coverage: in the target's columns, and in the sums."""
    size = arms[arm, SPECIES] if arms[arm, SPECIES] > 0.0 else arms[arm, KEPT]
    used, before = arms[arm, SECONDS], arms[arm, SIZE]
    if before > 0.0:
        memory[GROWTH] -= arms[arm, PART]
        memory[ALL_BUGS] -= arms[arm, FOUND]
        memory[ALL_SPECIES] -= before
        fades = max(0.0, 1.0 - seconds / used)
        arms[arm, NOVEL] = fades * fades * arms[arm, NOVEL] + max(0.0, size - before)
        arms[arm, LATELY] = fades * fades * arms[arm, LATELY] + seconds
    else:
        memory[TARGETS] += 1.0
        # Most of what a first epoch shows is the initial corpus; an estimator knows what is not.
        arms[arm, NOVEL] = arms[arm, DISCOVERY_RATE] * EACH * seconds
        arms[arm, LATELY] = seconds
    gain = (arms[arm, NOVEL] + 1.0) / arms[arm, LATELY]
    arms[arm, GAIN] = gain / size if memory[IN_PROPORTION] > 0.0 else gain
    arms[arm, PART] = arms[arm, GAIN] * used
    arms[arm, SIZE], arms[arm, FOUND] = size, found
    memory[GROWTH] += arms[arm, PART]
    memory[ALL_BUGS] += found
    memory[ALL_SPECIES] += size


@learning
def _learn(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    used = arms[arm, SECONDS]
    if used > 0.0:
        own = arms[arm, NEW_BUGS]
        found = own + memory[DUPLICATES] * max(0.0, arms[arm, BUGS] - own)
        credit = memory[PRIOR]
        if arms[arm, KEPT] > 0.0 and epoch[EPOCH_SECONDS] > 0.0:
            _see_coverage(arms, memory, arm, epoch[EPOCH_SECONDS], found)
        if arms[arm, SIZE] > 0.0:
            credit *= memory[EVEN]
        if arms[arm, RECENT_BUGS] > 0.0:
            share = (found + memory[PRIOR]) / (arms[arm, BUGS] + memory[PRIOR])
            recent = arms[arm, RECENT_BUGS] - 1.0
            old = max(0.0, arms[arm, BUGS] - recent)
            expected = share * (recent + memory[OLD_BUGS] * old) + credit
            belief = expected / (math.log(2.0) * used)
        else:
            belief = (found + credit) / max(1.0, math.log(max(1.0, arms[arm, RUNS]))) / used
        if arms[arm, SECONDS_LEFT] > 0.0:
            belief += memory[RETIREMENT] / arms[arm, SECONDS_LEFT]
        arms[arm, SURE] = belief
        fertile = (found + memory[ALIKE]) / (_usual_bugs(memory) * arms[arm, SIZE] + memory[ALIKE])
        arms[arm, BELIEF] = belief + _price(memory) * arms[arm, GAIN] * fertile


@dataclass(frozen=True)
class RiskRate(Policy):
    """The highest estimated chance of a new bug per second.

    ``prior`` is a, ``duplicates`` v, ``retirement`` κ, ``old_bugs`` w, ``even`` h,
    and ``alike`` k.
    """

    prior: float = 0.25
    duplicates: float = 0.5
    retirement: float = 0.25
    old_bugs: float = 0.1
    even: float = 0.1
    alike: float = 1.0
    name = "risk-rate"
    functions = Functions(_choose, _learn)
    own_columns = 7
    first_turn = 1 / 8
    in_proportion: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("Risk rate", "prior", self.prior)
        check_share("Risk rate", "duplicates", self.duplicates)
        check_positive("Risk rate", "retirement", self.retirement)
        check_share("Risk rate", "old_bugs", self.old_bugs)
        check_share("Risk rate", "even", self.even)
        check_positive("Risk rate", "alike", self.alike)

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """The parameters, and room for the sums."""
        memory = np.zeros(MEMORY)
        memory[PRIOR], memory[DUPLICATES] = self.prior, self.duplicates
        memory[RETIREMENT], memory[OLD_BUGS] = self.retirement, self.old_bugs
        memory[EVEN], memory[ALIKE] = self.even, self.alike
        memory[IN_PROPORTION] = float(self.in_proportion)
        return memory


@dataclass(frozen=True)
class RiskRateProportion(RiskRate):
    """The same where each target's coverage counts in proportion to what it has."""

    name = "risk-rate/proportion"
    needs_coverage = True
    in_proportion = True


@dataclass(frozen=True)
class RiskRateRetirement(RiskRate):
    """The same where a retired target is worth more than bugs: the nearest to it is first."""

    retirement: float = 64.0
    name = "risk-rate/retirement"
    needs_coverage = True
