"""How long the offline optimum takes for 100 configurations and 1000 bugs, against HiGHS.

Run ``python benchmarks/optimum_speed.py``. Without shared bugs, our dynamic programme gives the
optimum at *every* time and an allocation; HiGHS (``scipy.optimize.milp``) solves the same problem
for *one* budget, with the model of ``exact_optimum`` and the time to build it. Both must agree. With shared bugs only HiGHS is exact, and ours gives the bounds.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fuzzwise.lab.exact_optimum import optimum_at, solve_exactly
from fuzzwise.lab.optimum import best_schedules
from fuzzwise.lab.recording.recording import ConfigurationLog, Recording
from fuzzwise.lab.recording.synthetic import SyntheticCampaign, generate
from timing import report, seconds

REPEATS = 7
CONFIGURATIONS = 100
BUGS = 1000
LIMIT = 2.0
DAY = 86_400_000_000


def planted(seed: int, *, everywhere: bool) -> Recording:
    """Exactly BUGS bugs, spread over the configurations or shown by every one of them."""
    rng = np.random.default_rng(seed)
    home = rng.choice(CONFIGURATIONS, BUGS, p=rng.dirichlet(np.full(CONFIGURATIONS, 0.3)))
    logs = []
    for i in range(CONFIGURATIONS):
        bugs = rng.permutation(BUGS) if everywhere else np.flatnonzero(home == i)
        times = np.sort(np.exp(rng.uniform(np.log(1e4), np.log(10 * DAY), len(bugs))))
        logs.append(
            ConfigurationLog(
                f"c{i}",
                np.arange(1, len(bugs) + 2),
                np.append(times, 10 * DAY).astype(np.int64),
                np.append(bugs, -1),
            )
        )
    return Recording(tuple(logs), tuple(map(str, range(BUGS))))


def solve_and_trace(recording: Recording) -> None:
    """The whole row, both curves, and the allocation for every number of bugs."""
    best = best_schedules(recording)
    for bugs in range(len(best.lower.times)):
        best.allocation(bugs)


def _one_allocation(recording: Recording) -> None:
    best_schedules(recording).allocation(BUGS // 2)


def no_shared_bugs() -> None:
    ours, ratios = [], []
    for seed in range(REPEATS):
        recording = planted(seed, everywhere=False)
        ours.append(seconds(partial(solve_and_trace, recording)))
        single = seconds(partial(_one_allocation, recording))
        highs = seconds(partial(solve_exactly, recording, DAY, time_limit=60))
        ratios.append(highs / single)
        answer = solve_exactly(recording, DAY, time_limit=60)
        assert answer.exact
        assert answer.lower == best_schedules(recording).lower.bugs_at(DAY)
    report(
        f"optimum at every time, {CONFIGURATIONS} configurations, {BUGS} bugs, all {BUGS} allocations",
        ours,
        "s",
        f"claim: {LIMIT:g} s",
    )
    report("    HiGHS at one budget over ours at all of them", ratios, "times", "no claim")


def every_bug_everywhere() -> None:
    recordings = [planted(seed, everywhere=True) for seed in range(REPEATS)]
    times = [seconds(partial(best_schedules, recording)) for recording in recordings]
    report(
        f"bounds, {CONFIGURATIONS} configurations that all show all {BUGS} bugs",
        times,
        "s",
        f"claim: {LIMIT:g} s",
    )


def shared_bugs() -> None:
    times, gaps, exact = [], [], 0
    for seed in range(REPEATS):
        recording, _ = generate(SyntheticCampaign(seed=seed, shared=0.2))
        curves = best_schedules(recording)
        times.append(seconds(partial(optimum_at, recording, DAY, curves=curves)))
        answer = optimum_at(recording, DAY, curves=curves)
        exact += answer.exact
        gaps.append(answer.lower / max(1, curves.lower.bugs_at(DAY)))
    report(
        "exact optimum at one budget, synthetic, a fifth of the bugs shared",
        times,
        "s",
        f"proven in {exact} of {REPEATS}",
    )
    report("    bugs of the exact optimum over FS's lower bound", gaps, "times", "no claim")


def drawing() -> None:
    times = [seconds(partial(generate, SyntheticCampaign(seed=seed))) for seed in range(REPEATS)]
    report("a synthetic recording, 100 configurations, 10 days", times, "s", "claim: 1 s")


def main() -> None:
    """Run them all."""
    for benchmark in (no_shared_bugs, every_bug_everywhere, shared_bugs, drawing):
        benchmark()


if __name__ == "__main__":
    main()
