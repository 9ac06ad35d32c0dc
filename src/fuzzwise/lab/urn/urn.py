"""Urn campaigns (RR section 2): a fuzzer's discoveries as draws from a changing distribution.

Every quantity that a real campaign hides is exact here, so each estimator can be judged on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.model import Floats, Ints, Observation, SeedCounts, Truth

if TYPE_CHECKING:
    from fuzzwise.lab.urn.kernel import Trace

Mode = Literal["greybox", "blackbox"]
MODES: tuple[Mode, ...] = ("greybox", "blackbox")
SCHEDULES = ("uniform", "later")
DEFAULT_WINDOWS = (1, 10)


@dataclass(frozen=True)
class Urn:
    """Species, and the local distribution of a seed of each of them. Species are numbered from 1.

    Template weights fall by ``ratio`` from species to species. A seed of species s has, on top of
    the template, weight 0.5 at s falling by ``ratio`` per step to either side, divided by
    ``gravity``: mutants stay near their seed. ``local`` replaces all that by a matrix of its own,
    row s the distribution of a seed of species s.

    ``schedule``: "uniform" gives all seeds the same weight, "later" gives the i-th weight i, and an
    array gives the i-th seed its i-th element.
    """

    species: int = 50
    ratio: float = 1.3
    gravity: float = 100.0
    initial: tuple[int, ...] = (5,)
    bug: int = 40
    schedule: str | Floats = "uniform"
    local: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse what no campaign could be run on."""
        if self.species < 1:
            raise BadInput(f"An urn needs at least 1 species, not {self.species}.")
        if not self.ratio >= 1 or not np.isfinite(self.ratio):
            raise BadInput(f"The ratio of an urn must be 1 or more, not {self.ratio}.")
        if not self.gravity > 0:
            raise BadInput(f"The gravity of an urn must be above 0, not {self.gravity}.")
        if not self.initial or len(set(self.initial)) != len(self.initial):
            raise BadInput("The initial corpus needs at least one species, each only once.")
        for s in (*self.initial, self.bug):
            if not 1 <= s <= self.species:
                raise BadInput(f"Species {s} does not exist; there are 1 … {self.species}.")
        if isinstance(self.schedule, str) and self.schedule not in SCHEDULES:
            raise BadInput(
                f"There is no schedule {self.schedule!r}; known: {', '.join(SCHEDULES)}."
            )
        if not isinstance(self.schedule, str) and (
            len(self.schedule) < self.species or not np.all(self.schedule > 0)
        ):
            raise BadInput("A schedule needs a weight above 0 for as many seeds as species.")
        if self.local is not None:
            shape_ok = self.local.shape == (self.species, self.species)
            if not shape_ok or np.any(self.local < 0) or not np.allclose(self.local.sum(axis=1), 1):
                raise BadInput(
                    "Local distributions are a square matrix, one row a species, rows summing to 1."
                )

    @cached_property
    def template(self) -> Floats:
        """The distribution without any seed: weights 0.5, 0.5/λ, 0.5/λ² …, normalised."""
        weights = self.ratio ** -np.arange(self.species, dtype=np.float64)
        normalised: Floats = weights / weights.sum()
        return normalised

    @cached_property
    def tent(self) -> Floats:
        """Extra weight of a seed's own neighbourhood, by distance."""
        distance = np.arange(self.species, dtype=np.float64)
        weights: Floats = 0.5 * self.ratio**-distance / self.gravity
        return weights

    @cached_property
    def scales(self) -> Floats:
        """What normalises the local weights of a seed of each species."""
        reach = np.cumsum(self.tent)
        scales: Floats = 1 / (1 + reach + reach[::-1] - self.tent[0])
        return scales

    @cached_property
    def weights(self) -> Floats:
        """Scheduling weight of the i-th seed."""
        if not isinstance(self.schedule, str):
            return np.asarray(self.schedule, dtype=np.float64)
        if self.schedule == "uniform":
            return np.ones(self.species)
        return np.arange(1.0, self.species + 1)

    def distribution(self, species: int) -> Floats:
        """The local distribution of a seed of that species."""
        if self.local is not None:
            row: Floats = self.local[species - 1]
            return row
        distance = np.abs(np.arange(self.species) - (species - 1))
        scaled: Floats = (self.template + self.tent[distance]) * self.scales[species - 1]
        return scaled

    def mixture(self, corpus: tuple[int, ...]) -> Floats:
        """p_i = Σ_t q_t·p_i^t for seeds in the order in which they were added (7, 13)."""
        weights = self.weights[: len(corpus)]
        rows = np.array([self.distribution(s) for s in corpus])
        mixed: Floats = weights @ rows / weights.sum()
        return mixed


@dataclass(frozen=True, eq=False)
class UrnCampaign:
    """One simulated campaign: its trace, and its observations at the data points."""

    urn: Urn
    mode: Mode
    points: Ints
    trace: Trace
    full: bool
    windows: tuple[int, ...]

    @property
    def bug_found_at(self) -> int | None:
        """The input that showed the bug; None if none did, 0 if the initial corpus had it."""
        if self.urn.bug in self.urn.initial:
            return 0
        hit = np.flatnonzero(self.trace.found == self.urn.bug - 1)
        return int(self.trace.discoveries[hit[0]]) if len(hit) else None

    def observations(self) -> Iterator[Observation]:
        """What an observer of this campaign would have reported at each data point."""
        trace = self.trace
        found = trace.discoveries
        counts = found.searchsorted(self.points, side="right").tolist()
        ns = self.points.tolist()
        deltas = trace.delta.tolist()
        species = trace.species.tolist()
        truths = tuple(zip(ns, deltas, strict=True))
        for i, n in enumerate(ns):
            known = Observation(
                n=n,
                species=species[i],
                discoveries=found[: counts[i]],
                truth=Truth(deltas[i]),
                measured=truths[:i],
            )
            if not self.full:
                yield known
                continue
            f1, f2, f3, f4 = trace.incidence[i].tolist()
            corpus = int(trace.corpus[i])
            weights = self.urn.weights[:corpus]
            # One input shows one species here, so inputs with a singleton are the singletons.
            g = trace.seed_g[i, :corpus]
            yield replace(
                known,
                f=(f1, f2, f3, f4),
                k=f1,
                resets=dict(zip(self.windows, trace.windows[i].tolist(), strict=True)),
                seeds=SeedCounts(
                    q=weights / weights.sum(),
                    n=trace.seed_n[i, :corpus],
                    f1=trace.seed_f1[i, :corpus],
                    f2=trace.seed_f2[i, :corpus],
                    k=g,
                    g=g,
                ),
            )


def data_points(inputs: int, factor: float = 1.2) -> Ints:
    """The whole parts of factor^k up to ``inputs``, each once, and ``inputs`` itself."""
    if inputs < 1:
        raise BadInput(f"A campaign needs at least 1 input, not {inputs}.")
    steps = int(np.log(inputs) / np.log(factor)) + 1
    powers = np.floor(factor ** np.arange(steps + 1)).astype(np.int64)
    return np.unique(np.append(powers[powers < inputs], inputs))


def simulate(
    urn: Urn,
    mode: Mode,
    points: Ints,
    campaigns: int,
    seed: int,
    *,
    full: bool = True,
    windows: tuple[int, ...] = DEFAULT_WINDOWS,
) -> list[UrnCampaign]:
    """Run independent campaigns; the same seed gives the same campaigns.

    Without ``full`` only the truth and the discoveries are recorded, at a cost that depends on the
    number of discoveries and not on the number of inputs.
    """
    try:
        from fuzzwise.lab.urn import kernel
    except ImportError as error:
        raise need_extra("The urn simulation", "numba", "lab") from error
    streams = np.random.SeedSequence([seed, MODES.index(mode)]).spawn(campaigns)
    matrix = np.zeros((0, 0)) if urn.local is None else np.ascontiguousarray(urn.local)
    tent = np.concatenate([urn.tent[:0:-1], urn.tent])
    initial = np.array(urn.initial, dtype=np.int64) - 1
    runs = []
    for stream in streams:
        raw = kernel.run(
            np.random.default_rng(stream),
            (urn.template, tent, matrix),
            urn.scales,
            urn.weights,
            initial,
            mode == "greybox",
            points,
            urn.bug - 1,
            full,
            np.array(windows, dtype=np.int64),
        )
        runs.append(UrnCampaign(urn, mode, points, kernel.Trace(*raw), full, windows))
    return runs
