"""What every estimator is: a named object that maps an observation to a number."""

from __future__ import annotations

from typing import Protocol, TypeVar

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators import intervals
from fuzzwise.model import Estimate, Ints, Observation, SeedCounts
from fuzzwise.text import many

T = TypeVar("T")


class Estimator(Protocol):
    """A pure function of an observation with a name; parameters are its fields."""

    @property
    def name(self) -> str:
        """The name in tables, files and options."""
        ...

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate the discovery probability, or raise NotEstimable with what is missing."""
        ...


OBSERVED = "; targets of `fuzzwise build` have them"
"""How to get the counts that only an observed target has."""


def need(value: T | None, what: str, how: str = "") -> T:
    """The value, or NotEstimable that names the missing part of the observation.

    ``how`` says how it can be had.
    """
    if value is None:
        raise NotEstimable(f"needs {what}, which this observation does not have{how}")
    return value


def need_incidence(observation: Observation) -> tuple[int, int, int, int]:
    """f1 to f4, or NotEstimable."""
    return need(observation.f, "the incidence counts f1 … f4 (field f)", OBSERVED)


def need_discoveries(observation: Observation) -> Ints:
    """The inputs that found something, or NotEstimable."""
    return need(observation.discoveries, "the inputs that found something (field discoveries)")


def need_seeds(observation: Observation) -> SeedCounts:
    """The counts per seed, or NotEstimable where there are none or no seed."""
    seeds = need(observation.seeds, "the counts per seed (field seeds)", OBSERVED)
    if len(seeds) == 0:
        raise NotEstimable("needs at least one seed; the corpus is empty")
    return seeds


def found_since(observation: Observation, times: Ints, start: int) -> tuple[int, int, int]:
    """Discoveries after an input: at least so many, as they are spread, and at most so many.

    Where each has its own number (no ``counted_at``), all three are the same.
    """
    found = len(times) - int(times.searchsorted(start, side="right"))
    looks = observation.counted_at
    if looks is None:
        return found, found, found
    at = int(looks.searchsorted(start, side="right"))
    before = int(looks[at - 1]) if at else 0
    after = start if before == start or at == len(looks) else int(looks[at])
    fewest, most = (len(times) - int(times.searchsorted(i, "right")) for i in (after, before))
    return fewest, found, most


def point(name: str, value: float, n: int, note: str = "") -> Estimate:
    """An estimate without an interval."""
    return Estimate(value, None, None, None, name, n, note)


def rule_of_three(name: str, observation: Observation, times: Ints, confidence: float) -> Estimate:
    """The answer of the discovery counters where their window shows no discovery.

    The m inputs since the last discovery (all n, if there was none) showed nothing: 1/(m+2), with
    the interval [0, 1 - α^(1/m)].
    """
    quiet = observation.n - int(times[-1]) if len(times) else observation.n
    value = 1 / (quiet + 2)
    return Estimate(
        value,
        0.0,
        max(value, intervals.never_seen(quiet, confidence)),
        confidence,
        name,
        observation.n,
        f"no discovery in the last {many(quiet, 'input')}",
    )


def nothing_yet(name: str, confidence: float) -> Estimate:
    """The answer after 0 inputs: nothing is known, the next input may show anything."""
    return Estimate(1.0, 0.0, 1.0, confidence, name, 0, "no input yet")
