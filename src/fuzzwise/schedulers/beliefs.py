"""The five beliefs of FS §4.4: how promising a configuration is, after N runs and Time seconds.

=========  ======  ===============================================================================
belief     value
=========  ======  ===============================================================================
rpm        3/N     Rule of Three: the highest likely chance that a run shows something new
ewt        3/Time  reciprocal of the expected wait for something new
rgr        M̂       rich gets richer: the distinct bugs that the configuration has shown so far
density    M̂/N     bugs per run, what CERT BFF 2.6 uses
rate       M̂/Time  bugs per second
=========  ======  ===============================================================================

A belief whose denominator is 0 is 0: a configuration whose epochs made no run, or took no time, has
earned no further ones (any high value would let it be chosen for ever). Uniform choices still reach
it, and it counts again as soon as an epoch of it gets anywhere.
"""

# ruff: noqa: ARG001 — all functions that learn have one signature

from __future__ import annotations

from typing import Literal

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats
from fuzzwise.schedulers.kernel import BELIEF, BUGS, RUNS, SECONDS, learning

BeliefName = Literal["rpm", "ewt", "rgr", "density", "rate"]

RPM, EWT, RGR, DENSITY, RATE = range(5)

BELIEFS: dict[BeliefName, int] = {
    "rpm": RPM,
    "ewt": EWT,
    "rgr": RGR,
    "density": DENSITY,
    "rate": RATE,
}
"""The number by which the compiled functions know a belief."""

WHICH = 0
"""Where a policy's memory holds the number of its belief."""


def check_belief(name: str) -> None:
    """Refuse a belief that does not exist."""
    if name not in BELIEFS:
        raise BadInput(f"There is no belief {name!r}; take one of {', '.join(BELIEFS)}.")


@learning
def learn_belief(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    """Renew the belief in the configuration whose epoch is finished."""
    which = int(memory[WHICH])
    value = 3.0 if which in (RPM, EWT) else arms[arm, BUGS]
    if which != RGR:
        per = arms[arm, RUNS] if which in (RPM, DENSITY) else arms[arm, SECONDS]
        value = value / per if per > 0.0 else 0.0
    arms[arm, BELIEF] = value


@learning
def learn_nothing(arms: Floats, memory: Floats, arm: int, epoch: Floats) -> None:
    """Learn nothing: for policies that treat all configurations alike."""
