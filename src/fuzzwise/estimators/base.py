"""What every estimator is: a named object that maps an observation to a number."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

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


def earliest_and_latest(times: Ints, looks: Ints, n: int) -> tuple[Ints, Ints]:
    """Discoveries that are known in groups alone, if they were the first of them, and the last.

    ``looks`` are the inputs at which somebody looked (``counted_at``); a group is what was found
    between two of them.
    """
    edges = np.concatenate([[0], looks[(looks > 0) & (looks < n)], [n]]).astype(np.int64)
    group = edges.searchsorted(times, "left")
    first = times.searchsorted(edges, "right")  # of each group, the place of its first discovery
    rank = np.arange(len(times)) - first[group - 1]
    behind = first[group] - 1 - np.arange(len(times))
    return edges[group - 1] + 1 + rank, edges[group] - behind


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
