"""Lines for terminals: where they end, what a table leaves out, and numbers in words."""

from __future__ import annotations

import math
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from fuzzwise.model import Estimate, Observation
from fuzzwise.report import grid, left, lines, short, words
from fuzzwise.report.grid import Column
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.text import many, significant, upper_bound
from observations import ints

sentences = st.lists(st.text("ab-é語(", min_size=1, max_size=12), max_size=20).map(" ".join)


@given(sentences, st.integers(20, 90), st.integers(0, 8))
def test_lines_end_between_words_and_lose_none(text: str, width: int, hang: int) -> None:
    made = lines.fitted(text, width, hang)
    assert " ".join(made).split() == text.split()
    for line in made:
        assert cell_len(line) <= width or len(line.split()) == 1
    assert all(line.startswith(" " * hang) for line in made[1:])
    assert lines.fitted(text, None) == [text]


def test_spaces_within_a_line_and_its_indent_stay() -> None:
    assert lines.fitted("  1,234   5k/s   8 s", 20) == ["  1,234   5k/s   8 s"]
    assert lines.fitted("  1,234   5k/s   8 s and more", 20) == [
        "  1,234   5k/s   8 s",
        "  and more",
    ]


def test_colours_survive_the_end_of_a_line() -> None:
    line = Text("a plain word, ").append("a red one", "red")
    made = lines.wrapped(line, 16)
    assert [part.plain for part in made] == ["a plain word, a", "red one"]
    assert made[1].spans[-1].style == "red"


@given(st.lists(st.text("a/-. '", min_size=1, max_size=30), min_size=1), st.integers(20, 80))
def test_a_command_in_several_lines_is_the_same_command(parts: list[str], width: int) -> None:
    command = shlex.join(parts)
    made = lines.command(command, width)
    assert shlex.split("\n".join(made).replace("\\\n", " ")) == parts


def test_a_command_reads_its_input_from_a_file_as_before() -> None:
    made = lines.command("/a/rather/long/program < /a/rather/long/folder/with/input", 40)
    assert made == ["  /a/rather/long/program < \\", "    /a/rather/long/folder/with/input"]


def _table(width: int | None, note: str = "something to be said of it") -> list[str]:
    columns = [
        Column("name", ["first", "second"]),
        Column("risk", ["1.0e-05", "2.0e-05"], rank=1, right=True),
        Column("speed", ["1,000", "2,000"], rank=2, right=True),
        Column("note", [note, ""], least=20, folds=True),
    ]
    return [line.plain for line in grid.lines(columns, width)]


def test_a_note_stands_beside_its_row_or_below_it() -> None:
    assert _table(None)[2] == "first   1.0e-05  1,000  something to be said of it"
    beside = _table(46)
    assert beside[2:5] == [
        "first   1.0e-05  1,000  something to be said",
        "                        of it",
        "second  2.0e-05  2,000",
    ]
    assert _table(30)[2:5] == [
        "first   1.0e-05  1,000",
        "    something to be said of it",
        "second  2.0e-05  2,000",
    ]
    assert "note" not in _table(80, note="")[0]


def test_what_a_table_leaves_out_is_known() -> None:
    columns = grid.of_rows(("name", "risk", "speed"), [("first", "1.0e-05", "1,000")], (0, 2, 1))
    assert grid.left_out(columns, None) == []
    assert grid.left_out(columns, 14) == ["risk"]
    assert grid.left_out(columns, 6) == ["risk", "speed"]


@pytest.mark.parametrize(
    ("amount", "word", "said"),
    [
        (1, "input", "1 input"),
        (0, "input", "0 inputs"),
        (1234, "discovery", "1,234 discoveries"),
        (2, "crash", "2 crashes"),
    ],
)
def test_a_number_with_its_noun(amount: int, word: str, said: str) -> None:
    assert many(amount, word) == said


@given(st.floats(1e-12, 1), st.floats(1e-12, 1))
def test_an_upper_bound_is_one_and_is_not_taken_for_its_limit(value: float, limit: float) -> None:
    shown = float(upper_bound(value, limit))
    assert shown >= value * (1 - 1e-5)
    if abs(value - limit) > 1e-4 * limit:
        assert (shown < limit) == (value < limit)
        assert shown != limit


def test_a_bound_just_below_the_accepted_risk_has_the_digits_that_show_it() -> None:
    assert upper_bound(0.000997) == "1.0e-03"
    assert upper_bound(0.000997, 1e-3) == "9.97e-04"
    assert upper_bound(0.0231) == "0.024"
    assert short.chance(9.97e-6, upper=True, beside=1e-5) == "9.97e-06"
    assert short.chance(9.2e-6, upper=True, beside=1e-5) == "9.2e-06"
    assert [significant(text) for text in ("0.0012", "1.20e-03", "0", "12")] == [2, 3, 1, 2]


def test_a_rule_never_says_that_a_number_is_not_below_itself() -> None:
    rule = AcceptedRisk(1e-3)
    for quiet in range(rule.first_look, 2 * rule.first_look, 50):
        seen = Observation(n=quiet + 10, discoveries=ints([1, 10]))
        decision = rule(seen, since=0)
        shown = decision.detail.partition("at most ")[2].split()[0].rstrip(",")
        assert (float(shown) < 1e-3) == decision.stop
        assert shown not in ("0.001", "1e-03", "1.0e-03")


def _in(seconds: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(seconds, low, high, 0.95, "power-law", 9)


def test_what_is_far_away_has_no_number() -> None:
    day = 86400.0
    assert words.time_ahead(_in(300, 120, 10_800)) == "about 5 min (2 min to 3 h)"
    assert words.time_ahead(_in(300, 120, math.inf)) == "about 5 min (2 min or more)"
    assert words.time_ahead(_in(400 * day, day, math.inf)) == "more than a year"
    assert words.time_ahead(_in(math.inf, 1.72, math.inf)) == "not in sight"
    assert words.span(_in(2e6, 1e6, math.inf), words.count) == "about 2 million (1 million or more)"
    assert left.in_short(90) == "about 90s left"
    assert left.on_a_core(1e8) == "more than a year of a core left"
    assert left.on_a_core(math.inf) == "no end in sight"
