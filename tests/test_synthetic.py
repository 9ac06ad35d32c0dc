"""Synthetic recordings: drawn from what they say they are drawn from."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from fuzzwise.errors import BadInput
from fuzzwise.lab.optimum import best_schedules
from fuzzwise.lab.recording.recording import MARK, ConfigurationLog
from fuzzwise.lab.recording.synthetic import SyntheticCampaign, adversarial, generate

ALPHA = 1e-4
"""Chance that a statistical test fails although all is well, were the seeds drawn anew."""


def crashes_of(log: ConfigurationLog, bug: int) -> np.ndarray:
    return log.runs[log.bugs == bug]


def test_gaps_between_the_crashes_of_a_bug_are_geometric_with_its_probability():
    """Kolmogorov-Smirnov on every gap's place in its distribution, spread out over its step."""
    campaign = SyntheticCampaign(configurations=40, seed=1, rarest=1e-4, slowest=1.0, shared=0.3)
    recording, truth = generate(campaign)
    rng = np.random.default_rng(2)
    places, gap_numbers = [], []
    for log, true in zip(recording.configurations, truth.configurations, strict=True):
        for bug, p in zip(true.bugs.tolist(), true.probabilities.tolist(), strict=True):
            gaps = np.diff(crashes_of(log, bug), prepend=0)
            assert len(gaps) == campaign.kept  # none is missing: 86 mean gaps fit at least
            below = -np.expm1((gaps - 1) * math.log1p(-p))
            places.extend(below + rng.random(len(gaps)) * p * np.exp((gaps - 1) * math.log1p(-p)))
            gap_numbers.extend(range(len(gaps)))
    assert len(places) > 2000
    by_number = np.array(gap_numbers)
    for number in range(campaign.kept):
        chosen = np.array(places)[by_number == number]
        assert stats.kstest(chosen, "uniform").pvalue > ALPHA / campaign.kept


def test_as_many_bugs_are_shown_as_their_probabilities_promise():
    """Sum of independent chances 1 − (1−p)^runs, normal approximation."""
    expected = variance = shown = 0.0
    for seed in range(5):
        recording, truth = generate(SyntheticCampaign(seed=seed, seconds=3600.0))
        for log, true in zip(recording.configurations, truth.configurations, strict=True):
            chances = -np.expm1(log.total_runs * np.log1p(-true.probabilities))
            expected += chances.sum()
            variance += (chances * (1 - chances)).sum()
            shown += len(log.first_shown[0])
    assert variance > 100
    assert abs(shown - expected) < stats.norm.isf(ALPHA / 2) * math.sqrt(variance)


def test_bugs_compete_for_runs():
    """With bugs that nearly fill a run, each run shows one at most, in proportion to chances.

    Two sums of independent events, normal approximation: the first run crashes, and the first crash
    shows the bug that was drawn last.
    """
    recording, truth = generate(
        SyntheticCampaign(
            configurations=4000, seed=12, bugs=2.0, evenness=50, rarest=0.2, commonest=0.5,
            seconds=60.0, slowest=10.0, seeds_per_program=1, marks=1,
        )
    )  # fmt: skip
    observed, chances = [], []
    for log, true in zip(recording.configurations, truth.configurations, strict=True):
        crashes = log.runs[log.bugs != MARK]
        assert (np.diff(crashes) > 0).all()
        if len(true.bugs):
            rate = true.probabilities.sum()
            assert rate <= 1 + 1e-12
            observed.append((crashes[0] == 1, log.first_shown[0][0] == true.bugs[-1]))
            chances.append((min(rate, 1.0), true.probabilities[-1] / rate))
    expected = np.array(chances)
    error = np.sqrt((expected * (1 - expected)).sum(axis=0))
    z = (np.array(observed).sum(axis=0) - expected.sum(axis=0)) / error
    assert np.abs(z).max() < stats.norm.isf(ALPHA / 4)


def test_mean_number_of_bugs_is_the_one_asked_for():
    """Nearly Poisson for a high evenness; the last program has fewer seeds than the others."""
    campaign = SyntheticCampaign(configurations=402, seed=13, evenness=1e6, seconds=1.0)
    _, truth = generate(campaign)
    assert stats.poisson(4020).ppf(ALPHA / 2) < len(truth.bugs) < stats.poisson(4020).isf(ALPHA / 2)
    last = {bug for true in truth.configurations[-2:] for bug in true.bugs.tolist()}
    assert stats.poisson(20).ppf(ALPHA / 2) <= len(last) <= stats.poisson(20).isf(ALPHA / 2)


def test_speeds_and_probabilities_are_log_uniform_over_their_whole_range():
    campaign = SyntheticCampaign(configurations=1000, seed=3, bugs=3, seconds=1.0)
    _, truth = generate(campaign)
    speeds = np.log([true.runs_per_second for true in truth.configurations])
    chances = np.log(np.concatenate([true.probabilities for true in truth.configurations]))
    for values, low, high in (
        (speeds, campaign.slowest, campaign.fastest),
        (chances, campaign.rarest, campaign.commonest),
    ):
        place = (values - math.log(low)) / (math.log(high) - math.log(low))
        assert stats.kstest(place, "uniform").pvalue > ALPHA


def test_many_programs_have_no_bug_and_a_few_have_many():
    """Chi-squared of the number of bugs of a program against the negative binomial."""
    campaign = SyntheticCampaign(configurations=3000, seed=4, seconds=1.0, seeds_per_program=1)
    _, truth = generate(campaign)
    counts = np.array([len(true.bugs) for true in truth.configurations])
    law = stats.nbinom(0.25, 0.25 / 10.25)
    edges = np.array([0, 1, 2, 5, 10, 20, 50])
    expected = np.diff([0.0, *law.cdf(edges), 1.0]) * 3000
    observed = np.diff([0, *np.searchsorted(np.sort(counts), edges, side="right"), 3000])
    assert stats.chisquare(observed, expected).pvalue > ALPHA
    top_tenth = np.sort(counts)[-300:].sum()
    assert top_tenth > 0.5 * counts.sum()
    assert np.mean(counts == 0) > 0.35


def test_shared_bugs_occur_in_configurations_of_one_program_with_their_own_probabilities():
    campaign = SyntheticCampaign(configurations=400, seed=5, seconds=1.0, shared=0.3)
    _, truth = generate(campaign)
    places: dict[int, list[tuple[int, float]]] = {}
    for i, true in enumerate(truth.configurations):
        assert len(set(true.bugs.tolist())) == len(true.bugs)
        for bug, p in zip(true.bugs.tolist(), true.probabilities.tolist(), strict=True):
            places.setdefault(bug, []).append((i, p))
    assert sorted(places) == list(range(len(truth.bugs)))
    several = [where for where in places.values() if len(where) > 1]
    assert stats.binomtest(len(several), len(places), campaign.shared).pvalue > ALPHA
    sizes = Counter(len(where) for where in several)
    assert sorted(sizes) == [2, 3, 4]
    assert stats.chisquare(list(sizes.values())).pvalue > ALPHA
    for where in several:
        assert len({i // campaign.seeds_per_program for i, _ in where}) == 1
        assert len({p for _, p in where}) == len(where)


@pytest.mark.parametrize(
    ("shared", "seeds", "expected"), [(0.0, 4, False), (1.0, 1, False), (0.5, 4, True)]
)
def test_the_recording_shares_bugs_only_where_asked(shared, seeds, expected):
    recording, _ = generate(SyntheticCampaign(seed=6, shared=shared, seeds_per_program=seeds))
    assert recording.shares_bugs is expected


def test_recording_holds_the_bugs_it_shows_and_the_truth_also_the_others():
    recording, truth = generate(SyntheticCampaign(seed=7, seconds=600.0))
    shown = np.concatenate([log.first_shown[0] for log in recording.configurations])
    assert sorted(set(shown.tolist())) == list(range(len(recording.bugs)))
    assert truth.bugs[: len(recording.bugs)] == recording.bugs
    assert len(set(truth.bugs)) == len(truth.bugs) > len(recording.bugs) > 0
    for log, true in zip(recording.configurations, truth.configurations, strict=True):
        assert set(log.first_shown[0].tolist()) <= set(true.bugs.tolist())


@pytest.mark.parametrize("variation", [0.0, 0.3])
def test_clock_follows_the_speed_and_has_all_marks(variation):
    campaign = SyntheticCampaign(configurations=30, seed=8, speed_variation=variation, marks=50)
    recording, truth = generate(campaign)
    ratios = []
    for log, true in zip(recording.configurations, truth.configurations, strict=True):
        assert log.seconds == campaign.seconds
        assert log.bugs[-1] == MARK
        marks = log.bugs == MARK
        assert marks.sum() == 50
        due = log.seconds * true.runs_per_second
        assert log.runs[-1] == pytest.approx(due, rel=variation, abs=1)
        seconds = np.diff(log.microseconds[marks], prepend=0) / 1e6
        ratios.extend(np.diff(log.runs[marks], prepend=0) / seconds / true.runs_per_second)
        if not variation:
            crashes = ~marks
            due = log.runs[crashes] / true.runs_per_second * 1e6
            assert np.abs(log.microseconds[crashes] - due).max(initial=0.0) <= 0.51
    spread = float(np.std(np.log(ratios)))
    # 1500 independent stretches: 5 standard errors; runs are whole, hence not quite 0
    assert abs(spread - variation) < max(5 * variation / math.sqrt(2 * 1500), 1e-3)


def test_same_campaign_same_recording_other_seed_another():
    one, again, other = (generate(SyntheticCampaign(seed=seed)) for seed in (9, 9, 10))
    for a, b in zip(one[0].configurations, again[0].configurations, strict=True):
        assert a.name == b.name
        for column in ("runs", "microseconds", "bugs"):
            assert np.array_equal(getattr(a, column), getattr(b, column))
    for a, b in zip(one[1].configurations, again[1].configurations, strict=True):
        assert a.runs_per_second == b.runs_per_second
        assert np.array_equal(a.probabilities, b.probabilities)
    assert one[0].configurations[0].total_runs != other[0].configurations[0].total_runs
    names = [log.name for log in one[0].configurations]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("settings", "bugs"),
    [
        ({"bugs": 0.0}, 0),
        ({"configurations": 1, "seconds": 1e-6}, 0),
        ({"slowest": 1e-6, "fastest": 1e-6, "seconds": 1.0}, 0),
        ({"rarest": 1.0, "commonest": 1.0, "kept": 1, "seed": 11}, None),
    ],
)
def test_degenerate_campaigns(settings, bugs):
    recording, truth = generate(SyntheticCampaign(**settings))
    assert len(recording.configurations) == settings.get("configurations", 100)
    if bugs is not None:
        assert len(recording.bugs) == bugs
    else:  # every run shows some bug until each has been shown
        assert len(recording.bugs) == len(truth.bugs) > 0
        for log, true in zip(recording.configurations, truth.configurations, strict=True):
            assert (log.bugs != MARK).sum() == len(true.bugs)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"configurations": 0}, "configurations is 0"),
        ({"kept": 0}, "kept is 0"),
        ({"marks": 0}, "marks is 0"),
        ({"seconds": 0.0}, "seconds is 0"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"bugs": -1.0}, "bugs must be"),
        ({"evenness": 0.0}, "evenness"),
        ({"rarest": 0.1}, "rarest <= commonest"),
        ({"commonest": 1.5}, "commonest <= 1"),
        ({"slowest": 0.0}, "Runs per second"),
        ({"shared": 1.1}, "shared is 1.1"),
        ({"speed_variation": -0.1}, "speed_variation"),
    ],
)
def test_impossible_campaigns_are_refused_with_a_reason(settings, message):
    with pytest.raises(BadInput, match=message):
        SyntheticCampaign(**settings)


@pytest.mark.parametrize(("count", "rich"), [(1, 0), (2, -1), (7, -1), (7, 3)])
def test_round_robin_needs_as_many_times_longer_as_there_are_configurations(count, rich):
    """Round-Robin that visits the rich configuration last, spelled out epoch by epoch."""
    recording = adversarial(count, rich=rich, epochs=4, epoch_seconds=10.0)
    order = [i for i in range(count) if i != rich % count] + [rich % count]
    spent = np.zeros(count, dtype=np.int64)
    found_at: list[int] = []
    for arm in itertools.islice(itertools.cycle(order), 4 * count):
        log = recording.configurations[arm]
        spent[arm] += 10_000_000
        found = (log.bugs != MARK) & (log.microseconds <= spent[arm])
        if found.sum() and arm == rich % count:
            found_at.append(int(spent.sum()))
    best = best_schedules(recording).times[1:]
    assert (np.array(found_at) / best).tolist() == [count] * 4
    assert recording.configurations[rich].runs.tolist() == [200, 400, 600, 800]


@pytest.mark.parametrize(("count", "rich"), [(0, -1), (3, 3), (3, -4)])
def test_impossible_adversaries_are_refused(count, rich):
    with pytest.raises(BadInput, match="configuration"):
        adversarial(count, rich=rich)
