"""The two functions that make a scheduler, compiled where numba is installed.

A policy is a pair of small functions over plain arrays. The replay calls them from a compiled loop,
millions of times a second; a live campaign calls the same functions once an epoch. Both draw from
the same kind of generator, so the same seed gives the same choices.

    choose(arms, memory, rng) -> arm
    learn(arms, memory, arm, runs, seconds, bugs, new_bugs)

``arms`` has one row a configuration: the columns below, then those of the policy itself. ``memory``
is what a policy keeps for all configurations together, its parameters included. ``account`` has
updated the common columns before ``learn`` is called, with what the epoch returned.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from fuzzwise.model import Floats

Choose = Callable[[Floats, Floats, np.random.Generator], int]
Learn = Callable[[Floats, Floats, int, float, float, float, float], None]
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
OWN = 9
"""The first column of the policy's own."""


def _numba() -> Any:
    """The compiler, or None: a live campaign chooses once in seconds and does well without."""
    try:
        return import_module("numba")
    except ImportError:
        return None


numba = _numba()
if numba is not None:
    ARMS = numba.types.float64[:, ::1]
    MEMORY = numba.types.float64[::1]
    GENERATOR = numba.typeof(np.random.default_rng(0))
    CHOOSE = numba.types.int64(ARMS, MEMORY, GENERATOR)
    LEARN = numba.types.void(ARMS, MEMORY, numba.types.int64, *([numba.types.float64] * 4))


def helper(function: AnyFunction) -> AnyFunction:
    """Mark a function that ``choose`` or ``learn`` calls."""
    if numba is None:
        return function
    compiled: AnyFunction = numba.njit(cache=True)(function)
    return compiled


def choosing(function: Choose) -> Choose:
    """Mark the function of a policy that chooses the next configuration."""
    if numba is None:
        return function
    compiled: Choose = numba.njit(CHOOSE, cache=True)(function)
    return compiled


def learning(function: Learn) -> Learn:
    """Mark the function of a policy that learns from a finished epoch."""
    if numba is None:
        return function
    compiled: Learn = numba.njit(LEARN, cache=True)(function)
    return compiled


@helper
def account(
    arms: Floats,
    arm: int,
    runs: float,
    seconds: float,
    bugs: float,
    new_bugs: float,
    singletons: float,
) -> None:
    """Add a finished epoch to the common columns of a configuration.

    ``bugs`` are new to the configuration, ``new_bugs`` to the campaign; ``singletons`` is the
    number of bugs that the configuration has shown exactly once by now.
    """
    arms[arm, RUNS] += runs
    arms[arm, SECONDS] += seconds
    arms[arm, BUGS] += bugs
    arms[arm, NEW_BUGS] += new_bugs
    arms[arm, SINGLETONS] = singletons
    arms[arm, RUNS_SINCE] = 0.0 if bugs > 0 else arms[arm, RUNS_SINCE] + runs
