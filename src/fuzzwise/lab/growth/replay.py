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
from fuzzwise.lab.growth.recording import GrowthRecording, Repeat
from fuzzwise.lab.growth.worth import prices
from fuzzwise.model import Floats, Ints
from fuzzwise.schedulers.base import Policy, start_arms

try:
    from fuzzwise.lab.growth.kernel import (
        DISCOVERIES,
        FEATURES,
        NEW,
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

BUGS, WORTH = OUTCOMES, OUTCOMES + 1
"""What follows from the others: distinct bugs, and all of it in bugs (``worth``)."""

OUTCOME_NAMES = {
    "coverage": FEATURES,
    "discoveries": DISCOVERIES,
    "proportion": PROPORTION,
    "retired": RETIRED,
    "bugs": BUGS,
    "worth": WORTH,
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
    steps, begins = _steps(recording)
    of_species, of_retired = prices(recording)
    worth = np.zeros(BUGS + 1)
    worth[[NEW, RETIRED, BUGS]] = of_species, of_retired, 1.0
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        rows = [
            [
                pool.submit(
                    _play, recording, steps, begins, policy, settings, worth, (seed, repeat)
                )
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


def _steps(recording: GrowthRecording) -> tuple[Floats, dict[int, int]]:
    """The steps of all repeats below each other, and the row in which each repeat begins.

    They are laid out once for all replays: those of ten days are too many to be copied for each.
    """
    every = [one for many in recording.repeats for one in many]
    begins = np.cumsum([0, *(one.table.shape[1] for one in every)])[:-1].tolist()
    steps = np.ascontiguousarray(np.concatenate([one.table.T for one in every]))
    return steps, {id(one): begin for one, begin in zip(every, begins, strict=True)}


def drawn(recording: GrowthRecording, rng: np.random.Generator) -> tuple[list[Repeat], Ints]:
    """One repeat of each target, in an order drawn at random; and that order."""
    order = rng.permutation(len(recording.targets)).astype(np.int64)
    chosen = [many[int(rng.integers(len(many)))] for many in recording.repeats]
    return [chosen[target] for target in order], order


def _play(
    recording: GrowthRecording,
    steps: Floats,
    begins: dict[int, int],
    policy: Policy,
    settings: Settings,
    worth: Floats,
    seed: tuple[int, int],
) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    chosen, order = drawn(recording, rng)
    count = len(chosen)
    firsts = np.array([begins[id(one)] for one in chosen], np.int64)
    lengths = np.array([one.table.shape[1] - 1 for one in chosen], np.int64)
    offsets = np.cumsum([0, *(len(one.bugs) for one in chosen)]).astype(np.int64)
    outcome = np.zeros((OUTCOMES, BINS))
    found = np.full(len(recording.bugs), np.inf)
    spent = np.zeros(count)
    growth_kernel(
        *compiled_functions(policy.functions),
        start_arms(policy, count),
        policy.memory(count),
        rng,
        *(steps, firsts, lengths, recording.step, offsets),
        np.array([at for one in chosen for at in one.bug_seconds], np.float64),
        np.array([bug for one in chosen for bug in one.bugs], np.int64),
        *(settings.epoch, policy.first_turn, settings.cores, settings.budget, settings.retires),
        *(outcome, found, spent),
    )
    ends = (np.arange(BINS) + 1) * settings.budget / BINS
    bugs = np.searchsorted(np.sort(found), ends, "right").astype(np.float64)
    by_target = np.zeros(count)
    by_target[order] = spent
    curves = np.vstack([np.cumsum(outcome, axis=1), bugs])
    return np.vstack([curves, worth @ curves]), by_target
