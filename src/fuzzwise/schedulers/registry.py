"""All scheduling algorithms by name; third parties add theirs here."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache

from fuzzwise.errors import BadInput
from fuzzwise.plugins import Kind, add_installed
from fuzzwise.schedulers.base import FIXED_RUN, FIXED_TIME, Algorithm, Epoch, Policy
from fuzzwise.schedulers.beliefs import BELIEFS, BeliefName
from fuzzwise.schedulers.bff import Bff
from fuzzwise.schedulers.boian import Boian, BoianCoverage
from fuzzwise.schedulers.clusterfuzz import ClusterFuzz
from fuzzwise.schedulers.coverage_rate import CoverageRate
from fuzzwise.schedulers.epsilon_greedy import EpsilonGreedy
from fuzzwise.schedulers.exp3 import Exp3S1
from fuzzwise.schedulers.fewa import Fewa
from fuzzwise.schedulers.good_ucb import GoodUcb
from fuzzwise.schedulers.hypofuzz import HypoFuzz, HypoFuzzCoverage
from fuzzwise.schedulers.raw_ucb import RawUcb
from fuzzwise.schedulers.risk_rate import RiskRate, RiskRateProportion, RiskRateRetirement
from fuzzwise.schedulers.round_robin import RoundRobin
from fuzzwise.schedulers.thompson import Thompson
from fuzzwise.schedulers.uniform_random import UniformRandom
from fuzzwise.schedulers.weighted_random import WeightedRandom

PLUGINS = Kind(
    "fuzzwise.schedulers",
    "a scheduler",
    lambda found: isinstance(found, Policy) and isinstance(found.name, str),
)

_BELIEF_POLICIES: tuple[Callable[[BeliefName], Policy], ...] = (WeightedRandom, EpsilonGreedy)

_PAPER: tuple[Policy, ...] = (
    RoundRobin(),
    UniformRandom(),
    Exp3S1(),
    *(policy(belief) for policy in _BELIEF_POLICIES for belief in BELIEFS),
)
"""The 13 policies of FS §4.4."""

_NEWER: tuple[Policy, ...] = (
    Bff(),
    Boian(),
    HypoFuzz(),
    GoodUcb(),
    Thompson(),
    Fewa(),
    RawUcb(),
    RiskRate(),
)
"""What others have made since, and our own."""

_BY_COVERAGE: tuple[Policy, ...] = (
    BoianCoverage(),
    HypoFuzzCoverage(),
    CoverageRate(),
    ClusterFuzz(),
    RiskRateProportion(),
    RiskRateRetirement(),
)
"""What chooses by coverage: for campaigns and their recordings, not for those of black boxes."""


def _names(policies: tuple[Policy, ...]) -> tuple[str, ...]:
    return tuple(Algorithm(e, p).name for e in (FIXED_RUN, FIXED_TIME) for p in policies)


PAPER_26: tuple[str, ...] = _names(_PAPER)
"""The names of the 26 online algorithms of FS §4.4."""

NEWER: tuple[str, ...] = _names(_NEWER)
"""The names of the newer algorithms, the risk rate among them, with both kinds of epoch."""

OWN: dict[str, Policy] = {policy.name: policy for policy in (*_PAPER, *_NEWER, *_BY_COVERAGE)}


@cache
def policies() -> dict[str, Policy]:
    """Every policy by its name without the kind of epoch: ours, then those of installed packages.

    A package adds one by an entry point in the group ``fuzzwise.schedulers`` that names a policy
    object; what cannot be used is left out with a warning.
    """
    return add_installed(OWN, PLUGINS)


def registered_names() -> tuple[str, ...]:
    """The algorithms for recordings of black boxes: every policy with both kinds of epoch."""
    return _names(tuple(p for p in policies().values() if not p.needs_coverage))


def find(
    name: str,
    epoch_runs: float = FIXED_RUN.length,
    epoch_seconds: float = FIXED_TIME.length,
) -> Algorithm:
    """The algorithm of that name, such as ``fixed-time/weighted-random/rate``.

    The name of a policy alone, ``weighted-random/rate``, is that with fixed-time epochs, as
    campaigns have them. ``epoch_runs`` and ``epoch_seconds`` are the lengths of fixed-run and of
    fixed-time epochs.
    """
    known = policies()
    kind, _, policy = (f"fixed-time/{name}" if name in known else name).partition("/")
    if policy in known:
        if kind == "fixed-run":
            return Algorithm(Epoch("fixed-run", epoch_runs), known[policy])
        if kind == "fixed-time":
            return Algorithm(Epoch("fixed-time", epoch_seconds), known[policy])
    names = registered_names()
    near = difflib.get_close_matches(name, [*known, *names], n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}."
    raise BadInput(f"There is no scheduler {name!r}. {hint}")
