"""The two functions that make a scheduler.

A policy is a pair of small functions over plain arrays. A live campaign calls them once an epoch,
as they are; the replay calls them from a compiled loop, millions of times a second (``compiled``).
Both draw from the same kind of generator, so the same seed gives the same choices.

    choose(arms, memory, rng) -> arm
    learn(arms, memory, arm, epoch)

``arms`` has one row a configuration: the columns below, then those of the policy itself. ``memory``
is what a policy keeps for all configurations together, its parameters included. ``epoch`` is what
the finished epoch showed; ``account`` has added it to the common columns before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fuzzwise.model import Floats

Choose = Callable[[Floats, Floats, np.random.Generator], int]
Learn = Callable[[Floats, Floats, int, Floats], None]
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

AVAILABLE = 0
"""1 while the configuration can be chosen; 0 once it is retired, exhausted or busy."""
STARTED = 1
"""Epochs given to it so far, finished or not."""
RUNS = 2
"""Runs of its finished epochs."""
SECONDS = 3
"""Seconds of its finished epochs."""
BUGS = 4
"""Distinct bugs it has shown itself, whether or not another configuration had shown them."""
NEW_BUGS = 5
"""Bugs that were new to the whole campaign when it showed them."""
SINGLETONS = 6
"""Bugs that it has shown exactly once."""
RUNS_SINCE = 7
"""Runs since the last epoch that showed a bug new to the configuration."""
BELIEF = 8
"""How promising a policy thinks it is."""
KEPT = 9
"""Inputs kept because they showed new coverage, initial ones included; 0 where it is not seen."""
DISCOVERY_RATE = 10
"""Inputs a second that will show new coverage, by an estimator of the discovery probability."""
SECONDS_LEFT = 11
"""Seconds until its residual risk is as low as accepted; 0 where no risk is, or none is known."""
RECENT_BUGS = 12
"""1 more than the bugs it has shown in the second half of its runs; 0 where nobody told."""
SPECIES = 13
"""Species of coverage seen so far, those of the initial corpus included; 0 where none are."""
NEW_SPECIES = 14
"""Species that its latest epoch was the first to see. Of those of a first epoch nobody knows which
the initial corpus shows: its discoveries count instead, each of which showed one at least."""
RUNS_SINCE_SPECIES = 15
"""Runs since its last discovery of coverage; all of them where there was none."""
OWN = 16
"""The first column of the policy's own."""

EPOCH_RUNS, EPOCH_SECONDS, EPOCH_BUGS, EPOCH_NEW_BUGS, EPOCH_SINGLETONS = range(5)
"""What an epoch showed: its runs and seconds; bugs new to the configuration, and to the campaign;
and the bugs that the configuration has shown exactly once by now."""
EPOCH_KEPT, EPOCH_DISCOVERY_RATE, EPOCH_SECONDS_LEFT, EPOCH_RECENT_BUGS, EPOCH_SPECIES = range(
    5, 10
)
"""Where coverage is seen: the inputs that are kept by now because they showed new coverage, and how
many more a second are to be expected. Where a risk is accepted: the seconds until it is reached.
Where it is told: 1 more than the bugs shown in the second half of all runs; the species by now."""
EPOCH_DISCOVERIES, EPOCH_RUNS_SINCE = range(10, 12)
"""Runs of the epoch that showed a new species; and runs since the last of all such runs."""
EPOCH_CRASHES, EPOCH_STALLS = range(12, 14)
"""Runs of the epoch that failed; and those of them that ended for want of time or of memory."""
EPOCH_SIZE = 14

_ROLE = "__fuzzwise_role__"


def helper(function: AnyFunction) -> AnyFunction:
    """Mark a function that ``choose`` or ``learn`` calls."""
    return _marked(function, "helper")


def choosing(function: Choose) -> Choose:
    """Mark the function of a policy that chooses the next configuration."""
    return _marked(function, "choose")


def learning(function: Learn) -> Learn:
    """Mark the function of a policy that learns from a finished epoch."""
    return _marked(function, "learn")


def role(function: object) -> str | None:
    """What a function was marked as: "helper", "choose" or "learn"."""
    return getattr(function, _ROLE, None)


def _marked(function: AnyFunction, name: str) -> AnyFunction:
    setattr(function, _ROLE, name)
    return function


@helper
def account(arms: Floats, arm: int, epoch: Floats) -> None:
    """Add a finished epoch to the common columns of a configuration."""
    arms[arm, RUNS] += epoch[EPOCH_RUNS]
    arms[arm, SECONDS] += epoch[EPOCH_SECONDS]
    arms[arm, BUGS] += epoch[EPOCH_BUGS]
    arms[arm, NEW_BUGS] += epoch[EPOCH_NEW_BUGS]
    arms[arm, SINGLETONS] = epoch[EPOCH_SINGLETONS]
    arms[arm, KEPT] = epoch[EPOCH_KEPT]
    arms[arm, DISCOVERY_RATE] = epoch[EPOCH_DISCOVERY_RATE]
    arms[arm, SECONDS_LEFT] = epoch[EPOCH_SECONDS_LEFT]
    arms[arm, RECENT_BUGS] = epoch[EPOCH_RECENT_BUGS]
    before = arms[arm, SPECIES]
    arms[arm, SPECIES] = max(before, epoch[EPOCH_SPECIES])
    grown = arms[arm, SPECIES] - before
    arms[arm, NEW_SPECIES] = grown if before > 0.0 else epoch[EPOCH_DISCOVERIES]
    arms[arm, RUNS_SINCE_SPECIES] = epoch[EPOCH_RUNS_SINCE]
    arms[arm, RUNS_SINCE] += epoch[EPOCH_RUNS]
    if epoch[EPOCH_BUGS] > 0.0:
        arms[arm, RUNS_SINCE] = 0.0
