"""Judging and following campaigns of other fuzzers, from readings that are made up or alive."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from fuzzwise.engines.aflplusplus.stats import Untried
from fuzzwise.errors import BadInput
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.judge import Terms, growth_exponent, latest_decision, until
from fuzzwise.model import Observation
from fuzzwise.report.watch import view as watch_view
from fuzzwise.report.watch import words as watch_words
from fuzzwise.report.watch.view import LINE_EVERY, View
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.watch.curve import spread
from fuzzwise.watch.end_cleanly import end_cleanly
from fuzzwise.watch.follow import (
    GONE_AFTER,
    SILENT_AFTER,
    STILL_AFTER,
    Follower,
    Look,
    Standing,
    look_once,
    warnings,
)
from fuzzwise.watch.judged import Judged, judge_reading
from fuzzwise.watch.reading import Process, Reading
from observations import ints
from waiting import PATIENCE

HOSTILE = "\x1b]0;owned\x07\x1b[2Jevil\nname\u202e" + "x" * 300


def judge(one: Reading, accepted_risk: float | None = None) -> Judged:
    return judge_reading(one, Terms(accepted_risk))


def reading(
    n: int = 100_000,
    found: Sequence[int] = (3, 40, 900),
    *,
    pids: Sequence[int] = (),
    **more: object,
) -> Reading:
    o = Observation(n=n, seconds=n / 1000, discoveries=ints(found))
    made = Reading("AFL++", "out", Path("out"), o, version="4.04c", corpus=9, crashes=0)
    return replace(made, processes=tuple(map(Process, pids)), **more)


class Fake:
    """A source whose readings are given; the last one stays."""

    def __init__(self, *readings: Reading | BadInput) -> None:
        self.readings = list(readings)

    def read(self) -> Reading:
        now = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        if isinstance(now, BadInput):
            raise now
        return now


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


# --- the decision ------------------------------------------------------------------------------


def test_the_decision_rests_on_the_latest_look_alone():
    """Whatever is found after the look, the words are those of the look, until the next one."""
    rule = AcceptedRisk(1e-3)
    look, following = rule.inputs_at(9), rule.inputs_at(10)
    quiet = Observation(n=look, discoveries=ints([3, 40]))
    at_look = rule(quiet)
    assert at_look.stop
    for n in (look, look + 300, following - 1):
        assert latest_decision(replace(quiet, n=n), rule) == at_look
    assert latest_decision(replace(quiet, n=following), rule).n == following


def test_a_lucky_moment_between_two_looks_does_not_stop():
    rule = AcceptedRisk(1e-3)
    found = ints(range(100, 51_200, 300))
    so_far = Observation(n=51_200, discoveries=found)
    stops = rule.look(rule.earliest_stop(so_far))
    o = Observation(n=rule.inputs_at(stops) - 1, discoveries=found)
    assert rule(o).stop  # asked at this very moment, the rule would
    decided = latest_decision(o, rule)
    assert not decided.stop
    assert f"after {rule.inputs_at(stops - 1):,} inputs" in decided.detail


def test_a_breakthrough_takes_an_earlier_stop_back():
    rule = AcceptedRisk(1e-3)
    found = [5, *range(60_000, 102_400, 100)]
    before = latest_decision(Observation(n=59_999, discoveries=ints([5])), rule)
    after = latest_decision(Observation(n=102_400, discoveries=ints(found)), rule)
    assert before.stop
    assert not after.stop
    # At the last look before 60,500 inputs, the few since 60,000 do not show yet.
    latest = rule.inputs_at(rule.look(60_500))
    assert f"It had been below after {latest:,} inputs, but has found more since." in after.detail


def test_a_breakthrough_since_the_look_refutes_it_at_once():
    rule = AcceptedRisk(1e-3)
    look, following = (rule.inputs_at(rule.look(60_000) + i) for i in (0, 1))
    found = ints(range(look + 1, following - 1, 50))
    now = latest_decision(Observation(n=following - 1, discoveries=found), rule)
    assert not now.stop
    assert f"After {look:,} inputs it was below the accepted risk 0.001, but now" in now.detail
    assert now.estimate.value > 1e-3


def test_grouped_discoveries_must_allow_it_at_the_latest_count_too():
    rule = AcceptedRisk(1e-3)
    look, following = (rule.inputs_at(rule.look(60_000) + i) for i in (0, 1))
    o = Observation(n=following - 1, discoveries=ints(range(look + 1, following - 1, 500)))
    assert latest_decision(o, rule).stop
    assert not latest_decision(o, rule, exact=False).stop
    grouped = judge(Reading("honggfuzz", "s", Path("s"), o, exact=False), 1e-3)
    assert not grouped.reached
    assert any("spread" in note for note in grouped.notes)


def test_the_risk_is_raised_while_preferred_seeds_wait_and_a_stop_needs_that_to_be_low():
    settled = reading(untried=Untried(0, 100, 400))
    all_wait = reading(untried=Untried(100, 100, 40))
    before, risk = (judge(r).judgement.risk for r in (settled, all_wait))
    assert risk.value > 2 * before.value
    assert judge(settled, 1e-3).reached
    decision = judge(all_wait, 1e-3).judgement.decision
    assert not decision.stop
    assert "is at most" in decision.detail
    assert decision.estimate.high > 1e-3
    assert judge(all_wait, 2e-2).reached


def test_there_is_no_stop_before_enough_seeds_were_tried_while_many_wait():
    for tried, said in ((9, "it has tried 9:"), (None, "does not say how many")):
        waiting = reading(untried=Untried(6, 100, tried))
        decision = judge(waiting, 0.5).judgement.decision
        assert not decision.stop
        assert "6% of the seeds that the fuzzer prefers" in decision.detail
        assert said in decision.detail
        assert [warning.kind for warning in warnings(waiting)] == ["untried"]
    assert judge(reading(untried=Untried(6, 100, 10)), 0.5).reached
    few = reading(untried=Untried(5, 100, 9))
    assert judge(few, 0.5).reached
    assert warnings(few) == ()


def test_what_was_known_earlier_includes_the_input_of_that_moment():
    o = Observation(n=400, seconds=8.0, discoveries=ints([1, 200, 201]))
    assert until(o, 200).discoveries.tolist() == [1, 200]
    assert until(o, 200).seconds == 4.0
    assert until(o, 400).discoveries.tolist() == [1, 200, 201]


def test_too_early_or_without_discoveries_there_is_no_stop():
    rule = AcceptedRisk(0.5)
    early = latest_decision(Observation(99, discoveries=ints([])), rule)
    assert "No stop is possible before 100 inputs" in early.detail
    assert not latest_decision(Observation(10**9), rule).stop


@pytest.mark.parametrize(("exponent", "confidence"), [(0.7, 0.8), (1.0, 0.8), (1.0, 0.95)])
def test_asking_all_the_time_keeps_the_promised_error(exponent, confidence):
    """Power laws, asked at 30 moments each: few ever hear "stop" above the accepted risk.

    Discoveries are a Poisson process with mean 600·(n/size)^b. The accepted risk is below the true
    one until the end of each campaign, so that every stop is a wrong one. At most a share α of the
    100 campaigns may have any; three standard errors come on top. With b = 1 there is no lag that
    could hide an error: whoever asks the plain interval each time is wrong far more often.
    """
    rng = np.random.default_rng(5)
    size, mean, campaigns = 50_000, 600, 100
    accepted = 0.999 * exponent * mean / size
    rule, plain = AcceptedRisk(accepted, confidence), RecentRate()
    moments = [int(n) for n in np.unique(np.geomspace(100, size, 30).astype(int))]
    wrong = naive = 0
    for _ in range(campaigns):
        times = np.ceil(size * rng.random(rng.poisson(mean)) ** (1 / exponent))
        whole = Observation(n=size, discoveries=np.unique(times.astype(np.int64)))
        asked = [until(whole, n) for n in moments]
        wrong += any(latest_decision(o, rule).stop for o in asked)
        naive += any(plain(o, confidence).high < accepted for o in asked)
    alpha = 1 - confidence
    assert wrong / campaigns <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / campaigns)
    assert exponent < 1 or naive / campaigns > 2 * alpha


def test_grouped_discoveries_keep_the_promised_error():
    """A rate that does not fall, written in rows a third apart; every stop is a wrong one."""
    rng = np.random.default_rng(6)
    rule = AcceptedRisk(0.999 * 600 / 50_000, 0.8)
    rows = (100 * 1.3 ** np.arange(24)).astype(int).tolist()
    wrong = 0
    for _ in range(100):
        times = np.unique(rng.integers(1, 50_000, rng.poisson(600)))
        found: list[int] = []
        heard = False
        for start, end in pairwise([0, *rows]):
            found += spread(start, end, int(((times > start) & (times <= end)).sum()))
            so_far = Observation(end, discoveries=ints(found))
            heard |= latest_decision(so_far, rule, exact=False).stop
        wrong += heard
    assert wrong / 100 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 100)


@given(st.integers(1, 10**7), st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_verdict_between_looks_never_adds_a_stop(n, count, random):
    """Where it says stop at n, it said so at the look before: between two, none can be won."""
    o = Observation(n=n, discoveries=ints(sorted({random.randint(1, n) for _ in range(count)})))
    rule = AcceptedRisk(1e-3)
    if latest_decision(o, rule).stop:
        assert latest_decision(until(o, rule.inputs_at(rule.look(n))), rule).stop


def test_the_exponent_of_a_power_law_is_found_with_its_interval():
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        times = np.unique(np.ceil(1e6 * rng.random(rng.poisson(200)) ** (1 / 0.4)))
        b = growth_exponent(Observation(10**6, discoveries=times.astype(np.int64)))
        held += b.low <= 0.4 <= b.high
    assert held / 300 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)
    assert growth_exponent(Observation(100, discoveries=ints([]))) is None
    assert growth_exponent(Observation(0)) is None


# --- following ---------------------------------------------------------------------------------


def followed(*sources: Fake, clock: Clock | None = None, **settings: object) -> Follower:
    return Follower(sources, clock=clock or Clock(), **{"accepted_risk": 1e-3, **settings})


def test_it_ends_when_every_campaign_is_below_the_accepted_risk():
    high = reading(100_000, range(1, 100_000, 200), pids=[7])
    low = reading(pids=[8])
    follower = followed(Fake(high, low), Fake(low))
    assert follower.look().stopped is None
    stopped = follower.look().stopped
    assert stopped.reason == "accepted-risk"
    assert "All 2 campaigns" in stopped.detail


def test_one_campaign_ends_with_the_sentence_of_its_verdict():
    look = followed(Fake(reading(pids=[7]))).look()
    assert look.stopped.detail == look.campaigns[0].judged.judgement.decision.detail
    assert "at most" in look.stopped.detail


def test_a_fuzzer_that_went_away_has_ended_but_not_at_once():
    clock = Clock()
    follower = followed(Fake(reading(pids=[7]), reading()), clock=clock, accepted_risk=1e-9)
    assert follower.look().stopped is None
    assert follower.look().stopped is None
    clock.now += GONE_AFTER
    stopped = follower.look().stopped
    assert stopped.reason == "ended"
    assert "The campaign is not below the accepted risk 1e-09." in stopped.detail


def test_a_fuzzer_that_said_its_last_words_has_ended_though_it_was_never_seen():
    clock = Clock()
    said = replace(reading(), said_the_end=True)
    follower = followed(Fake(said, said), clock=clock, accepted_risk=None)
    assert follower.look().stopped is None  # a script may start it again
    clock.now += GONE_AFTER
    assert follower.look().stopped.detail == "The fuzzer has ended."


def test_files_that_nobody_writes_are_given_up_after_a_while_and_said_to_stand_still():
    clock = Clock()
    follower = followed(Fake(reading()), clock=clock, accepted_risk=None)
    first = follower.look()
    assert [w.kind for w in first.campaigns[0].warnings] == ["no-process"]
    clock.now += SILENT_AFTER - 1
    second = follower.look()
    assert second.stopped is None
    assert "stands still at 100,000 inputs" in second.campaigns[0].warnings[0].text
    clock.now += 1
    assert follower.look().stopped.detail == "The fuzzer has ended."


def test_a_count_that_moves_shows_that_a_fuzzer_works_elsewhere():
    clock = Clock()
    follower = followed(
        Fake(*(reading(100_000 + i) for i in range(5))), clock=clock, accepted_risk=1e-9
    )
    for _ in range(5):
        assert follower.look().stopped is None
        clock.now += SILENT_AFTER - 1


def test_the_time_to_watch_ends_it_above_the_risk():
    clock = Clock()
    follower = followed(Fake(reading(pids=[7])), clock=clock, accepted_risk=1e-9, seconds=60)
    assert follower.look().stopped is None
    clock.now += 60
    assert follower.look().stopped.reason == "time-budget"


def test_a_count_that_stands_still_while_its_process_lives_is_warned_of():
    clock = Clock()
    follower = followed(Fake(reading(pids=[7], kind="libFuzzer")), clock=clock, accepted_risk=1e-9)
    assert follower.look().campaigns[0].warnings == ()
    clock.now += STILL_AFTER
    look = follower.look()
    (warning,) = look.campaigns[0].warnings
    assert look.news
    assert "stood still at 100,000 inputs for 90 s" in warning.text
    assert "count has doubled" in warning.text
    assert look.stopped is None
    assert not follower.look().news


def test_a_target_that_never_showed_anything_is_warned_of():
    assert [w.kind for w in warnings(reading(10_000, []))] == ["no-discovery"]
    assert warnings(reading(9_999, [])) == ()
    assert warnings(reading(10_000, [1])) == ()
    assert [w.kind for w in warnings(reading(0, []))] == ["no-inputs"]


def test_a_file_that_cannot_be_read_for_a_while_keeps_its_last_reading():
    follower = followed(
        Fake(reading(pids=[7]), BadInput("out: is gone."), reading(200_000, pids=[7])),
        accepted_risk=1e-9,
    )
    follower.look()
    lost = follower.look().campaigns[0]
    assert lost.judged.reading.observation.n == 100_000
    assert "out: is gone." in [w.text for w in lost.warnings]
    assert follower.look().campaigns[0].judged.reading.observation.n == 200_000


def test_a_file_that_cannot_be_read_at_first_is_an_error():
    with pytest.raises(BadInput, match=r"is gone\."):
        followed(Fake(BadInput("out: is gone."))).look()


# --- ending fuzzers ----------------------------------------------------------------------------


def child(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", f"import signal, sys, time\n{code}\nprint('up', flush=True)\n"
         "time.sleep(3600)"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "up\n"
    return process


def test_a_fuzzer_gets_the_signal_it_ends_on():
    process = child("signal.signal(signal.SIGINT, lambda *_: sys.exit(3))")
    try:
        ending = end_cleanly(Fake(reading(pids=[process.pid])), patience=PATIENCE)
        assert ending.clean
        assert ending.sentences == (f"Sent SIGINT to process {process.pid}; it has ended.",)
        assert process.wait(PATIENCE) == 3
    finally:
        process.kill()
        process.communicate()


def test_a_fuzzer_that_does_not_end_is_left_alone_and_named():
    process = child("signal.signal(signal.SIGINT, signal.SIG_IGN)")
    try:
        ending = end_cleanly(Fake(reading(pids=[process.pid])), patience=0.2)
        assert not ending.clean
        assert "still runs after 0.2 s" in ending.sentences[0]
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def test_no_process_and_a_process_that_the_files_no_longer_name_get_no_signal():
    none = end_cleanly(Fake(reading()))
    assert not none.clean
    assert "none was stopped" in none.sentences[0]
    process = child("")
    try:
        changed = end_cleanly(Fake(reading(pids=[process.pid]), reading()), patience=0.2)
        assert "none was stopped" in changed.sentences[0]
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def test_it_never_signals_itself_or_what_another_campaign_needs():
    process = child("")
    try:
        for pids, spare in (([os.getpid()], ()), ([process.pid], (process.pid,)), ([1], ())):
            assert "none was stopped" in end_cleanly(Fake(reading(pids=pids)), spare).sentences[0]
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def test_each_campaign_is_ended_once_when_it_is_below_and_its_process_is_not_needed():
    busy = reading(100_000, range(1, 100_000, 200), pids=[os.getpid() + 10**7])
    process = child("")
    done = reading(pids=[process.pid])
    shared = reading(pids=[os.getpid() + 10**7])
    try:
        follower = followed(Fake(done), Fake(busy), Fake(shared))
        (ended,) = follower.stop_reached(follower.look())
        assert ended[1].sentences[0].endswith("it has ended.")
        assert follower.stop_reached(follower.look()) == []
        assert process.wait(PATIENCE) == -signal.SIGINT or process.returncode == 1
    finally:
        process.kill()
        process.communicate()


# --- the view ----------------------------------------------------------------------------------


def drawn(look: Look, width: int, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    with console.file:
        console.print(watch_view.frame(look, width, height))
        return console.export_text().splitlines()


def standing(one: Reading, accepted: float | None = 1e-6) -> Standing:
    return Standing(judge(one, accepted), warnings=warnings(one))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("count", [1, 3, 60])
def test_the_picture_fits_and_shows_what_matters(width, count):
    readings = [reading(pids=[7], name=f"fuzz-{i}", crashes=i) for i in range(count)]
    lines = drawn(Look(75, tuple(map(standing, readings))), width)
    assert max(map(cell_len, lines)) <= width
    assert len(lines) <= 24
    text = "\n".join(lines)
    assert "1m15s" in text
    assert "fuzz-0" in text
    assert re.search("risk", text)
    assert ("and 40 more" in text) == (count == 60)
    if count == 1:
        assert "Go on" in text
        assert "n^0." in text


def test_names_and_notes_of_files_cannot_reach_the_terminal():
    bad = reading(name=HOSTILE, version=HOSTILE, notes=(HOSTILE,))
    for campaigns in ((standing(bad),), (standing(bad), standing(bad))):
        for width in (40, 80):
            text = "\n".join(drawn(Look(1, campaigns), width))
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    said = "".join([watch_words.name(campaigns[0].judged), watch_view.line(campaigns[0])])
    assert "\x1b" not in said
    assert "\n" not in said


def test_a_pipe_gets_a_line_when_something_changed_and_warnings_once(capfd):
    clock = Clock()
    follower = followed(
        Fake(reading(pids=[7]), reading(pids=[7]), reading(200_000, pids=[7]), reading(200_000)),
        clock=clock,
        accepted_risk=1e-9,
    )
    with View() as view:
        for _ in range(6):
            view.show(follower.look())
            clock.now += LINE_EVERY
    lines = capfd.readouterr().err.splitlines()
    counts = [re.search(r"([\d,]+) inputs", line)[1] for line in lines]
    assert counts[:2] == ["100,000", "200,000"]
    assert sum("WARNING" in line for line in lines) == 1
    assert sum("ended" in line for line in lines) == 1
    assert "\x1b" not in "".join(lines)


def test_looking_once_says_which_estimators_the_files_do_not_allow():
    judged = look_once([Fake(reading())], 1e-3).campaigns[0].judged
    missing = "\n".join(watch_words.impossible(judged))
    assert "mean-local-good-turing: needs counts for each seed" in missing
    assert "AFL++ does not write that; `fuzzwise fuzz --per-seed` does." in missing
    assert "extrapolation, extrapolation-100: needs true probabilities" in missing
    assert set(watch_words.possible(judged)) == {
        "recent-rate",
        "recent-growth",
        "growth",
        "laplace",
    }


def test_a_law_that_does_not_slow_down_is_said_so():
    steady = judge(reading(1000, range(1, 1000, 10)))
    assert (
        "do not slow down yet" in watch_words.growth(steady)[0]
        or steady.judgement.exponent.value < 1
    )
    rising = judge(reading(1000, range(900, 1000)))
    assert "do not slow down yet" in watch_words.growth(rising)[0]
    assert rising.judgement.trend == "rising"
    assert judge(reading()).judgement.trend == "falling"
