"""Comparing schedulers: means with honest intervals, tests against baselines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fuzzwise.lab.evaluate.comparison import BASELINES, compare, holm, mean
from fuzzwise.lab.replay.replay import Replay, replay
from fuzzwise.schedulers.registry import find
from recordings import random_recording


def made_up(name: str, found: list[list[float]], budget: float = 10.0) -> Replay:
    return Replay(find(name), budget, np.array(found, float))


@pytest.mark.slow
def test_interval_of_the_mean_covers_as_often_as_it_says():
    recording = random_recording(np.random.default_rng(3), 8, 30, shared=True)
    algorithm = find("fixed-time/epsilon-greedy/rate", epoch_seconds=1.0)
    (result,) = replay(recording, [algorithm], budget=40, repeats=12_000)
    bugs = result.bugs_at(40).astype(float)
    truth = bugs.mean()
    covered = sum(m.low <= truth <= m.high for m in (mean(part) for part in bugs.reshape(400, 30)))
    # 400 intervals of 95 %: fewer than 368 happen once in 1000 such tests.
    assert 368 <= covered <= 396


def test_a_single_repeat_and_equal_repeats_have_no_width():
    assert (mean(np.array([3.0])).low, mean(np.array([3.0])).high) == (3, 3)
    assert (mean(np.array([2.0] * 9)).low, mean(np.array([2.0] * 9)).high) == (2, 2)


def test_scores_come_best_area_first_with_the_share_of_the_optimum():
    good = made_up("fixed-time/uniform-random", [[1, 2, 3]] * 4)
    bad = made_up("fixed-run/round-robin", [[1, 9, np.inf]] * 4)
    first, second = compare([bad, good], 4, [2.0, 10.0])
    assert (first.name, second.name) == ("fixed-time/uniform-random", "fixed-run/round-robin")
    assert first.bugs.value == 3
    assert first.share_of_optimum == 0.75
    assert [(time, m.value) for time, m in second.at] == [(2.0, 1.0), (10.0, 2.0)]
    assert first.area.value == pytest.approx((9 + 8 + 7) / 10)
    assert first.against[0].bugs_ratio == 1.5
    assert first.against[0].ratio == pytest.approx((9 + 8 + 7) / (9 + 1))
    assert first.against[0].chance == 1.0
    assert second.against == ()


def test_an_optimum_of_nothing_has_no_share():
    nothing = made_up("fixed-run/round-robin", [[np.inf]] * 3)
    (score,) = compare([nothing], 0, [10.0])
    assert score.share_of_optimum is None
    assert score.bugs.value == 0


def test_equal_schedulers_differ_significantly_as_rarely_as_the_test_promises():
    rng = np.random.default_rng(8)
    small = 0
    for _ in range(300):
        base = made_up(BASELINES[0], rng.uniform(0, 10, (20, 3)).tolist())
        same = made_up("fixed-time/uniform-random", rng.uniform(0, 10, (20, 3)).tolist())
        scores = {s.name: s for s in compare([base, same], 3, [10.0])}
        small += scores["fixed-time/uniform-random"].against[0].p < 0.05
    assert small <= stats.binom(300, 0.05).ppf(0.999)


def test_holm_matches_a_worked_example():
    # Sorted 0.01, 0.02, 0.03, 0.04 with factors 4, 3, 2, 1, never falling.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []
