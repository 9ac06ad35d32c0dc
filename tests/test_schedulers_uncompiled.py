"""The same choices with and without numba: a live campaign needs no compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzzwise.schedulers import registry
from fuzzwise.schedulers.base import EpochResult, Scheduler

COUNT = 7
EPOCHS = 300

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None  # any import of it fails
sys.path.insert(0, sys.argv[1])
import json, test_schedulers_uncompiled as here
print(json.dumps({name: here.campaign(name) for name in here.registry.policies()}))
"""


def campaign(name: str) -> tuple[list[int], list[float]]:
    """The choices of one seeded campaign, and all numbers that the scheduler ends with."""
    rng = np.random.default_rng(11)
    scheduler = Scheduler(registry.policies()[name], COUNT, np.random.default_rng(12))
    choices = []
    for epoch in range(EPOCHS):
        away = epoch % COUNT
        scheduler.pause(away)
        arm = scheduler.choose()
        scheduler.resume(away)
        bugs = int(rng.random() < 0.3 / (1 + arm)) * int(rng.integers(1, 3))
        new_bugs = int(rng.integers(0, bugs + 1))
        runs, seconds = int(rng.integers(1, 300)), float(rng.random() * 5**arm)
        scheduler.learn(arm, EpochResult(runs, seconds, bugs, new_bugs, bugs))
        choices.append(arm)
    return choices, [*scheduler._arms.ravel().tolist(), *scheduler._memory.tolist()]


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, tuple[list[int], list[float]]]:
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA, here], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", registry.policies())
def test_compiled_and_plain_functions_make_the_same_choices(name, uncompiled):
    choices, numbers = campaign(name)
    assert choices == uncompiled[name][0]
    assert len(set(choices)) == COUNT, "the campaign must try all configurations"
    assert numbers == uncompiled[name][1], "to the last bit"
