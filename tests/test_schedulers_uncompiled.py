"""The same choices compiled and not: a live campaign needs no compiler, and does not load it."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest

from fuzzwise.schedulers import registry
from fuzzwise.schedulers.base import EpochResult, Policy, Scheduler
from fuzzwise.schedulers.compiled import compiled_functions

COUNT = 7
EPOCHS = 300


def campaign(policy: Policy, *, covered: bool = False) -> tuple[list[int], list[float]]:
    """The choices of one seeded campaign, and all numbers that the scheduler ends with.

    ``covered``: of every other configuration coverage is told, and when it is retired.
    """
    rng = np.random.default_rng(11)
    scheduler = Scheduler(policy, COUNT, np.random.default_rng(12))
    choices = []
    for epoch in range(EPOCHS):
        away = epoch % COUNT
        scheduler.pause(away)
        arm = scheduler.choose()
        scheduler.resume(away)
        bugs = int(rng.random() < 0.3 / (1 + arm)) * int(rng.integers(1, 3))
        new_bugs = int(rng.integers(0, bugs + 1))
        runs, seconds = int(rng.integers(1, 300)), float(rng.random() * 5**arm)
        told = (epoch + 1, float(rng.random()), 5.0 * arm, bugs, 10 + 7 * epoch)
        seen = told if covered and arm % 2 else ()
        scheduler.learn(arm, EpochResult(runs, seconds, bugs, new_bugs, bugs, *seen))
        choices.append(arm)
    return choices, [*scheduler._arms.ravel().tolist(), *scheduler._memory.tolist()]


@pytest.mark.parametrize("name", registry.policies())
def test_compiled_and_plain_functions_make_the_same_choices(name):
    _compare(name, covered=False)


@pytest.mark.parametrize("name", ["risk-rate", "risk-rate/proportion"])
def test_they_do_so_where_coverage_is_told(name):
    _compare(name, covered=True)


def _compare(name: str, *, covered: bool) -> None:
    plain = registry.policies()[name]
    compiled = copy.copy(plain)
    object.__setattr__(compiled, "functions", compiled_functions(plain.functions))
    choices, numbers = campaign(compiled, covered=covered)
    assert len(set(choices)) == COUNT, "the campaign must try all configurations"
    assert campaign(plain, covered=covered) == (choices, numbers), "to the last bit"


def test_a_live_campaign_does_not_load_the_compiler():
    words = "import sys, fuzzwise.cli.run, fuzzwise.campaign.manager, fuzzwise.campaign.file\n"
    words += "print('fuzzwise.schedulers.risk_rate' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
