"""Schedulers compared: bugs over time with intervals, against the optimum and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fuzzwise.lab.replay.replay import Replay
from fuzzwise.model import Floats, Ints

BASELINES = ("fixed-run/round-robin", "fixed-run/bff")
"""What every scheduler is compared with: the naive one and the one of CERT BFF."""


@dataclass(frozen=True)
class Mean:
    """The mean over the repeats, with the 95 % interval of that mean."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Against:
    """A scheduler against a baseline.

    ``ratio``: mean area over the baseline's; ``bugs_ratio``: the same of the bugs at the end.
    ``chance``: the probability that a repeat has a larger area than one of the baseline (Vargha and
    Delaney's A12). ``p``: of the two-sided Mann-Whitney test on the areas, corrected by Holm's
    method for the number of schedulers.
    """

    baseline: str
    ratio: float
    bugs_ratio: float
    chance: float
    p: float


@dataclass(frozen=True)
class SchedulerScore:
    """How one scheduler did."""

    name: str
    bugs: Mean
    at: tuple[tuple[float, Mean], ...]
    area: Mean
    share_of_optimum: float | None
    against: tuple[Against, ...] = field(default=())


def mean(values: Floats, confidence: float = 0.95, least: float = 0.0) -> Mean:
    """The mean and its interval by Student's t; a single value has no width.

    ``least``: what no value can be below, nor the interval.
    """
    from scipy import stats

    middle = float(np.mean(values))
    if len(values) < 2:
        return Mean(middle, middle, middle)
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    reach = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return Mean(middle, max(least, middle - reach), middle + reach)


def compare(
    replays: Sequence[Replay], optimum: float | None, times: Sequence[float]
) -> list[SchedulerScore]:
    """The scores of all schedulers, the best area first."""
    by_name = {replay.algorithm.name: replay for replay in replays}
    baselines = [by_name[name] for name in BASELINES if name in by_name]
    tests = {b.algorithm.name: _tests(replays, b) for b in baselines}
    scores = [
        SchedulerScore(
            name=name,
            bugs=(bugs := mean(replay.bugs_at(replay.budget).astype(float))),
            at=tuple((time, mean(replay.bugs_at(time).astype(float))) for time in times),
            area=mean(replay.area),
            share_of_optimum=bugs.value / optimum if optimum else None,
            against=tuple(tests[b][name] for b in tests if name in tests[b]),
        )
        for name, replay in by_name.items()
    ]
    return sorted(scores, key=lambda score: (-score.area.value, score.name))


def _tests(replays: Sequence[Replay], baseline: Replay) -> dict[str, Against]:
    from scipy import stats

    others = [replay for replay in replays if replay is not baseline]
    chances: list[float] = []
    ps: list[float] = []
    for replay in others:
        test = stats.mannwhitneyu(replay.area, baseline.area, alternative="two-sided")
        chances.append(float(test.statistic) / (len(replay.area) * len(baseline.area)))
        ps.append(1.0 if np.isnan(test.pvalue) else float(test.pvalue))
    return {
        replay.algorithm.name: Against(
            baseline=baseline.algorithm.name,
            ratio=_ratio(replay.area, baseline.area),
            bugs_ratio=_ratio(replay.bugs_at(replay.budget), baseline.bugs_at(baseline.budget)),
            chance=chance,
            p=p,
        )
        for replay, chance, p in zip(others, chances, holm(ps), strict=True)
    }


def _ratio(values: Floats | Ints, base: Floats | Ints) -> float:
    """The ratio of two means; not a number if the lower one is 0."""
    below = float(base.mean())
    return float(values.mean()) / below if below else float("nan")


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction for testing them all."""
    order = np.argsort(ps)
    corrected = np.empty(len(ps))
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = largest
    return corrected.tolist()
