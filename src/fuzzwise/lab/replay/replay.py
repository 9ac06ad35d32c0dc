"""FuzzSim's third step: schedulers replayed against recorded logs (FS §5).

An epoch given to a configuration advances that configuration's own clock and returns what its log
shows for that stretch; the campaign's clock advances by as much. What a scheduler would have found
is known exactly, without fuzzing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.lab.recording.recording import Recording
from fuzzwise.model import Floats, Ints
from fuzzwise.schedulers.base import FIXED_RUN, FIXED_TIME, Algorithm, start_arms

try:
    from fuzzwise.lab.replay.kernel import NEVER, Points, points, replay_kernel
    from fuzzwise.schedulers.compiled import compiled_functions
except ImportError as error:
    raise need_extra("To replay a recording", "numba", "lab") from error

EPOCHS_EACH = 20
"""Epochs that a budget should have for each configuration."""

MOST_EPOCHS = 100_000_000
"""Epochs of one replay; as many take a minute."""


@dataclass(frozen=True, eq=False)
class Replay:
    """One scheduler on one recording, repeated: when each repeat found its bugs.

    ``found`` has a row a repeat: the campaign's time of each new bug in seconds, in increasing
    order, infinity for those it did not find within the budget.
    """

    algorithm: Algorithm
    budget: float
    found: Floats

    def bugs_at(self, seconds: float) -> Ints:
        """Distinct bugs found by that time, one number a repeat."""
        count: Ints = (self.found <= seconds).sum(axis=1).astype(np.int64)
        return count

    @property
    def area(self) -> Floats:
        """The mean number of bugs known over the budget, one number a repeat.

        The area under the curve of bugs over time, divided by the budget: ∑ (1 - found / budget).
        """
        area: Floats = np.clip(1 - self.found / self.budget, 0, None).sum(axis=1)
        return area


def budget_of(recording: Recording, seconds: float | None) -> float:
    """The budget to replay: as asked, or the longest for which every log is whole (FS §5).

    A longer budget is possible: a configuration whose log is used up leaves the schedule.
    """
    if seconds is None:
        return recording.shortest_seconds
    if not 0 < seconds < float("inf"):
        raise BadInput(f"A budget of {seconds} seconds is not possible; give more than 0.")
    return seconds


def epoch_lengths(recording: Recording, budget: float) -> tuple[int, float]:
    """Runs and seconds of an epoch that suit a budget: 200 and 10 (FS §4.4), or less.

    A configuration should be able to get ``EPOCHS_EACH`` epochs of the budget; where FS's 10
    seconds are too long for that, epochs are shorter, and of as many runs as fit in on average.
    """
    seconds = budget / (EPOCHS_EACH * len(recording.configurations))
    if seconds >= FIXED_TIME.length:
        return int(FIXED_RUN.length), FIXED_TIME.length
    speed = sum(log.total_runs for log in recording.configurations) / max(
        1e-9, sum(log.seconds for log in recording.configurations)
    )
    shorter = max(1e-6, float(f"{seconds:.1g}"))
    return max(1, min(int(FIXED_RUN.length), round(speed * shorter))), shorter


def replay(
    recording: Recording,
    algorithms: Sequence[Algorithm],
    *,
    budget: float | None = None,
    repeats: int = 100,
    seed: int = 0,
    jobs: int = 1,
) -> list[Replay]:
    """Every algorithm on the recording, ``repeats`` times each.

    The order of configurations is arbitrary, and what Round-Robin finds depends on it: each repeat
    shuffles it anew, in the same way for every algorithm. The result follows from the seed alone;
    ``jobs`` threads share the work.
    """
    if repeats < 1:
        raise BadInput(f"{repeats} repeats are too few; give at least 1.")
    seconds = budget_of(recording, budget)
    for algorithm in algorithms:
        _check_length(recording, algorithm, seconds)
    data = points(recording)
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        rows = [
            [
                pool.submit(_play, algorithm, recording, data, seconds, (seed, repeat))
                for repeat in range(repeats)
            ]
            for algorithm in algorithms
        ]
        return [
            Replay(algorithm, seconds, np.array([row.result() for row in of_algorithm]))
            for algorithm, of_algorithm in zip(algorithms, rows, strict=True)
        ]


def _check_length(recording: Recording, algorithm: Algorithm, seconds: float) -> None:
    """Refuse what would take hours: a clock in a damaged log can say anything."""
    length = max(algorithm.epoch.length, 1e-6)
    if algorithm.epoch.kind == "fixed-run":
        epochs = sum(log.total_runs for log in recording.configurations) / length
        within = sum(log.seconds for log in recording.configurations)
        epochs *= min(1.0, seconds / within) if within else 0.0
    else:
        epochs = min(seconds, sum(log.seconds for log in recording.configurations)) / length
    if epochs > MOST_EPOCHS:
        raise BadInput(
            f"A replay of {seconds:g} seconds has about {epochs:.0e} epochs, more than the "
            f"{MOST_EPOCHS:,} that are possible. Give a shorter --budget or longer epochs "
            "(--epoch-time, --epoch-runs); or a log is damaged."
        )


def choices(
    recording: Recording,
    algorithm: Algorithm,
    rng: np.random.Generator,
    *,
    budget: float | None = None,
    most: int = 1_000_000,
) -> Ints:
    """The configurations that one replay chooses, in order, with the order as recorded."""
    chosen = np.zeros(most, np.int64)
    count = len(recording.configurations)
    order = np.arange(count, dtype=np.int64)
    seconds = budget_of(recording, budget)
    _, epochs = _run(algorithm, recording, points(recording), seconds, rng, order, chosen)
    return chosen[:epochs]


def _play(
    algorithm: Algorithm,
    recording: Recording,
    data: Points,
    seconds: float,
    seed: tuple[int, int],
) -> Floats:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(recording.configurations)).astype(np.int64)
    found, _ = _run(algorithm, recording, data, seconds, rng, order, np.zeros(0, np.int64))
    return found


def _run(
    algorithm: Algorithm,
    recording: Recording,
    data: Points,
    seconds: float,
    rng: np.random.Generator,
    order: Ints,
    chosen: Ints,
) -> tuple[Floats, int]:
    count = len(recording.configurations)
    policy, epoch = algorithm.policy, algorithm.epoch
    in_runs = epoch.kind == "fixed-run"
    budget = round(seconds * 1e6)
    found = np.full(len(recording.bugs), NEVER, np.int64)
    epochs = replay_kernel(
        *compiled_functions(policy.functions),
        start_arms(policy, count),
        policy.memory(count),
        rng,
        order,
        *data,
        int(epoch.length) if in_runs else 0,
        0 if in_runs else round(epoch.length * 1e6),
        budget,
        np.zeros((count, len(recording.bugs)), np.uint8),
        found,
        chosen,
    )
    times = np.sort(found)
    return np.where(times <= budget, times / 1e6, np.inf), int(epochs)
