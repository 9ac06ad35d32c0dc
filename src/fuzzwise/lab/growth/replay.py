"""Schedules replayed on recordings of growth: coverage and bugs over time, and retirement.

A turn that is given to a target advances the target's own clock and shows what its recording has
for that stretch, as in FuzzSim's third step (FS §5); the targets do not know of each other. Each
replay draws one recorded repeat of every target, the same ones for all schedulers, so that their
difference is the scheduler's.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.lab.growth.recording import COLUMNS, SPECIES, GrowthRecording, Repeat
from fuzzwise.model import Floats, Ints
from fuzzwise.schedulers.base import Policy, start_arms

try:
    from fuzzwise.lab.growth.kernel import (
        DISCOVERIES,
        FEATURES,
        OUTCOMES,
        PROPORTION,
        RETIRED,
        growth_kernel,
    )
    from fuzzwise.schedulers.compiled import compiled_functions
except ImportError as error:
    raise need_extra("To replay a recording", "numba", "lab") from error

BINS = 200
"""Moments of the budget at which the outcome is told."""

OUTCOME_NAMES = {
    "coverage": FEATURES,
    "discoveries": DISCOVERIES,
    "proportion": PROPORTION,
    "retired": RETIRED,
    "bugs": OUTCOMES,
}
"""The outcomes by which schedulers can be compared."""


class Settings(NamedTuple):
    """How a campaign is replayed: its budget by the clock, its cores, the length of an epoch."""

    budget: float
    epoch: float
    cores: int = 1
    retires: bool = False


@dataclass(frozen=True, eq=False)
class GrowthReplay:
    """One scheduler, repeated: ``curves[repeat, outcome, bin]`` by the end of each bin.

    ``spent[repeat, target]``: the seconds that each target got.
    """

    name: str
    settings: Settings
    curves: Floats
    spent: Floats

    def curve(self, outcome: int) -> Floats:
        """A row a repeat, a column a bin."""
        return self.curves[:, outcome]

    def area(self, outcome: int) -> Floats:
        """The mean of an outcome over the budget, one number a repeat."""
        mean: Floats = self.curves[:, outcome].mean(axis=1)
        return mean


def replay_growth(
    recording: GrowthRecording,
    policies: Sequence[Policy],
    settings: Settings,
    *,
    repeats: int = 100,
    seed: int = 0,
    jobs: int = 1,
) -> list[GrowthReplay]:
    """Every policy on the recording, ``repeats`` times each; it follows from the seed alone."""
    if repeats < 1:
        raise BadInput(f"{repeats} repeats are too few; give at least 1.")
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        rows = [
            [
                pool.submit(_play, recording, policy, settings, (seed, repeat))
                for repeat in range(repeats)
            ]
            for policy in policies
        ]
        results = [[row.result() for row in of_policy] for of_policy in rows]
    return [
        GrowthReplay(
            policy.name,
            settings,
            np.array([curves for curves, _ in found]),
            np.array([spent for _, spent in found]),
        )
        for policy, found in zip(policies, results, strict=True)
    ]


def drawn(recording: GrowthRecording, rng: np.random.Generator) -> tuple[list[Repeat], Ints]:
    """One repeat of each target, in an order drawn at random; and that order."""
    order = rng.permutation(len(recording.targets)).astype(np.int64)
    chosen = [many[int(rng.integers(len(many)))] for many in recording.repeats]
    return [chosen[target] for target in order], order


def _play(
    recording: GrowthRecording, policy: Policy, settings: Settings, seed: tuple[int, int]
) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    chosen, order = drawn(recording, rng)
    count = len(chosen)
    steps = np.array([one.table.shape[1] - 1 for one in chosen], np.int64)
    tables = np.zeros((count, COLUMNS, int(steps.max()) + 1))
    for number, one in enumerate(chosen):
        tables[number, :, : one.table.shape[1]] = one.table
    offsets = np.cumsum([0, *(len(one.bugs) for one in chosen)]).astype(np.int64)
    outcome = np.zeros((OUTCOMES, BINS))
    found = np.full(len(recording.bugs), np.inf)
    spent = np.zeros(count)
    growth_kernel(
        *compiled_functions(policy.functions),
        start_arms(policy, count),
        policy.memory(count),
        rng,
        *(tables, steps, recording.step, offsets),
        np.array([at for one in chosen for at in one.bug_seconds], np.float64),
        np.array([bug for one in chosen for bug in one.bugs], np.int64),
        *(settings.epoch, policy.first_turn, settings.cores, settings.budget, settings.retires),
        *(outcome, found, spent),
    )
    ends = (np.arange(BINS) + 1) * settings.budget / BINS
    bugs = np.searchsorted(np.sort(found), ends, "right").astype(np.float64)
    by_target = np.zeros(count)
    by_target[order] = spent
    return np.vstack([np.cumsum(outcome, axis=1), bugs]), by_target


def best_coverage(chosen: Sequence[Repeat], step: float, settings: Settings) -> Floats:
    """What no schedule can exceed: species in all at each bin, if every choice was the best.

    Each target's curve is replaced by the lowest concave one above it; of such curves the best
    schedule takes the steepest piece first. A target cannot be on two cores at once, which is not
    taken into account, nor that a piece comes as a whole.
    """
    slopes, lengths = [], []
    for one in chosen:
        x, y = _hull(one.table[SPECIES])
        slopes.append(np.diff(y) / (np.diff(x) * step))
        lengths.append(np.diff(x) * step)
    rate, length = np.concatenate(slopes), np.concatenate(lengths)
    order = np.argsort(-rate, kind="stable")
    at = np.concatenate([[0.0], np.cumsum(length[order])])
    value = np.concatenate([[0.0], np.cumsum((rate * length)[order])])
    ends = (np.arange(BINS) + 1) * settings.budget / BINS * settings.cores
    best: Floats = np.interp(ends, at, value)
    return best


def _hull(values: Floats) -> tuple[Floats, Floats]:
    """The corners of the lowest concave curve above values that never fall, from 0 on."""
    corners: list[tuple[int, float]] = []
    for x, y in enumerate(values.tolist()):
        while len(corners) >= 2:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            corners.pop()
        corners.append((x, y))
    return np.array([c[0] for c in corners], float), np.array([c[1] for c in corners])
