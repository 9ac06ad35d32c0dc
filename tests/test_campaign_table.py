"""The picture of a campaign for a terminal: its table of targets, and numbers in few characters."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from campaign_states import example_state
from campaign_strategies import UNSAFE, campaigns, texts
from fuzzwise.model import Estimate
from fuzzwise.report import grid, short
from fuzzwise.report.campaign.frame import frame
from fuzzwise.report.campaign.table import by_urgency, table
from fuzzwise.store.states import BROKEN, FUZZING, RETIRED, WAITING, CampaignState


@settings(max_examples=100)
@given(campaigns, st.integers(60, 200), st.integers(6, 40))
def test_a_picture_fits_every_terminal(state: CampaignState, width: int, height: int) -> None:
    lines = frame(state, width, height)
    assert len(lines) <= height
    for line in lines:
        assert cell_len(line.plain) <= width
        assert "\n" not in line.plain
        assert not UNSAFE.search(line.plain)


def test_the_columns_of_80_cells() -> None:
    state = example_state(8)
    longest = replace(state.targets[0], name="a-name-of-twenty-let")
    for targets in (state.targets, (longest, *state.targets[1:])):
        head = table(targets, 80, 20)[0].plain.split()
        assert head[:6] == ["target", "state", "risk", "at", "most", "left"]
        assert {"time", "bugs", "exec/s", "corpus"} <= set(head)
    assert longest.name in table((longest,), 80, 20)[2].plain


def test_wider_terminals_get_more_columns() -> None:
    targets = example_state(8).targets
    heads = [table(targets, width, 20)[0].plain.split() for width in (60, 80, 120, 200)]
    assert [len(head) for head in heads] == sorted({len(head) for head in heads})
    assert {"inputs", "species", "note"} <= set(heads[-1])
    assert not {"inputs", "species", "note"} & set(heads[0])


def test_a_row_tells_all_of_a_target() -> None:
    target = replace(
        example_state(1).targets[0],
        name="png",
        state=WAITING,
        inputs=48_000,
        seconds=4.0,
        share_of_time=0.42,
        corpus=345,
        bugs=("a", "b", "c"),
        risk=Estimate(3.14e-5, 1e-5, 8.31e-5, 0.95, "recent-rate", 1),
        trend="falling",
        seconds_left=Estimate(725.0, None, None, None, "recent-rate", 1),
        seconds_to_decision=725.0,
    )
    row = table((target,), 80, 10)[2].plain.split()
    assert row == [
        "·",
        "png",
        "waiting",
        "3.1e-05",
        "8.4e-05",
        "↓",
        "12m",
        "42%",
        "3",
        "12k",
        "345",
    ]


def test_a_long_name_loses_its_middle() -> None:
    target = replace(example_state(1).targets[0], name="the-beginning-" + "x" * 60 + "-the-end")
    row = table((target,), 80, 10)[2].plain
    assert "the-begin" in row
    assert "the-end" in row
    assert "…" in row


def test_100_targets_fit_24_lines_and_the_last_line_counts_the_rest() -> None:
    state = example_state(100)
    lines = [line.plain for line in frame(state, 80, 24)]
    assert len(lines) == 24
    more = next(line for line in lines if line.startswith("… "))
    rows = [line for line in lines if line[:1] in tuple("▶·✓✗")]
    said = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)(?:,|$)", more)}
    assert len(rows) >= 8
    assert sum(said.values()) == 100 - len(rows) == int(more.split()[1])
    for mood in (FUZZING, BROKEN, WAITING, RETIRED):
        shown = sum(f" {mood} " in row for row in rows)
        assert shown + said.get(mood, 0) == sum(t.state == mood for t in state.targets)


def test_news_leave_most_of_a_small_terminal_to_the_targets() -> None:
    lines = [line.plain for line in frame(example_state(100), 80, 15)]
    assert len(lines) == 15
    assert sum(line[:1] in tuple("▶·✓✗") for line in lines) == 5
    assert sum(bool(re.match(r" \dh\d\dm  | {8}\w", line)) for line in lines) == 3


def test_targets_that_all_fit_keep_the_order_of_the_file() -> None:
    targets = example_state(8).targets
    rows = [line.plain.split()[1] for line in table(targets, 80, 10)[2:]]
    assert rows == [target.name for target in targets]


def test_the_order_of_urgency() -> None:
    ordered = by_urgency(example_state(40).targets)
    assert [t.state for t in ordered] == sorted(
        (t.state for t in ordered), key=[FUZZING, BROKEN, WAITING, RETIRED].index
    )
    waiting = [t.risk.risk for t in ordered if t.state == WAITING and t.risk]
    assert waiting == sorted(waiting, reverse=True)


def test_one_that_was_never_fuzzed_is_the_riskiest() -> None:
    known, unknown = example_state(8).targets[6:]
    assert by_urgency((known, replace(unknown, risk=None)))[0].name == unknown.name


def test_broken_targets_do_not_hide_the_others() -> None:
    one = example_state(8).targets
    broken = tuple(replace(one[3], name=f"broken-{i}") for i in range(50))
    waiting = tuple(replace(one[7], name=f"waiting-{i}") for i in range(50))
    rows = [line.plain for line in table(broken + waiting, 80, 15)[2:-1]]
    assert sum("broken-" in row for row in rows) == 4
    assert sum("waiting-" in row for row in rows) == 8
    few = [line.plain for line in table(broken + waiting[:2], 80, 15)[2:-1]]
    assert sum("broken-" in row for row in few) == 10


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (950, "950"), (1000, "1.0k"), (12_345, "12k"), (999_600, "1.0M"), (3.4e6, "3.4M")],
)
def test_short_counts(value: float, shown: str) -> None:
    assert short.count(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59.9, "59s"), (723, "12m03s"), (3900, "1h05m"), (273_600, "3d04h")],
)
def test_moments(seconds: float, shown: str) -> None:
    assert short.clock(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (45, "45s"),
        (720, "12m"),
        (11_520, "3.2h"),
        (1e6, "12d"),
        (3e7, "350d"),
        (4e7, ">1y"),
        (1e12, "no end"),
        (math.inf, "no end"),
    ],
)
def test_rough_times(seconds: float, shown: str) -> None:
    assert short.rough(seconds) == shown


@given(st.floats(1e-300, 1))
def test_an_upper_bound_is_never_shown_too_low(value: float) -> None:
    shown = float(short.chance(value, upper=True))
    assert value * (1 - 1e-6) <= shown <= value * 1.11
    assert len(short.chance(value)) <= 7 or value < 1e-99


@given(texts, st.integers(1, 30), st.booleans())
def test_fitted_texts_fit(text: str, width: int, middle: bool) -> None:
    cut = short.fitted(text, width, middle=middle)
    assert cell_len(cut) <= width
    assert cut == text or "…" in cut


def test_a_grid_leaves_out_what_matters_least() -> None:
    columns = [
        grid.Column("name", ["a" * 10]),
        grid.Column("third", ["b" * 10], rank=2),
        grid.Column("second", ["c" * 10], rank=1),
    ]
    heads = [grid.lines(columns, width)[0].plain.split() for width in (40, 25, 15, 5)]
    assert heads == [["name", "third", "second"], ["name", "second"], ["name"], ["name"]]
    assert grid.lines(columns, 5)[2].plain == "aaaa…"
