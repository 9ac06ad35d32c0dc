"""Stop rules: each decides by its own reason, and the risk rule keeps its promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.forecast import as_seconds, expected_path, inputs_left
from fuzzwise.judge import Terms, judge, judge_history, judge_log, judge_together, until
from fuzzwise.lab.urn.urn import Urn, simulate
from fuzzwise.model import Observation
from fuzzwise.report import judgement_words, left
from fuzzwise.stopping import (
    AcceptedRisk,
    AllOf,
    AnyOf,
    InputBudget,
    NoDiscovery,
    TimeBudget,
)
from observations import ints

QUIET = Observation(n=10**6, seconds=60.0, last_discovery_seconds=2.0, discoveries=ints([1, 9]))


def test_looks_only_when_the_inputs_are_a_tenth_more():
    rule = AcceptedRisk(0.5)
    assert "before 100 inputs" in rule(replace(QUIET, n=99), since=0).detail
    assert rule(replace(QUIET, n=100), since=0).estimate is not None
    assert rule(replace(QUIET, n=109), since=100).detail == "Next look at 110 inputs."
    assert rule(replace(QUIET, n=109), since=100).estimate is None
    assert rule(replace(QUIET, n=110), since=100).estimate is not None
    assert rule(replace(QUIET, n=1000), since=100).estimate is not None


def test_where_inputs_were_lost_a_look_is_not_had_again():
    rule = AcceptedRisk(0.5)
    lost = rule(replace(QUIET, n=240), since=300)
    assert (lost.estimate, lost.stop) == (None, False)
    assert lost.detail == f"Next look at {rule.next_look(300):,} inputs."


def test_error_budget_of_all_looks_adds_up():
    rule = AcceptedRisk(0.1, confidence=0.9)
    looks = 10**6
    spent = sum(1 - rule.confidence_at(j) for j in range(1, looks))
    assert spent == pytest.approx(0.1, rel=2 / looks**0.5)
    assert spent <= 0.1


@given(st.floats(1e-9, 0.9), st.integers(1, 10**15))
def test_every_look_is_at_the_inputs_at_which_the_rule_says_it_is(risk, n):
    rule = AcceptedRisk(risk)
    look = rule.look(n)
    assert look == 0 or rule.inputs_at(look) <= n
    assert n < rule.inputs_at(look + 1) == rule.next_look(n)
    assert rule.look(rule.next_look(n)) == look + 1
    assert rule.inputs_at(look + 2) <= 1.1 * rule.inputs_at(look + 1) + 1


@pytest.mark.parametrize("risk", [0.03, 1e-3, 1e-7])
def test_the_first_look_is_the_first_that_can_say_stop(risk):
    rule = AcceptedRisk(risk)
    n = rule.first_look
    assert rule(Observation(n=n, discoveries=ints([]))).stop
    sooner = Observation(n=n - 1, discoveries=ints([]))
    assert rule.bound_at(sooner, 1).high >= risk


@pytest.mark.parametrize("found", [[], [5, 70_000], list(range(10, 100_000, 500))])
def test_the_earliest_stop_is_where_it_stops_if_nothing_more_is_found(found):
    rule = AcceptedRisk(1e-4)
    now = Observation(n=100_000, discoveries=ints(found))
    due = rule.earliest_stop(now)
    looks = [rule.inputs_at(j) for j in range(rule.look(now.n) + 1, rule.look(due) + 1)]
    assert [n for n in looks if rule(replace(now, n=n)).stop] == [due]


def test_a_stop_comes_within_a_tenth_of_the_inputs_at_which_its_bound_is_low_enough():
    """Of 50 campaigns, all but those that found something just before the look."""
    rule = AcceptedRisk(3e-3)
    points = np.unique(np.round(1500 * 1.01 ** np.arange(350))).astype(np.int64)
    within = []
    for run in simulate(Urn(), "greybox", points, 50, seed=23, full=False):
        since = clear = 0
        for o in run.observations():
            look = rule.look(o.n)
            if not clear and look and rule.bound_at(o, look).high < rule.risk:
                clear = o.n
            if rule(o, since).stop:
                within.append(o.n <= 1.1 * clear * 1.02)
                break
            since = o.n
    assert np.mean(within) >= 0.9


def test_stops_below_the_accepted_risk_and_says_why():
    decision = AcceptedRisk(1e-4)(QUIET)
    assert decision.stop
    assert decision.reason == "accepted-risk"
    assert decision.estimate.high < 1e-4
    assert "95% confidence" in decision.detail
    assert "1,000,000 inputs" in decision.detail
    assert "below the accepted risk 0.0001" in decision.detail
    assert decision.detail.endswith("if each first shows together with something new.")


def test_goes_on_above_the_accepted_risk():
    decision = AcceptedRisk(2e-5)(replace(QUIET, discoveries=ints([1, 9, 700_000])))
    assert not decision.stop
    assert decision.estimate.high > 2e-5


def test_an_estimator_without_interval_cannot_stop():
    with pytest.raises(BadInput, match="has no interval"):
        AcceptedRisk(0.1, estimator="laplace")(QUIET)


@pytest.mark.parametrize("risk", [0.0, 1.0, -1.0, 2.0])
def test_accepted_risk_is_a_probability(risk):
    with pytest.raises(BadInput, match="between 0 and 1"):
        AcceptedRisk(risk)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["greybox", "blackbox"])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wrong_stops_are_rarer_than_promised_under_repeated_looks(mode, confidence):
    """1000 campaigns, shown every twentieth more: stops while Δ > R are at most 1 - confidence."""
    points = np.unique(np.round(100 * 1.05 ** np.arange(190))).astype(np.int64)
    accepted = 3e-3
    rule = AcceptedRisk(accepted, confidence)
    wrong = stopped = 0
    for run in simulate(Urn(), mode, points, 1000, seed=21, full=False):
        since = 0
        for o in run.observations():
            decision = rule(o, since)
            since = o.n
            if decision.stop:
                stopped += 1
                wrong += o.truth.probability > accepted
                break
    assert stopped > 900
    assert wrong / 1000 <= 1 - confidence


def test_looking_at_every_input_does_not_add_looks():
    """Shown every observation, the rule still decides at its looks only."""
    points = np.unique(np.round(100 * 1.05 ** np.arange(140))).astype(np.int64)
    rule = AcceptedRisk(3e-3, 0.8)
    wrong = 0
    for run in simulate(Urn(), "greybox", points, 300, seed=22, full=False):
        since = looks = 0
        for o in run.observations():
            decision = rule(o, since)
            looks += decision.estimate is not None
            since = o.n
            if decision.stop:
                wrong += o.truth.probability > 3e-3
                break
        assert looks <= rule.look(since)
    assert wrong / 300 <= 0.2


def test_budgets():
    assert InputBudget(10**6)(QUIET).stop
    assert not InputBudget(10**6 + 1)(QUIET).stop
    assert TimeBudget(60)(QUIET).stop
    assert not TimeBudget(61)(QUIET).stop
    assert TimeBudget(60)(QUIET).detail == "60 of 60 seconds are used."
    with pytest.raises(NotEstimable, match="field seconds"):
        TimeBudget(60)(replace(QUIET, seconds=None))


def test_no_discovery_for_inputs_or_seconds():
    assert NoDiscovery(inputs=999_991)(QUIET).stop
    assert not NoDiscovery(inputs=999_992)(QUIET).stop
    assert NoDiscovery(seconds=58)(QUIET).stop
    assert not NoDiscovery(seconds=58.5)(QUIET).stop
    never = replace(QUIET, discoveries=ints([]), last_discovery_seconds=None)
    assert NoDiscovery(seconds=60)(never).stop
    with pytest.raises(NotEstimable, match="last_discovery_seconds"):
        NoDiscovery(seconds=5)(replace(QUIET, last_discovery_seconds=None))
    with pytest.raises(BadInput):
        NoDiscovery()
    with pytest.raises(BadInput):
        NoDiscovery(inputs=1, seconds=1.0)


def test_any_of_stops_with_the_reason_of_the_first_rule_that_does():
    decision = AnyOf((TimeBudget(100), InputBudget(5), NoDiscovery(inputs=3)))(QUIET)
    assert decision.stop
    assert decision.reason == "input-budget"
    waiting = AnyOf((TimeBudget(100), InputBudget(10**9)))(QUIET)
    assert not waiting.stop
    assert waiting.reason == "time-budget+input-budget"


def test_all_of_needs_every_rule():
    assert AllOf((TimeBudget(10), InputBudget(5)))(QUIET).reason == "time-budget+input-budget"
    held = AllOf((TimeBudget(100), InputBudget(5)))(QUIET)
    assert not held.stop
    assert held.reason == "time-budget"
    assert not AllOf(())(QUIET).stop
    assert not AnyOf(())(QUIET).stop


def test_rules_combine_with_each_other():
    rule = AllOf((AnyOf((InputBudget(5), TimeBudget(1000))), AcceptedRisk(1e-4)))
    decision = rule(QUIET)
    assert decision.stop
    assert decision.estimate is not None


BUSY = replace(QUIET, n=1000, seconds=2.0, discoveries=ints([10, 40, 90, 160, 250, 400, 700]))


def test_nothing_is_left_once_the_risk_is_accepted():
    assert inputs_left(BUSY, 0.5).value == 0
    assert inputs_left(BUSY, 0.5).high == 0


def test_too_few_discoveries_give_no_forecast_but_the_least_that_the_rule_needs():
    o = Observation(n=1000, seconds=2.0, discoveries=ints([1, 990]))
    with pytest.raises(NotEstimable, match="5 discoveries of late"):
        inputs_left(o, 1e-4)
    judged = judge(o, Terms(accepted_risk=1e-4))
    assert judged.inputs_left is None
    assert judged.seconds_to_decision == pytest.approx((judged.earliest_stop - 1000) * 0.002)


def test_without_a_forecast_nothing_is_left_where_the_estimate_is_as_low():
    low = inputs_left(QUIET, 1e-4)
    assert (low.value, low.high) == (0, 0)
    assert (inputs_left(QUIET, 2e-6).value, inputs_left(QUIET, 2e-6).high) == (0, float("inf"))


def test_what_is_too_far_to_tell_has_a_lower_end_only():
    left = inputs_left(BUSY, 1e-9)
    assert left.value == left.high == float("inf")
    assert 10 * BUSY.n < left.low < 1e9


def falling(rng, n: int, ahead: int) -> np.ndarray:
    """Discoveries to n·ahead inputs of a campaign with Δ = 200/m at each m from 200 on."""
    times = 200 * np.exp(np.cumsum(rng.exponential(1 / 200, 4000)))
    return np.unique(np.ceil(times[times <= n * ahead])).astype(np.int64)


def test_the_stop_is_forecast_where_it_comes_later():
    """40 campaigns that go on as they did, asked when a sixteenth of the way is behind them."""
    rng, rule = np.random.default_rng(31), AcceptedRisk(1e-3)
    errors, held = [], []
    for _ in range(40):
        whole = Observation(n=10**6, discoveries=falling(rng, 10**6, 1))
        stop = rule.stop_along(whole, 0, whole.n)
        now = until(whole, stop // 16)
        left = judge(now, Terms(accepted_risk=1e-3)).inputs_to_stop
        errors.append(np.log10((now.n + left.value) / stop))
        held.append(now.n + left.low <= stop <= now.n + left.high)
        risk_is_low = inputs_left(now, 1e-3).value
        assert risk_is_low < left.value
    assert abs(np.median(errors)) < 0.2  # a power law that does not bend, against the priors
    assert np.mean(held) >= 0.9


def test_a_stop_is_never_forecast_sooner_than_the_rule_can_say_so():
    for found in (BUSY.discoveries, ints(range(1, 1001, 7)), ints([*range(1, 40), 900])):
        judged = judge(replace(BUSY, discoveries=found), Terms(accepted_risk=1e-3))
        assert judged.inputs_to_stop.low >= judged.earliest_stop - BUSY.n
        assert judged.seconds_to_stop.value == judged.seconds_to_decision


def test_where_too_much_is_expected_to_be_listed_the_stop_follows_the_risk():
    many = ints(np.unique(np.geomspace(1, 10**9, 2_000_000).astype(np.int64)))
    judged = judge(Observation(n=10**9, seconds=1.0, discoveries=many), Terms(accepted_risk=1e-5))
    with pytest.raises(NotEstimable, match="expects more than"):
        expected_path(judged.observation)
    assert judged.inputs_to_stop.value >= judged.inputs_left.value > 0


def test_preferred_seeds_that_wait_put_the_accepted_risk_further_off():
    assert inputs_left(replace(BUSY, waiting=0.5), 1e-3).value > inputs_left(BUSY, 1e-3).value


def test_seconds_left_at_the_present_speed():
    o = BUSY
    left = inputs_left(o, 1e-3)
    seconds = as_seconds(left, o)
    assert seconds.value == pytest.approx(left.value * 0.002)
    assert seconds.high == pytest.approx(left.high * 0.002)
    assert as_seconds(left, replace(o, seconds=None)) is None


def test_no_forecast_before_the_first_input():
    with pytest.raises(NotEstimable):
        inputs_left(Observation(n=0, discoveries=ints([])), 0.1)


def test_a_stop_that_is_held_back_is_taken_at_once_when_nothing_is_in_the_way():
    terms = Terms(accepted_risk=0.1)
    o = Observation(n=400, discoveries=ints([1, 2]))
    held = judge(o, terms, looked=0, unsettled="seeds wait")
    assert (held.held_back, held.looked, held.reached) == ("seeds wait", False, False)
    assert held.decision.detail == "seeds wait"
    o = Observation(n=450, discoveries=ints([1, 2]))
    stopped = judge(o, terms, looked=0)
    assert (stopped.reached, stopped.looked, stopped.held_back) == (True, True, "")


def test_nothing_is_told_as_left_where_a_stop_is_held_back():
    terms, o = Terms(accepted_risk=0.1), Observation(n=400, seconds=4.0, discoveries=ints([1, 2]))
    few = replace(o, n=4000, waiting=0.06, tried=3)
    build = judge_history(o, terms, unsettled="seeds wait")
    free = judge(o, terms)
    for held in (
        judge(o, terms, unsettled="seeds wait"),
        build,
        judge_together([free, build], [1.0, 1.0]),
        judge(few, terms),
        judge_log([few], terms),
    ):
        assert held.held_back
        known = (held.inputs_left, held.seconds_left, held.inputs_to_stop, held.seconds_to_stop)
        assert known == (None, None, None, None)
        assert (held.next_look, held.earliest_stop, held.seconds_to_decision) == (None, None, None)
        assert (left.in_words(held), left.inputs_in_words(held)) == ("", "")
        assert len(judgement_words.decision(held)) == 1


def test_nothing_is_held_back_where_the_rule_has_not_said_stop():
    o = Observation(n=400, discoveries=ints([1, 2, 399]))
    judged = judge(o, Terms(accepted_risk=0.03), unsettled="seeds wait")
    assert (judged.held_back, judged.looked, judged.reached) == ("", True, False)


def test_between_two_looks_there_is_no_decision():
    o = Observation(n=420, discoveries=ints([1, 2]))
    judged = judge(o, Terms(accepted_risk=0.1), looked=418)
    assert (judged.decision, judged.looked) == (None, False)
    assert judged.risk is not None


def test_before_the_first_input_nothing_is_judged():
    judged = judge(Observation(n=0, discoveries=ints([])), Terms(accepted_risk=0.1))
    assert (judged.risk, judged.decision, judged.inputs_left, judged.trend) == (
        None,
        None,
        None,
        "",
    )
    assert judged.seconds_to_decision is None
