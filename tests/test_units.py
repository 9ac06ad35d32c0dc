"""Durations and counts as people write them."""

from __future__ import annotations

import pytest

from fuzzwise.errors import BadInput
from fuzzwise.report import words
from fuzzwise.units import parse_count, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("15m", 900), ("4h", 14400), ("1h30m", 5400), ("1.5h", 5400),
     ("2d", 172800), ("500ms", 0.5), ("1h 30m", 5400)],
)  # fmt: skip
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "4x", "-3s", "0s", "h", "1,5h"])
def test_durations_that_are_none(text):
    with pytest.raises(BadInput):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "count"), [("1000", 1000), ("200k", 200_000), ("1e6", 10**6), ("1.5M", 1_500_000)]
)
def test_counts(text, count):
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "many", "-5", "0", "1K!", "0.2"])
def test_counts_that_are_none(text):
    with pytest.raises(BadInput):
        parse_count(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3.0, "3 s"),
        (300, "5 min"),
        (18_720, "5.2 h"),
        (864_000, "10 days"),
        (float("inf"), "without end"),
    ],
)
def test_times_in_words(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.012345, "0.0123"),
        (1.2e-7, "1.20e-07"),
        (None, "–"),
        (float("inf"), "without end"),
    ],
)
def test_numbers_in_words(value, text):
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1234, "1,234"), (5.61e6, "5.61 million"), (2e9, "2 billion")]
)
def test_counts_in_words(value, text):
    assert words.count(value) == text
