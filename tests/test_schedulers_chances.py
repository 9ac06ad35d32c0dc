"""Every scheduler against its literal re-statement: the chances of the next choice.

A campaign of random epochs is played; at many points of it the same choice is made again and again
from the same state. What the re-statement calls impossible must never be chosen, and the
frequencies of the rest must pass a chi-squared test.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import scheduler_restatements as restated
from fuzzwise.schedulers import registry
from fuzzwise.schedulers.base import Policy, start_arms
from fuzzwise.schedulers.beliefs import BELIEFS
from fuzzwise.schedulers.bff import Bff
from fuzzwise.schedulers.boian import Boian
from fuzzwise.schedulers.compiled import compiled_functions
from fuzzwise.schedulers.epsilon_greedy import EpsilonGreedy
from fuzzwise.schedulers.exp3 import Exp3S1
from fuzzwise.schedulers.fewa import Fewa
from fuzzwise.schedulers.good_ucb import GoodUcb
from fuzzwise.schedulers.hypofuzz import HypoFuzz
from fuzzwise.schedulers.kernel import AVAILABLE, EPOCH_SIZE, STARTED, account
from fuzzwise.schedulers.raw_ucb import RawUcb
from fuzzwise.schedulers.risk_rate import RiskRate
from fuzzwise.schedulers.round_robin import RoundRobin
from fuzzwise.schedulers.thompson import Thompson
from fuzzwise.schedulers.uniform_random import UniformRandom
from fuzzwise.schedulers.weighted_random import WeightedRandom

COUNT = 5
EPOCHS = 60
DRAWS = 1000
ALPHA = 1e-7  # about 600 chi-squared tests: fails by chance with probability 6e-5; seeds are fixed

POLICIES = registry.policies()

# the policy, and its re-statement with the same parameters
CASES: dict[str, tuple[Policy, type[restated.Restatement], dict[str, object]]] = {
    "round-robin": (RoundRobin(), restated.RoundRobin, {}),
    "uniform-random": (UniformRandom(), restated.UniformRandom, {}),
    "exp3.s.1": (Exp3S1(), restated.Exp3S1, {}),
    "bff": (Bff(), restated.Bff, {}),
    **{
        f"weighted-random/{b}": (WeightedRandom(b), restated.WeightedRandom, {"belief": b})
        for b in BELIEFS
    },
    **{
        f"epsilon-greedy/{b}": (EpsilonGreedy(b), restated.EpsilonGreedy, {"belief": b})
        for b in BELIEFS
    },
    "epsilon-greedy, often anyone": (
        EpsilonGreedy("rgr", 0.7),
        restated.EpsilonGreedy,
        {"belief": "rgr", "epsilon": 0.7},
    ),
    "boian": (Boian(), restated.Boian, {}),
    "boian, quick to explore": (
        Boian((0.5, 0.7, 0.9), 0.1, 0.6, 4.0),
        restated.Boian,
        {
            "discounts": (0.5, 0.7, 0.9),
            "first_epsilon": 0.1,
            "last_epsilon": 0.6,
            "half_life": 4.0,
        },
    ),
    "hypofuzz": (HypoFuzz(), restated.HypoFuzz, {}),
    "hypofuzz, high floor": (HypoFuzz(0.15), restated.HypoFuzz, {"floor": 0.15}),
    "good-ucb": (GoodUcb(), restated.GoodUcb, {}),
    "good-ucb, trusting": (GoodUcb(0.02), restated.GoodUcb, {"c": 0.02}),
    "thompson": (Thompson(), restated.Thompson, {}),
    "thompson, forgetful": (
        Thompson(0.6, 2.0),
        restated.Thompson,
        {"discount": 0.6, "strength": 2.0},
    ),
    "raw-ucb": (RawUcb(), restated.RawUcb, {}),
    "raw-ucb, wide": (RawUcb(3.0, 0.7), restated.RawUcb, {"alpha": 3.0, "sigma": 0.7}),
    "fewa": (Fewa(), restated.Fewa, {}),
    "fewa, wide": (Fewa(0.06, 1.0), restated.Fewa, {"sigma": 1.0}),
    "risk-rate": (RiskRate(), restated.RiskRate, {}),
    "risk-rate, duplicates count": (
        RiskRate(2.0, 1.0),
        restated.RiskRate,
        {"prior": 2.0, "duplicates": 1.0},
    ),
}


def random_result(arm: int, rng: np.random.Generator, singletons: list[int]) -> restated.Result:
    """An epoch as configurations of very different speed and luck have them, sometimes empty."""
    if rng.random() < 0.05:
        return restated.Result(arm, 0.0, 0.0, 0, 0, singletons[arm])
    runs = float(rng.integers(1, 50) * 4**arm)
    bugs = int(rng.poisson(0.6)) if arm != 1 else 0
    new_bugs = int(rng.integers(0, bugs + 1))
    singletons[arm] = max(0, singletons[arm] + bugs - int(rng.integers(0, 2)))
    seconds = float(rng.choice([0.5, 1.0, 3.0]))
    return restated.Result(arm, runs, seconds, bugs, new_bugs, singletons[arm])


def assert_follows(counts: np.ndarray, chances: dict[int, float], where: str) -> None:
    expected = np.array([chances.get(arm, 0.0) for arm in range(COUNT)])
    assert expected.sum() == pytest.approx(1)
    impossible = expected < 1e-12
    assert counts[impossible].sum() == 0, f"{where}: chose {counts}, chances {expected}"
    expected = expected * counts.sum()
    rare = expected < 10
    observed = [*counts[~rare], counts[rare].sum()]
    wanted = [*expected[~rare], expected[rare].sum()]
    if wanted[-1] < 1:  # too little to test on its own
        wanted[-2:] = [wanted[-2] + wanted[-1]]
        observed[-2:] = [observed[-2] + observed[-1]]
    if len(wanted) > 1:
        p = stats.chisquare(observed, wanted).pvalue
        assert p > ALPHA, f"{where}: chose {counts}, expected {expected}"


def test_every_registered_policy_is_restated():
    by_bugs = {name for name, policy in POLICIES.items() if not policy.needs_coverage}
    assert by_bugs <= set(CASES)  # the others: test_schedulers_rivals.py


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_choices_have_the_chances_of_the_restatement(case):
    policy, restatement, parameters = CASES[case]
    functions = compiled_functions(
        policy.functions
    )  # that the plain ones choose the same is tested
    literal = restatement(COUNT, **parameters)
    rng = np.random.default_rng(20)
    arms, memory = start_arms(policy, COUNT), policy.memory(COUNT)
    singletons = [0] * COUNT
    in_flight: list[restated.Result] = []
    for epoch in range(EPOCHS):
        available = [a for a in range(COUNT) if rng.random() < 0.8] or [int(rng.integers(COUNT))]
        arms[:, AVAILABLE] = 0.0
        arms[available, AVAILABLE] = 1.0
        if epoch < 9 or epoch % 5 == 0:
            counts = np.zeros(COUNT, int)
            for _ in range(DRAWS):
                counts[functions.choose(arms.copy(), memory.copy(), rng)] += 1
            chances = literal.chances(available)
            assert_follows(counts, chances, f"epoch {epoch}, available {available}")
        arm = functions.choose(arms, memory, rng)
        arms[arm, STARTED] += 1
        literal.chose(arm, available)
        in_flight.append(random_result(arm, rng, singletons))
        while in_flight and (len(in_flight) > 2 or rng.random() < 0.8):  # results may be late
            r = in_flight.pop(0)
            told = [r.runs, r.seconds, r.bugs, r.new_bugs, r.singletons]
            seen = np.array(told + [0] * (EPOCH_SIZE - len(told)), float)
            account(arms, r.arm, seen)
            functions.learn(arms, memory, r.arm, seen)
            literal.learned(r)
