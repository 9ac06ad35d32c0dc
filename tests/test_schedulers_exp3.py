"""EXP3.S.1 step by step: its restarts, its probabilities, and that rescaling changes neither."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fuzzwise.schedulers import exp3
from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.exp3 import GAMMA, LENGTH, PROBABILITY, STEP, TOTAL, WEIGHT, Exp3S1

FOUND = EpochResult(200, 1.0, bugs=1, new_bugs=1)
NOTHING = EpochResult(200, 1.0)


def test_restart_r_lasts_2_to_the_r_steps_with_its_own_gamma():
    count = 3
    scheduler = Scheduler(Exp3S1(), count, np.random.default_rng(0))
    for r in range(9):
        length = 2**r
        gamma = min(1.0, math.sqrt(count * math.log(count * length) / length))
        for step in range(length):
            arm = scheduler.choose()
            assert scheduler._memory[LENGTH] == length
            assert scheduler._memory[STEP] == step
            assert scheduler._memory[GAMMA] == pytest.approx(gamma)
            if step == 0:
                assert (scheduler._arms[:, WEIGHT] == 1).all()
                assert scheduler._arms[arm, PROBABILITY] == pytest.approx(1 / count)
            scheduler.learn(arm, FOUND if arm == 1 else NOTHING)


def test_one_step_by_hand():
    """K = 2 in restart r = 5 (T = 32): γ = √(2 ln 64/32), α = 1/32."""
    scheduler = Scheduler(Exp3S1(), 2, np.random.default_rng(1))
    for _ in range(31):  # restarts 0 … 4
        scheduler.learn(scheduler.choose(), NOTHING)
    gamma = math.sqrt(2 * math.log(64) / 32)
    arm = scheduler.choose()
    scheduler.learn(arm, FOUND)
    share = math.e / 32 / 2 * 2
    grown = math.exp(gamma * (1 / 0.5) / 2) + share
    assert scheduler._arms[arm, WEIGHT] == pytest.approx(grown)
    assert scheduler._arms[1 - arm, WEIGHT] == pytest.approx(1 + share)
    again = scheduler.choose()
    p = (1 - gamma) * grown / (grown + 1 + share) + gamma / 2
    assert scheduler._arms[again, PROBABILITY] == pytest.approx(p if again == arm else 1 - p)


def test_a_bug_that_is_not_new_to_the_campaign_is_no_reward():
    scheduler = Scheduler(Exp3S1(), 2, np.random.default_rng(2))
    for _ in range(40):
        scheduler.learn(scheduler.choose(), EpochResult(200, 1.0, bugs=3, new_bugs=0))
    weights = scheduler._arms[:, WEIGHT]
    assert weights[0] == weights[1]


def test_a_late_result_uses_the_probability_of_its_draw():
    scheduler = Scheduler(Exp3S1(), 2, np.random.default_rng(3))
    for _ in range(127 + 60):  # in restart 7, with unequal weights
        arm = scheduler.choose()
        scheduler.learn(arm, FOUND if arm == 0 else NOTHING)
    scheduler.pause(0)
    assert scheduler.choose() == 1
    drawn_alone = scheduler._arms[1, PROBABILITY]
    assert drawn_alone == pytest.approx(1)
    scheduler.resume(0)
    scheduler.pause(1)
    scheduler.choose()
    before = scheduler._arms[:, WEIGHT].copy()
    scheduler.learn(1, FOUND)
    share = math.e / 128 / 2 * before.sum()
    growth = math.exp(scheduler._memory[GAMMA] / 2)
    assert scheduler._arms[1, WEIGHT] == pytest.approx(before[1] * growth + share)


def test_rescaling_the_weights_does_not_change_the_probabilities():
    """Rewards without end let weights grow beyond any float; one of two twins is close to that."""
    small, large = (Scheduler(Exp3S1(), 3, np.random.default_rng(4)) for _ in range(2))
    for twin in (small, large):
        for _ in range(1023 + 10):  # in restart 10
            arm = twin.choose()
            twin.learn(arm, FOUND if arm == 0 else NOTHING)
    near = exp3.TOO_LARGE / 8
    large._arms[:, WEIGHT] *= near
    large._memory[TOTAL] *= near
    for _ in range(1000):
        arm = small.choose()
        assert large.choose() == arm
        assert large._arms[arm, PROBABILITY] == small._arms[arm, PROBABILITY]
        for twin in (small, large):
            twin.learn(arm, FOUND if arm == 0 else NOTHING)
    assert large._memory[LENGTH] == 1024
    ratio = large._arms[:, WEIGHT] / small._arms[:, WEIGHT]
    assert (ratio == near * exp3.SMALLER).all(), "the weights must have been scaled, by the same"
