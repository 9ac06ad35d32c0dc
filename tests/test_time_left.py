"""How long still: in no view less than the stop rule needs, which is what can end it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from campaign_states import example_state
from fuzzwise.engines.contract import Totals
from fuzzwise.judge import Terms
from fuzzwise.model import Estimate, Observation
from fuzzwise.report import judgement_words, left, live, short, words
from fuzzwise.report.campaign import conclusions as campaign_conclusions
from fuzzwise.report.campaign import status as campaign_status
from fuzzwise.report.campaign import words as campaign_words
from fuzzwise.report.campaign.table import table
from fuzzwise.report.watch import view as watch_view
from fuzzwise.store.states import RETIRED, WAITING, TargetState
from fuzzwise.watch.follow import Standing
from fuzzwise.watch.judged import Judged, judge_reading
from fuzzwise.watch.reading import Reading
from observations import ints

NOW = Observation(
    n=120_000, seconds=120.0, discoveries=ints([3, 900, 1500, 4000, 9000, 70_000]), species=60
)
"""The rule can say stop after 278,700 inputs, which is in 2.65 min, if nothing new is found."""
LOW_ENOUGH, FAR = 5e-5, 2e-6
"""Accepted risks: that of the estimate by now, and one that takes an hour."""


def judged(accepted: float, observation: Observation = NOW) -> Judged:
    return judge_reading(Reading("AFL++", "out", Path("out"), observation), Terms(accepted))


def target(left: float) -> TargetState:
    risk = Estimate(1.7e-5, 1e-6, 9.3e-5, 0.95, "recent-rate", NOW.n)
    return replace(
        example_state(1).targets[0],
        state=WAITING,
        accepted_risk=LOW_ENOUGH,
        inputs=NOW.n,
        seconds=120.0,
        risk=risk,
        seconds_left=replace(risk, value=left, low=left, high=left),
        seconds_to_decision=max(left, 84.8),
    )


def test_one_target_waits_until_the_rule_can_say_stop() -> None:
    near, far = judged(LOW_ENOUGH).judgement, judged(FAR).judgement
    assert near.seconds_left is not None
    assert near.seconds_left.value < 10
    shown = dict(live.rows(Totals("1", NOW, 120.0, 9, (), 0), near))
    assert shown["left"] == "about 6.2 min (2.6 min to 16 min) to the accepted 5e-05"
    assert dict(live.rows(Totals("1", NOW, 120.0, 9, (), 0), far))["left"].startswith(
        "about 110 min (70 min or more) to"
    )
    unknown = judged(LOW_ENOUGH, replace(NOW, discoveries=ints([3, 70_000]))).judgement
    assert unknown.seconds_to_stop is None
    assert left.in_words(unknown) == "at least 2.6 min (if nothing new is found)"
    few = replace(NOW, discoveries=ints([3, 70_000]))
    assert (
        left.to_accepted(judged(1e-10, few).judgement) == "more than a year to the accepted 1e-10"
    )
    assert left.to_accepted(judged(1e-12, few).judgement) == "the accepted 1e-12 is not in sight"
    rising = judged(1e-6, replace(NOW, discoveries=ints(range(900, 120_000, 70)))).judgement
    assert left.to_accepted(rising) == "the accepted 1e-06 is not in sight"


def test_a_campaign_that_is_watched_waits_too() -> None:
    near, far = Standing(judged(LOW_ENOUGH)), Standing(judged(FAR))
    assert dict(watch_view.rows(near))["left"] == "about 6.2 min (2.6 min to 16 min)"
    assert watch_view.line(near).endswith("about 6m left")
    assert watch_view.line(far).endswith("about 1.9h left")
    assert judgement_words.decision(near.judged.judgement)[-1] == (
        "Left to an accepted risk of 5e-05: about 370,000 (160,000 to 940,000) inputs, at the "
        "present speed about 6.2 min (2.6 min to 16 min)."
    )
    timeless = Standing(judged(LOW_ENOUGH, replace(NOW, seconds=None)))
    inputs = "about 370,000 (160,000 to 940,000) inputs"
    assert dict(watch_view.rows(timeless))["left"] == inputs
    assert dict(watch_view.rows(timeless))[""] == "The rule looks again after 157,319 inputs."


def test_a_target_of_a_campaign_waits_too() -> None:
    near, far = target(0.0), target(725.0)
    rows = [line.plain.split() for line in table((near, far, replace(near, state=RETIRED)), 80, 9)]
    assert [row[6] for row in rows[2:]] == ["85s", "12m", "0s"]
    assert campaign_words.left(near) == "85 s"
    assert campaign_words.left(far) == "12 min"
    state = replace(example_state(1), targets=(near, far), stopped=None, running=False)
    told = "\n".join(campaign_status.summary(state))
    assert "85s of a core left" in told
    assert "12m of a core left" in told
    points = [why for part in campaign_conclusions.conclusions(state) for _, why in part.points]
    assert any("about 85 s more on a core" in why for why in points)


def test_a_target_that_shares_the_cores_gets_there_later_by_the_clock() -> None:
    tenth = replace(target(725.0), share_of_time=0.1)
    assert left.by_the_clock(tenth, 2) == 725 / 0.2
    assert left.by_the_clock(replace(tenth, share_of_time=0.5), 2) is None, "as on a core"
    assert left.by_the_clock(replace(tenth, share_of_time=0.0), 2) is None
    assert left.by_the_clock(replace(tenth, state=RETIRED), 2) is None
    state = replace(example_state(1), targets=(tenth,), stopped=None, running=True, cores=2)
    points = [why for part in campaign_conclusions.conclusions(state) for _, why in part.points]
    said = "about 12 min more on a core, 60 min by the clock at its share of the time"
    assert any(said in why for why in points)
    ended = replace(state, running=False)
    points = [why for part in campaign_conclusions.conclusions(ended) for _, why in part.points]
    assert not any("by the clock" in why for why in points)


def test_a_forecast_has_two_digits_and_what_is_sure_is_not_rounded_up() -> None:
    seen = (0.0, 7.0, 99.0, 114.0, 17_850.0, 8_334.0, 999_999.0)
    assert [words.foretold_count(x) for x in seen] == (
        ["0", "7", "99", "110", "18,000", "8,300", "1 million"]
    )
    assert words.foretold_count(17_850, least=True) == "17,000"
    assert words.foretold_count(float("inf")) == "without end"
    assert words.ahead(119.0) == "120 s"
    assert (words.ahead(159.0), words.ahead(159.0, least=True)) == ("2.6 min", "2.6 min")
    assert (words.ahead(160.0), words.ahead(160.0, least=True)) == ("2.7 min", "2.6 min")
    assert words.ahead(0.7, least=True) == "0.7 s"
    assert words.ahead(300 * 86400.0) == "300 days"
    assert short.rough(123.4 * 86400) == "120d"
