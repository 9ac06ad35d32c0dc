"""All estimators of the discovery probability, by name; third parties add theirs here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache

from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.estimators.base import Estimator
from fuzzwise.estimators.extrapolation import Extrapolation
from fuzzwise.estimators.good_turing import GoodTuring
from fuzzwise.estimators.growth import Growth, RecentGrowth
from fuzzwise.estimators.laplace import Laplace
from fuzzwise.estimators.mean_local import MeanLocalGoodTuring, MeanLocalLaplace
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.estimators.reset import ResetGoodTuring
from fuzzwise.estimators.singleton_inputs import (
    ShrunkenSingletonInputs,
    SingletonInputs,
    WeightedSingletonInputs,
)
from fuzzwise.model import Estimate, Observation
from fuzzwise.plugins import Kind, add_installed

DEFAULT = "recent-rate"
"""The estimator that stop rules and summaries use; docs/estimators.md says why."""

PLUGINS = Kind(
    "fuzzwise.estimators",
    "an estimator",
    lambda found: callable(found) and not isinstance(found, type) and isinstance(found.name, str),
)

_OWN: tuple[Estimator, ...] = (
    RecentRate(),
    RecentGrowth(),
    Growth(),
    SingletonInputs(),
    WeightedSingletonInputs(),
    ShrunkenSingletonInputs(),
    GoodTuring(),
    ResetGoodTuring(1),
    ResetGoodTuring(10),
    MeanLocalLaplace(),
    MeanLocalGoodTuring(),
    Laplace(),
    Extrapolation(),
    Extrapolation(ahead=100),
)

OWN: dict[str, Estimator] = {estimator.name: estimator for estimator in _OWN}


@cache
def registered() -> dict[str, Estimator]:
    """Every estimator by name: ours, then those of installed packages.

    A package adds one by an entry point in the group ``fuzzwise.estimators`` that names an
    estimator object; what cannot be used is left out with a warning.
    """
    return add_installed(OWN, PLUGINS)


def find(name: str) -> Estimator:
    """The estimator of that name; ``reset-A`` and ``extrapolation-A`` exist for every A ≥ 1."""
    known = registered()
    if name in known:
        return known[name]
    family, _, number = name.rpartition("-")
    if number.isdecimal() and int(number) >= 1:
        if family == "reset":
            return ResetGoodTuring(int(number))
        if family == "extrapolation":
            return Extrapolation(int(number))
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
    raise BadInput(f"There is no estimator {name!r}. {hint}")


def applicable(observation: Observation) -> Iterable[Estimator]:
    """All registered estimators, and a reset one for every further window that was observed."""
    known = registered()
    yield from known.values()
    for a in sorted(observation.resets):
        extra = ResetGoodTuring(a)
        if extra.name not in known:
            yield extra


def estimate_all(
    observation: Observation, confidence: float = 0.95
) -> dict[str, Estimate | NotEstimable]:
    """Every estimate by name, or the reason why the observation does not allow it."""
    results: dict[str, Estimate | NotEstimable] = {}
    for estimator in applicable(observation):
        try:
            results[estimator.name] = estimator(observation, confidence)
        except NotEstimable as reason:
            results[estimator.name] = reason
    return results
