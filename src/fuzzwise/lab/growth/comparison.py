"""Schedulers compared on recordings of growth, each pair on the same repeats of the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fuzzwise.lab.evaluate.comparison import Mean, mean
from fuzzwise.lab.growth.bound import best_curve
from fuzzwise.lab.growth.recording import GrowthRecording
from fuzzwise.lab.growth.replay import BINS, GrowthReplay, Settings, drawn
from fuzzwise.lab.growth.worth import prices
from fuzzwise.model import Floats

BASELINE = "round-robin"


@dataclass(frozen=True)
class GrowthScore:
    """How a scheduler did: ``area`` is the mean of the outcome over the budget.

    ``ratio``: area over that of Round-Robin, replay by replay; ``lowest``: the least ratio of the
    mean curves after the first round; ``at``: the outcome at the asked moments;
    ``share_of_optimum``: area over that of the bound, None where that is 0.
    """

    name: str
    area: Mean
    ratio: Mean
    lowest: float
    at: tuple[Mean, ...]
    share_of_optimum: float | None


def compare(
    replays: Sequence[GrowthReplay],
    recording: GrowthRecording,
    outcome: int,
    moments: Sequence[float],
    seed: int,
) -> list[GrowthScore]:
    """The scores, the best area first; ``moments`` are shares of the budget."""
    base = next(replay for replay in replays if replay.name == BASELINE)
    first = one_round(len(recording.targets), base.settings)
    best = optimum(base, recording, outcome, seed).mean()
    scores = []
    for replay in replays:
        curve, below = replay.curve(outcome), base.curve(outcome)
        means, base_means = curve.mean(axis=0)[first:], below.mean(axis=0)[first:]
        area = replay.area(outcome)
        scores.append(
            GrowthScore(
                replay.name,
                mean(area),
                mean(_ratio(area, base.area(outcome))),
                float(_ratio(means, base_means).min()),
                tuple(mean(curve[:, max(0, round(m * BINS) - 1)]) for m in moments),
                float(area.mean() / best) if best > 0 else None,
            )
        )
    return sorted(scores, key=lambda score: (-score.area.value, score.name))


def one_round(targets: int, settings: Settings) -> int:
    """The bin by which every target has had a whole epoch."""
    seconds = targets * settings.epoch / settings.cores
    return min(BINS - 1, int(np.ceil(seconds / settings.budget * BINS)))


def optimum(base: GrowthReplay, recording: GrowthRecording, outcome: int, seed: int) -> Floats:
    """The bound at the end of each bin, mean over the recorded repeats that replays drew."""
    draws = (drawn(recording, np.random.default_rng((seed, i)))[0] for i in range(len(base.curves)))
    price = prices(recording)
    bounds = [best_curve(one, recording.step, base.settings, outcome, price) for one in draws]
    mean_bound: Floats = np.mean(bounds, axis=0)
    return mean_bound


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The ratio; 1 where both are nothing."""
    return np.where(
        other > 0, one / np.where(other > 0, other, 1.0), np.where(one > 0, np.inf, 1.0)
    )
