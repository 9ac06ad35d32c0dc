"""How long a comparison on recordings of growth takes: 20 targets, 10 days, 50 schedulers, 100 repeats.

Run ``python benchmarks/growth_replay_speed.py``. The bound is 120 s on 2 cores. Epochs are those of a
live campaign of that length, 60 s. The time on cores is told beside that by the clock, which on a
machine that does other things says little; and then each scheduler's alone.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from fuzzwise.lab.growth.recording import (
    COLUMNS,
    FOUND,
    KEPT,
    RATE,
    RUNS,
    SPECIES,
    GrowthRecording,
    Repeat,
)
from fuzzwise.lab.growth.replay import Settings, replay_growth
from fuzzwise.schedulers.registry import policies

DAYS, TARGETS, SCHEDULERS, REPEATS = 10, 20, 50, 100
SECONDS = DAYS * 86400.0
EPOCH = 60.0
STEP = EPOCH / 8


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    recording = _recording(np.random.default_rng(1))
    known = list(policies().values())
    replay_growth(recording, known, Settings(3600.0, EPOCH), repeats=1)  # compile
    settings, jobs = Settings(SECONDS, EPOCH), min(2, os.cpu_count() or 1)
    chosen = [known[i % len(known)] for i in range(SCHEDULERS)]
    began, used = time.perf_counter(), time.process_time()
    replay_growth(recording, chosen, settings, repeats=options.repeats, jobs=jobs)
    clock, cores = time.perf_counter() - began, time.process_time() - used
    print(
        f"{TARGETS} targets, {DAYS} days, {SCHEDULERS} schedulers, {options.repeats} repeats, "
        f"{jobs} threads: {clock:.1f} s by the clock, {cores / jobs:.1f} s on each core"
    )
    print("\nscheduler: microseconds an epoch")
    for policy in known:
        used = time.process_time()
        replay_growth(recording, [policy], settings, repeats=2)
        print(f"{policy.name:26} {(time.process_time() - used) / 2 / (SECONDS / EPOCH) * 1e6:8.2f}")


def _recording(rng: np.random.Generator) -> GrowthRecording:
    """Targets whose discoveries come with the logarithm of the time, each at its own speed."""
    clock = np.arange(int(SECONDS / STEP) + 1) * STEP
    many = []
    for number in range(TARGETS):
        table = np.zeros((len(clock), COLUMNS)).T
        scale, speed = 10 ** rng.uniform(1, 3), 10 ** rng.uniform(2, 5)
        table[RUNS] = speed * clock
        table[FOUND] = scale * np.log1p(clock)
        table[SPECIES], table[KEPT] = 100 + 3 * table[FOUND], 10 + table[FOUND]
        table[RATE] = scale / (1 + clock)
        at = np.sort(SECONDS ** rng.uniform(0, 1, 5))
        bugs = tuple(range(5 * number, 5 * number + 5))
        many.append((Repeat(f"target {number}", table, bugs, tuple(at.tolist())),))
    names = tuple(f"target {number}" for number in range(TARGETS))
    return GrowthRecording(names, tuple(many), tuple(str(i) for i in range(5 * TARGETS)), STEP)


if __name__ == "__main__":
    main()
