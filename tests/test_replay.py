"""Replay: what a scheduler finds in recorded logs is what it would have found live."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import commands
from fuzzwise.errors import BadInput
from fuzzwise.lab.exact_optimum import optimum_at
from fuzzwise.lab.optimum import best_schedules
from fuzzwise.lab.recording.recording import Recording
from fuzzwise.lab.recording.synthetic import adversarial
from fuzzwise.lab.replay.replay import choices, epoch_lengths, replay
from fuzzwise.schedulers.base import Algorithm, EpochResult, Scheduler
from fuzzwise.schedulers.registry import PAPER_26, find, registered_names
from recordings import PlainConfiguration, configuration, random_recording

NAMES = registered_names()


def small(name: str) -> Algorithm:
    return find(name, epoch_runs=20, epoch_seconds=1.0)


def live(algorithm: Algorithm, recording: Recording, budget: float, seed: int):
    """A live campaign: the scheduler object asks configurations that are fuzzed one by one."""
    arms = [PlainConfiguration(log) for log in recording.configurations]
    scheduler = Scheduler(algorithm.policy, len(arms), np.random.default_rng(seed))
    in_runs = algorithm.epoch.kind == "fixed-run"
    known: set[int] = set()
    chosen = []
    now = 0
    while now < round(budget * 1e6) and not all(arm.exhausted for arm in arms):
        i = scheduler.choose()
        chosen.append(i)
        earlier = set(arms[i].counts)
        runs, microseconds, shown = arms[i].fuzz(
            int(algorithm.epoch.length) if in_runs else None,
            None if in_runs else round(algorithm.epoch.length * 1e6),
        )
        now += microseconds
        singletons = sum(count == 1 for count in arms[i].counts.values())
        result = EpochResult(
            runs, microseconds / 1e6, len(set(shown) - earlier), len(set(shown) - known), singletons
        )
        known |= set(shown)
        if arms[i].exhausted:
            scheduler.pause(i)
        scheduler.learn(i, result)
    return chosen


@pytest.mark.parametrize("name", NAMES)
def test_a_live_scheduler_makes_the_choices_of_the_replay(name):
    recording = random_recording(np.random.default_rng(5), 7, 12, shared=True, seconds=60)
    for budget, seed in ((60.0, 1), (300.0, 2)):  # the longer one uses up some logs
        expected = live(small(name), recording, budget, seed)
        chosen = choices(recording, small(name), np.random.default_rng(seed), budget=budget)
        assert chosen.tolist() == expected


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    configurations=st.integers(1, 6),
    bugs=st.integers(1, 14),
    shared=st.booleans(),
    budget=st.floats(1, 150),
)
def test_no_scheduler_beats_the_optimum_at_any_time(seed, configurations, bugs, shared, budget):
    recording = random_recording(np.random.default_rng(seed), configurations, bugs, shared=shared)
    curves = best_schedules(recording)
    best = optimum_at(recording, round(budget * 1e6), curves=curves)
    for result in replay(recording, [small(n) for n in NAMES], budget=budget, repeats=1, seed=seed):
        found = result.found[0]
        assert (found <= budget).sum() <= best.upper
        for count, when in enumerate(found[np.isfinite(found)], start=1):
            assert count <= curves.upper.bugs_at(round(when * 1e6))


@pytest.mark.parametrize("count", [1, 2, 5, 20])
@pytest.mark.parametrize("kind", ["fixed-run", "fixed-time"])
def test_round_robin_is_at_most_k_times_slower_than_the_optimum(count, kind):
    recording = adversarial(count)
    epoch = recording.configurations[0].seconds / 50
    speed = recording.configurations[0].total_runs / recording.configurations[0].seconds
    algorithm = find(
        f"{kind}/round-robin", epoch_runs=max(1, int(epoch * speed)), epoch_seconds=epoch
    )
    budget = sum(log.seconds for log in recording.configurations)
    times = best_schedules(recording).times
    for seed in range(5):
        (result,) = replay(recording, [algorithm], budget=budget, repeats=3, seed=seed)
        for b in range(1, len(times)):
            # Time comes in whole epochs: round them up before comparing.
            optimal = np.ceil(times[b] / 1e6 / epoch) * epoch
            assert (result.found[:, b - 1] <= count * optimal + 1e-6).all()


def test_an_epoch_returns_what_the_log_shows_for_that_stretch():
    log = configuration("c", 10, 100, [(5, 0), (150, 1), (150, 0), (999, 2)])
    recording = Recording((log,), ("a", "b", "c"))
    (result,) = replay(recording, [find("fixed-time/round-robin")], repeats=1)
    assert result.found[0] == pytest.approx([0.05, 1.5, 9.99])
    assert result.bugs_at(1.5).tolist() == [2]
    assert result.bugs_at(1.49).tolist() == [1]
    assert result.area == pytest.approx([(0.995 + 0.85 + 0.001)])


def test_the_budget_cuts_and_a_longer_one_goes_on_with_what_is_left():
    logs = (configuration("a", 10, 10, [(99, 0)]), configuration("b", 20, 10, [(199, 1)]))
    recording = Recording(logs, ("x", "y"))
    algorithm = find("fixed-time/round-robin", epoch_seconds=1.0)
    (short,) = replay(recording, [algorithm], repeats=4)
    assert short.budget == 10
    assert np.isinf(short.found).all()
    (long,) = replay(recording, [algorithm], repeats=4, budget=100)
    assert np.isfinite(long.found).all()
    assert long.found[:, 1] == pytest.approx([29.9] * 4)


def test_repeats_follow_from_the_seed_whatever_the_number_of_threads():
    recording = random_recording(np.random.default_rng(1), 6, 10, shared=True)
    algorithms = [small(name) for name in PAPER_26]
    one = replay(recording, algorithms, repeats=5, seed=3, jobs=1)
    two = replay(recording, algorithms, repeats=5, seed=3, jobs=2)
    other = replay(recording, algorithms, repeats=5, seed=4, jobs=2)
    assert all(np.array_equal(a.found, b.found) for a, b in zip(one, two, strict=True))
    assert any(not np.array_equal(a.found, b.found) for a, b in zip(one, other, strict=True))


def test_epochs_are_those_of_the_paper_unless_the_budget_is_too_short():
    logs = tuple(configuration(f"c{i}", 100_000, 5.0, []) for i in range(4))
    recording = Recording(logs, ())
    assert epoch_lengths(recording, 100_000) == (200, 10.0)
    assert epoch_lengths(recording, 800) == (200, 10.0)
    assert epoch_lengths(recording, 400) == (25, 5.0)
    assert epoch_lengths(recording, 8) == (1, 0.1)


def test_bad_requests_are_refused():
    recording = random_recording(np.random.default_rng(1), 2, 2, shared=False)
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(BadInput, match="budget"):
            replay(recording, [small(PAPER_26[0])], budget=wrong)
    with pytest.raises(BadInput, match="repeats"):
        replay(recording, [small(PAPER_26[0])], repeats=0)


def fuzzwise(*words: object, cwd=None) -> subprocess.CompletedProcess[str]:
    return commands.fuzzwise("replay", *words, cwd=cwd)


def test_the_command_compares_all_schedulers_and_draws(tmp_path):
    words = ("--synthetic", 12, "--budget", "2h", "--repeats", 5, "--seed", 3)
    shown = fuzzwise(*words, "--chart", tmp_path / "bugs.svg")
    assert shown.returncode == 0, shown.stderr
    assert all(name in shown.stdout for name in NAMES)
    assert "The best schedule in hindsight finds" in shown.stdout
    assert "offline optimum" in (tmp_path / "bugs.svg").read_text()
    result = json.loads(fuzzwise(*words, "--json").stdout)
    assert {s["name"] for s in result["schedulers"]} == set(NAMES)
    for score in result["schedulers"]:
        assert 0 <= score["low"] <= score["bugs"] <= score["high"]
        assert score["share_of_optimum"] == pytest.approx(score["bugs"] / result["optimum"])
        assert 0 <= score["auc"] <= score["bugs"] <= result["optimum"]
    assert sum(result["optimum_allocation"].values()) <= 7200


def test_the_command_refuses_what_it_cannot_do(tmp_path):
    for words, said in (
        ((), "Give one thing to replay"),
        (("--synthetic", 3, "--scheduler", "fixed-time/roundrobin"), "fixed-time/round-robin"),
        ((tmp_path,), "holds no log"),
        ((tmp_path / "none.fuzzlog",), "cannot be read"),
        (("--synthetic", 3, "--budget", "soon"), "is not a duration"),
    ):
        result = fuzzwise(*words)
        assert result.returncode == 2
        assert said in result.stderr
        assert "Traceback" not in result.stderr
