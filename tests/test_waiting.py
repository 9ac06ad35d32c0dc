"""What is added for seeds that wait: the formula, a simulated queue of known truth, who asks."""

from __future__ import annotations

from dataclasses import replace
from math import log10
from pathlib import Path

import numpy as np
import pytest

from fuzzer_files import stats_text
from fuzzwise.engines.aflplusplus.places import AflPlaces
from fuzzwise.engines.contract import Totals
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.estimators.waiting import raised
from fuzzwise.judge import Terms, judge
from fuzzwise.model import Estimate, Observation
from fuzzwise.report import live
from observations import ints

STEADY = Observation(n=1000, seconds=1.0, discoveries=ints([10, 600, 700, 800]))


def with_waiting(o: Observation, waiting: float | None) -> Observation:
    return Observation(n=o.n, seconds=o.seconds, discoveries=o.discoveries, waiting=waiting)


@pytest.mark.parametrize("waiting", [0.25, 0.5, 1.0])
def test_seeds_that_wait_show_four_times_what_all_inputs_did_in_the_mean(waiting):
    plain = RecentRate()(STEADY)
    e = RecentRate()(with_waiting(STEADY, waiting))
    at_most = 10.242  # Garwood's upper end for 4
    assert e.value == pytest.approx((1 - waiting) * plain.value + waiting * 4 * 4.5 / 1000)
    assert e.high == pytest.approx(
        (1 - waiting) * plain.high + waiting * 20 * at_most / 1000, rel=1e-3
    )
    assert e.low == plain.low
    assert e.note == (
        f"raised {e.value / plain.value:.1f} times: {waiting:.0%} of the preferred seeds wait"
    )


def test_nothing_is_taken_off_where_more_was_found_of_late_than_ever():
    o = Observation(n=100_000, discoveries=ints(range(99_000, 100_000)))
    plain, waits = RecentRate()(o), RecentRate()(with_waiting(o, 1.0))
    assert 4 * 1000 / 100_000 < plain.value == waits.value
    assert waits.high >= plain.high


def test_nothing_is_added_where_nothing_waits_or_nobody_knows():
    plain = RecentRate()(STEADY)
    assert RecentRate()(with_waiting(STEADY, 0.0)) == plain
    assert RecentRate()(with_waiting(STEADY, None)) == plain


def test_a_raised_risk_is_a_probability_and_keeps_what_was_noted():
    all_new = Observation(n=10, discoveries=ints(range(1, 11)), waiting=1.0)
    e = raised(Estimate(0.5, 0.1, 0.6, 0.95, "some", 10, "odd"), all_new)
    assert (e.value, e.low, e.high) == (1.0, 0.1, 1.0)
    assert e.note.startswith("odd; raised 2.0 times")
    assert raised(Estimate(0.01, None, None, None, "some", 10), all_new).high is None


def test_the_live_view_says_why_a_risk_is_raised():
    def second_row(waiting: float | None) -> tuple[str, str]:
        o = replace(with_waiting(STEADY, waiting), species=4)
        return live.rows(Totals("1", o, 1.0, 3, (), 0), judge(o, Terms()))[1]

    note = RecentRate()(with_waiting(STEADY, 1.0)).note
    assert second_row(1.0) == ("", note)
    assert note.startswith("raised ")
    assert second_row(None)[0] == "inputs"


def test_without_a_discovery_the_rule_of_three_is_raised():
    quiet = Observation(n=10_000, discoveries=ints([]))
    e = RecentRate()(with_waiting(quiet, 1.0))
    assert e.value == pytest.approx(4 * 0.5 / 10_000)
    assert e.high == pytest.approx(20 * RecentRate()(quiet).high, rel=1e-3)
    assert RecentRate()(Observation(n=0, discoveries=ints([]), waiting=1.0)).value == 1.0


def queue(seed: int, entries: int, tried: int) -> tuple[Observation, float]:
    """A fuzzer that stays with each entry for 4000 inputs, and the truth of its frozen queue.

    Each entry shows species of its own, whose probabilities fall as a power law; what one shows
    all in all differs much between entries. The frozen queue goes on to those that wait, or to
    all where none does.
    """
    rng = np.random.default_rng(seed)
    stay, times = 4000, []
    mass = rng.gamma(0.5, 0.06, entries)
    falling = np.arange(1, 200) ** -1.3
    chances = np.outer(mass, falling / falling.sum())
    left = mass.copy()
    for i in range(tried):
        first = rng.geometric(np.maximum(chances[i], 1e-12))
        times += list(i * stay + np.unique(first[first <= stay]))
        left[i] = chances[i][first > stay].sum()
    truth = float(left[tried:].mean() if tried < entries else left.mean())
    found = np.unique(times)
    share = (entries - tried) / entries
    return Observation(n=tried * stay, discoveries=ints(found), waiting=share), truth


def test_the_truth_of_a_simulated_queue_is_below_the_upper_end_whether_entries_wait_or_not():
    plain, higher = [], []
    for seed in range(40):
        o, truth = queue(seed, 200, 20)
        e = RecentRate()(o)
        plain.append(log10(RecentRate()(with_waiting(o, None)).value / truth))
        higher.append(log10(e.value / truth))
        assert e.high > truth
    assert np.mean(plain) < -0.5
    assert abs(np.mean(higher)) < 0.5
    for seed in range(10):
        o, truth = queue(seed, 60, 60)
        assert o.waiting == 0
        assert RecentRate()(o).high > truth


def test_what_may_wait_raises_the_risk_of_a_target_but_not_what_its_turns_promise():
    def judged(waiting: float | None):
        o = replace(with_waiting(STEADY, waiting), tried=20)
        return judge(o, Terms(0.1))

    plain, waits = judged(None), judged(1.0)
    assert waits.risk.value == pytest.approx(4 * 4.5 / 1000)
    assert waits.risk.value > 2 * plain.risk.value
    assert waits.discovery_rate == plain.discovery_rate > 0
    assert waits.trend == plain.trend
    assert plain.decision.stop
    assert not waits.decision.stop


def test_all_wait_before_afl_has_said_anything(tmp_path: Path):
    places = AflPlaces(CampaignFolder(tmp_path))
    before = places.with_waiting(STEADY)
    assert (before.waiting, before.tried) == (1.0, None)
    stats = tmp_path / "afl" / "default" / "fuzzer_stats"
    stats.parent.mkdir(parents=True)
    stats.write_text(
        stats_text(corpus_favored=40, pending_favs=10, corpus_count=90, pending_total=70)
    )
    now = places.with_waiting(STEADY)
    assert (now.waiting, now.tried) == (0.25, 20)
