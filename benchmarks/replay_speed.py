"""How long a full comparison takes: the 26 algorithms, 100 repeats, 100 configurations, 10 days.

Run ``python benchmarks/replay_speed.py``. The bound is 120 s on 2 cores. Then, for each scheduler, the
epochs of one replay and the time that one takes.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from fuzzwise.lab.recording.recording import Recording
from fuzzwise.lab.recording.synthetic import SyntheticCampaign, generate
from fuzzwise.lab.replay.replay import choices, replay
from fuzzwise.schedulers.base import Algorithm
from fuzzwise.schedulers.registry import PAPER_26, find, registered_names


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="the newer schedulers, too")
    options = parser.parse_args()
    recording = generate(SyntheticCampaign(configurations=100, seconds=10 * 86400.0, seed=1))[0]
    names = registered_names() if options.all else PAPER_26
    algorithms = [find(name) for name in names]
    replay(recording, algorithms, repeats=1, budget=3600.0)  # compile
    jobs = min(2, os.cpu_count() or 1)
    totals = []
    for _ in range(options.rounds):
        started = time.perf_counter()
        replay(recording, algorithms, repeats=options.repeats, jobs=jobs)
        totals.append(time.perf_counter() - started)
    shown = ", ".join(f"{total:.1f}" for total in totals)
    print(
        f"{len(names)} algorithms x {options.repeats} repeats, 100 configurations, 10 days, "
        f"{jobs} threads: {shown} s"
    )
    print("\nscheduler: epochs of one replay, microseconds an epoch")
    for algorithm in algorithms:
        _one(recording, algorithm)


def _one(recording: Recording, algorithm: Algorithm) -> None:
    started = time.perf_counter()
    epochs = len(choices(recording, algorithm, np.random.default_rng(1), most=20_000_000))
    compiled = (time.perf_counter() - started) / epochs
    print(f"{algorithm.name:42} {epochs:>9,} {compiled * 1e6:8.2f}")


if __name__ == "__main__":
    main()
