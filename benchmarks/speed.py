"""Every speed that fuzzwise claims, each as a ratio or a time of repeated runs in one process.

Run ``make bench``. Machines are noisy: each figure is a median with its range, and ratios compare
two things measured alternately in the same run.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
from numba import njit

from fuzzwise.estimators.registry import estimate_all
from fuzzwise.lab.urn.urn import Urn, data_points, simulate
from fuzzwise.model import Estimate, Floats, Observation, SeedCounts
from timing import report, seconds

REPEATS = 7


def _loop(rng: np.random.Generator, cumulative: Floats, initial: int, inputs: int) -> int:
    """Draw every input: a seed, then a species by binary search; compiled, like our kernel."""
    size = cumulative.shape[0]
    seen = np.zeros(size, np.bool_)
    corpus = np.zeros(size, np.int64)
    seeds = 1
    corpus[0] = initial
    seen[initial] = True
    for _ in range(inputs):
        species = min(
            size - 1, np.searchsorted(cumulative[corpus[rng.integers(0, seeds)]], rng.random())
        )
        if not seen[species]:
            seen[species] = True
            corpus[seeds] = species
            seeds += 1
    return seeds


compiled_loop = njit()(_loop)


def python_loop(rng: np.random.Generator, cumulative: np.ndarray, initial: int, inputs: int) -> int:
    """The same loop, as one writes it in Python."""
    corpus = [initial]
    seen = {initial}
    for _ in range(inputs):
        row = cumulative[corpus[rng.integers(len(corpus))]]
        species = min(len(row) - 1, int(row.searchsorted(rng.random())))
        if species not in seen:
            seen.add(species)
            corpus.append(species)
    return len(corpus)


def event_driven() -> None:
    """10^7 inputs, 1000 species: event-driven against drawing every input."""
    urn = Urn(species=1000)
    points = data_points(10**7)
    cumulative = np.cumsum([urn.distribution(s) for s in range(1, 1001)], axis=1)
    compiled_loop(np.random.default_rng(0), cumulative, 4, 10)
    simulate(urn, "greybox", points, 1, 0, full=False)
    python, compiled = [], []
    share = 50  # the Python loop is timed on a 50th of the inputs and scaled up
    for i in range(REPEATS):
        rng = np.random.default_rng(i)
        ours = seconds(partial(simulate, urn, "greybox", points, 20, i, full=False)) / 20
        slow = seconds(partial(python_loop, rng, cumulative, 4, 10**7 // share)) * share
        fast = seconds(partial(compiled_loop, rng, cumulative, 4, 10**7))
        python.append(slow / ours)
        compiled.append(fast / ours)
    report(
        "event-driven over draw-every-input, 10^7 inputs, 1000 species",
        python,
        "times",
        "claim: 1000",
    )
    report("    the same, the loop compiled with numba as well", compiled, "times", "no claim")


def all_estimators() -> None:
    """30 campaigns of 50,000 inputs, 50 species: every estimator at every data point."""
    points = data_points(50_000)

    def job() -> None:
        for run in simulate(Urn(), "greybox", points, 30, 1):
            for observation in run.observations():
                estimate_all(observation)

    job()
    report(
        "30 campaigns, all estimators at all points, warm",
        [seconds(job) for _ in range(REPEATS)],
        "s",
        "claim: 1 s",
    )


def trillion() -> None:
    """One campaign of 10^12 inputs and 10^4 species."""
    urn, points = Urn(species=10_000), data_points(10**12)
    simulate(urn, "greybox", points, 1, 0, full=False)
    times = [
        seconds(partial(simulate, urn, "greybox", points, 1, i, full=False)) for i in range(REPEATS)
    ]
    report(
        "one campaign of 10^12 inputs, 10^4 species, true Δ at all points", times, "s", "claim: 5 s"
    )


def many_seeds() -> None:
    """Every estimator on one observation with 100,000 seeds."""
    rng = np.random.default_rng(1)
    count, n = 100_000, 10**9
    q = rng.random(count)
    inputs = rng.multinomial(n, q / q.sum())
    k = rng.binomial(np.minimum(inputs, 3), 0.1)
    observation = Observation(
        n=n,
        species=200_000,
        f=(9000, 7000, 5000, 4000),
        k=int(k.sum()),
        discoveries=np.unique(rng.integers(1, n, count)),
        seeds=SeedCounts(q / q.sum(), inputs, rng.poisson(3, count), rng.poisson(2, count), k, k),
        resets={1: 3, 10: 40},
        measured=tuple((100 * 2**j, 0.1 / 2**j) for j in range(20)),
    )
    results = estimate_all(observation)
    assert all(isinstance(e, Estimate) for e in results.values())
    times = [seconds(lambda: estimate_all(observation)) * 1000 for _ in range(REPEATS)]
    report("all estimators, 100,000 seeds", times, "ms", "claim: 50 ms")


def start() -> None:
    """``fuzzwise --help`` against an empty Python."""

    def run(*words: str) -> float:
        return seconds(
            lambda: subprocess.run([sys.executable, *words], capture_output=True, check=True)
        )

    run("-m", "fuzzwise", "--help")
    pairs = [(run("-m", "fuzzwise", "--help"), run("-c", "pass")) for _ in range(5 * REPEATS)]
    ratios = [ours / empty for ours, empty in pairs]
    report("fuzzwise --help over python -c pass", ratios, "times", "claim: 4 times")


def main() -> None:
    """Run them all."""
    for benchmark in (event_driven, all_estimators, trillion, many_seeds, start):
        benchmark()


if __name__ == "__main__":
    main()
