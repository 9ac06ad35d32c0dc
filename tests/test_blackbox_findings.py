"""From crashes to bugs: which input of a bug comes first, and how long examinations may take."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blackbox_target import build
from fuzzwise.engines.blackbox.findings import Findings
from fuzzwise.engines.blackbox.tally import Tally
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examinations import Examinations
from fuzzwise.triage.examine import Limits, absolute
from fuzzwise.triage.workers import Task, Workers


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as shared:
        yield shared


def findings_with(
    tmp_path: Path, workers: Workers, inputs: list[bytes], *, seconds: float = 60
) -> tuple[Findings, str]:
    """The findings of a session that has shown a bug, not checked yet, by the last input."""
    command = absolute((str(build("parser")), "@@"))
    (seen,) = workers.examine([Task(command, lambda: b"...S", "input", Limits(30), 5)])
    assert seen.bug is not None
    book = BugBook(tmp_path, "program")
    files = []
    for number, data in enumerate(inputs):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(data)
    bug = book.add(seen, files, 1, 0.1).id
    examinations = Examinations(workers, threading.Event())
    examinations.begin(seconds)
    tally = Tally("generation", "fingerprint", unchecked=[bug])
    rest = (command, "", Limits(30), examinations, 1, lambda: None)
    return Findings(tally, book, tmp_path, lambda crash: b"", *rest), bug


def test_the_smallest_input_that_shows_a_bug_every_time_comes_first(tmp_path, workers):
    findings, bug = findings_with(tmp_path, workers, [b"....S", b"..S", b"...S", b"."])
    findings.check()
    assert findings.book.bugs[bug].inputs[0] == f"{bug}/1"  # not 3, which shows nothing
    assert not findings.book.bugs[bug].flaky
    assert len(findings.book.bugs[bug].inputs) == 4
    assert findings.tally.unchecked == []
    assert BugBook(tmp_path, "program").bugs == findings.book.bugs


def test_a_bug_that_no_input_shows_every_time_is_flaky(tmp_path, workers):
    findings, bug = findings_with(tmp_path, workers, [b"...", b"..A"])
    findings.check()
    assert findings.book.bugs[bug].flaky
    assert findings.book.bugs[bug].inputs == (f"{bug}/0", f"{bug}/1")


def test_without_time_a_bug_is_checked_later(tmp_path, workers):
    findings, bug = findings_with(tmp_path, workers, [b"..S"], seconds=0)
    findings.check()
    assert findings.tally.unchecked == [bug]
    findings.examinations.begin(60)
    findings.check()
    assert findings.tally.unchecked == []


def test_an_examination_that_takes_longer_than_a_turn_goes_on(tmp_path, workers):
    command = absolute((str(build("parser")), "@@"))
    task = Task(command, lambda: b"S", "input", Limits(30), 5)
    examinations = Examinations(workers, threading.Event())
    examinations.begin(1e-6)
    assert examinations.verdicts({"key": task}) == {}
    assert not examinations.possible
    examinations.begin(60)
    other = replace(task, load=lambda: b"harmless")  # the one that was begun counts
    (seen,) = examinations.verdicts({"key": other}).values()
    assert seen.ending == "crash"
