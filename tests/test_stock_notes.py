"""What is told of a stock target besides its counts."""

from __future__ import annotations

from fuzzwise.engines.stock.counts import Counts
from fuzzwise.engines.stock.notes import notes


def test_costly_starts_are_told_in_steps_of_ten_percent():
    assert not list(notes(Counts(seconds=100.0, loading=9.0)))
    assert not list(notes(Counts(seconds=20.0, loading=19.0)))  # too early to tell
    one, other = (list(notes(Counts(seconds=100.0, loading=took))) for took in (32.0, 38.0))
    assert one == other
    assert one[0].startswith("more than 30% of its time goes into running its corpus")


def test_inputs_that_nobody_counted_are_told_with_two_digits():
    (said,) = notes(Counts(n=10_000, killed=3, uncounted=12_345))
    assert said.startswith("3 of its processes were killed: about 12,000 inputs")
    assert not list(notes(Counts(n=10_000)))
