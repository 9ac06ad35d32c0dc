"""What a session tells: its files between turns, and never while a turn changes them."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from fuzzwise.engines.contract import Totals
from fuzzwise.engines.telling import Telling


def told(corpus: int) -> Totals:
    return replace(Totals.nothing(), corpus=corpus)


def corpus_told(telling: Telling) -> int:
    totals = telling.totals()
    assert totals is not None
    return totals.corpus


class Files:
    """Files that hold nothing at first."""

    def __init__(self) -> None:
        self.corpus: int | None = None

    def read(self) -> Totals | None:
        return None if self.corpus is None else told(self.corpus)


def test_between_turns_the_files_are_told():
    files = Files()
    telling = Telling(files.read)
    assert telling.totals() is None
    files.corpus = 3
    assert corpus_told(telling) == 3


def test_a_turn_tells_what_was_known_until_it_says_more():
    files = Files()
    files.corpus = 3
    telling = Telling(files.read)
    with telling.turn():
        files.corpus = 7
        assert corpus_told(telling) == 3
        telling.say(told(5))
        assert corpus_told(telling) == 5
    assert corpus_told(telling) == 7


def test_a_turn_that_fails_leaves_the_files_to_be_told():
    files = Files()
    telling = Telling(files.read)

    def fail() -> None:
        with telling.turn():
            telling.say(told(5))
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert telling.totals() is None


def test_a_first_turn_tells_of_nothing_and_leaves_its_files_alone():
    files = Files()
    telling = Telling(files.read)
    with telling.turn():
        files.corpus = 7
        assert telling.totals() is None


def test_a_turn_begins_when_nobody_reads_the_files():
    is_reading, may_end, has_begun = (threading.Event() for _ in range(3))
    seen = []

    def read() -> None:
        if not is_reading.is_set():
            is_reading.set()
            may_end.wait()
            seen.append(has_begun.is_set())

    telling = Telling(read)

    def turn() -> None:
        with telling.turn():
            has_begun.set()

    looker = threading.Thread(target=telling.totals)
    looker.start()
    is_reading.wait()
    worker = threading.Thread(target=turn)
    worker.start()
    has_begun.wait(0.3)  # where it waits for the reader, in vain
    may_end.set()
    looker.join()
    worker.join()
    assert seen == [False]
    assert has_begun.is_set()
