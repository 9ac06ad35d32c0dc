"""Any campaign at all, for tests with Hypothesis: hostile text and numbers of every size."""

from __future__ import annotations

import math
import re
from pathlib import Path

from hypothesis import strategies as st

from campaign_states import HOSTILE
from fuzzwise.model import Estimate
from fuzzwise.store.states import (
    BROKEN,
    FUZZING,
    RETIRED,
    WAITING,
    BugState,
    CampaignState,
    EventState,
    Stopped,
    TargetState,
)

UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would obey."""

texts = st.text(max_size=60) | st.sampled_from(
    [HOSTILE, "\x1b]0;title\x07", "名前" * 20, "a\nb\r\t"]
)
numbers = st.floats(min_value=0, allow_nan=False)
chances = st.floats(min_value=0, max_value=2) | st.just(math.nan)


@st.composite
def estimates(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Estimate:
    bounds = draw(st.none() | st.tuples(values, values))
    low, high = bounds or (None, None)
    return Estimate(draw(values), low, high, 0.95 if bounds else None, "recent-rate", 1)


targets = st.builds(
    TargetState,
    name=texts,
    engine=st.just("libfuzzer"),
    finds_coverage=st.booleans(),
    state=st.sampled_from([WAITING, FUZZING, RETIRED, BROKEN]),
    reason=st.just(""),
    detail=texts,
    share=st.just("medium"),
    accepted_risk=st.none() | st.floats(1e-12, 0.99),
    epochs=st.integers(0),
    inputs=st.integers(0, 10**18),
    seconds=st.floats(0, 1e12),
    share_of_time=st.floats(0, 1),
    species=st.integers(0, 10**12),
    discoveries=st.integers(0, 10**12),
    corpus=st.integers(0, 10**9),
    risk=st.none() | estimates(chances),
    trend=st.sampled_from(["falling", "level", "rising", ""]),
    seconds_left=st.none() | estimates(numbers),
    seconds_to_decision=st.none() | numbers,
    bugs=st.lists(texts, max_size=3).map(tuple),
    crashes=st.integers(0, 10**6),
    warnings=st.lists(texts, max_size=2).map(tuple),
)
bugs = st.builds(
    BugState,
    id=texts,
    kind=texts,
    severity=texts,
    frames=st.lists(texts, max_size=2).map(tuple),
    summary=texts,
    file=texts,
    line=st.none(),
    target=texts,
    targets=st.lists(texts, max_size=3).map(tuple),
    crashes=st.integers(0, 10**9),
    inputs=st.just(()),
    report=texts,
    command=texts,
    at=st.floats(0, 1e9),
    after_inputs=st.just(0),
    after_seconds=st.just(0.0),
    flaky=st.booleans(),
)
events = st.builds(
    EventState,
    at=st.floats(0, 1e9),
    kind=st.sampled_from(["bug", "retired", "broken", "warning", "stopped"]),
    target=texts,
    detail=texts,
)
campaigns = st.builds(
    CampaignState,
    folder=st.just(Path("campaign \x1b[31m")),
    name=texts,
    running=st.booleans(),
    budget=st.none() | st.floats(0.1, 1e8),
    seconds=st.floats(0, 1e9),
    cores=st.integers(1, 512),
    scheduler=texts,
    epoch=st.floats(0.1, 1e4),
    confidence=st.just(0.95),
    epochs=st.integers(0, 10**6),
    targets=st.lists(targets, max_size=12).map(tuple),
    bugs=st.lists(bugs, max_size=4).map(tuple),
    events=st.lists(events, max_size=6).map(tuple),
    stopped=st.none()
    | st.builds(Stopped, st.sampled_from(["killed", "time-budget", "all-retired"]), texts),
)
