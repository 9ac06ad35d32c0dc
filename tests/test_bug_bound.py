"""The bound of a new bug from the inputs without one, beside that of the discovery probability."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from campaign_states import example_state
from fuzzwise.engines.contract import Totals
from fuzzwise.judge import Terms, judge
from fuzzwise.model import Estimate, Observation
from fuzzwise.report import bug_bound, judgement_words, live
from fuzzwise.report.campaign import conclusions
from fuzzwise.report.watch import words as watch_words
from fuzzwise.store.states import RETIRED
from fuzzwise.triage.bug_book import Bug
from fuzzwise.watch.judged import judge_reading
from fuzzwise.watch.reading import Reading
from observations import ints

NOW = Observation(n=1_000_000, seconds=60.0, discoveries=ints([3, 40, 900]), species=9)


def bug(found_at: int) -> Bug:
    return Bug("a1", "overflow", "high", ("f",), 1, ("x",), found_at, 1.0)


def bugs_row(*bugs: Bug) -> str:
    judged = judge(NOW, Terms(accepted_risk=1e-3))
    return dict(live.rows(Totals("1", NOW, 60.0, 3, bugs, 0), judged))["bugs"]


@pytest.mark.parametrize("quiet", [1, 100, 10**9])
def test_a_bug_as_likely_as_it_says_would_have_been_seen_19_times_in_20(quiet):
    bound = bug_bound.at_most(quiet, 0.95)
    assert math.exp(quiet * math.log1p(-bound)) == pytest.approx(0.05, rel=1e-6)


def test_without_inputs_anything_may_be():
    assert bug_bound.at_most(0, 0.95) == 1


def test_fuzz_counts_the_inputs_since_the_latest_new_bug():
    assert bugs_row() == (
        "none; a new one at most 3.0e-06 an input, if those to come are like the 1,000,000 without"
    )
    found = bugs_row(bug(300_000), bug(900_000))
    assert found.endswith("at most 3.0e-05 an input, if those to come are like the 100,000 without")


def test_watch_shows_it_where_the_fuzzer_had_no_crash():
    reading = Reading("AFL++", "out", Path("out"), NOW, crashes=0)
    assert "at most 3.0e-06" in watch_words.crashes(judge_reading(reading, Terms()))
    crashed = replace(reading, crashes=2)
    assert watch_words.crashes(judge_reading(crashed, Terms())) == "2"


def test_the_report_names_both_bounds_and_what_each_assumes():
    state = example_state(1)
    risk = Estimate(1e-6, 1e-7, 5e-6, 0.95, "recent-rate", NOW.n)
    done = replace(
        state.targets[0], state=RETIRED, finds_coverage=True, accepted_risk=1e-5, risk=risk,
        inputs=2 * NOW.n, bugs=(),
    )  # fmt: skip
    (safe,) = (
        part
        for part in conclusions.conclusions(replace(state, targets=(done,), bugs=()))
        if part.title == "Safe to stop"
    )
    # Of this build are 1,000,000 of its 2,000,000 inputs.
    assert "a new bug at most 3.0×10⁻⁶ by inputs alone" in safe.points[0][1]
    assert "first shows together with something new" in safe.note
    assert "inputs to come are like those" in safe.note


def test_the_assumption_is_said_where_the_risk_is():
    said = judgement_words.risk(judge(NOW, Terms()))
    assert said.endswith("if each bug first shows together with something new.")
