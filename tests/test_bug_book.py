"""The bugs of a target as files: complete after any interruption."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzwise.triage.bug_book import MOST_INPUTS, RECORD, REPORT, Bug, BugBook
from fuzzwise.triage.examine import Verdict, from_report

TEXT = """==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000038
READ of size 1 at 0x602000000038 thread T0
    #0 0x4f1 in parse_name /src/names.c:12:3
    #1 0x4f2 in main /src/names.c:40:3
SUMMARY: AddressSanitizer: heap-buffer-overflow /src/names.c:12:3 in parse_name
"""


@pytest.fixture
def seen() -> Verdict:
    return from_report(TEXT)


def written(folder: Path, name: str, content: bytes = b"x") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def with_one_bug(tmp_path: Path, seen: Verdict) -> Bug:
    files = [written(tmp_path, "one"), written(tmp_path, "two")]
    return BugBook(tmp_path, "program").add(seen, files, 70, 1.25, count=3)


def test_a_bug_is_there_when_the_book_is_opened_again(tmp_path, seen):
    bug = with_one_bug(tmp_path, seen)
    assert bug.frames == ("parse_name",)
    assert (bug.file, bug.line) == ("/src/names.c", 12)
    assert (bug.count, bug.found_at, bug.seconds) == (3, 70, 1.25)
    assert bug.inputs == (f"{bug.id}/one", f"{bug.id}/two")
    assert BugBook(tmp_path, "program").bugs == {bug.id: bug}
    assert [BugBook(tmp_path, "program").path(name).read_bytes() for name in bug.inputs] == [
        b"x",
        b"x",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [bug.id]


def test_crashes_add_up_and_the_first_time_stays(tmp_path, seen):
    with_one_bug(tmp_path, seen)
    bug = BugBook(tmp_path, "program").add(seen, [written(tmp_path, "three")], 900, 9.0, count=2)
    assert (bug.count, bug.found_at, bug.seconds, len(bug.inputs)) == (5, 70, 1.25, 3)


def test_inputs_of_a_known_bug_are_kept_without_counting(tmp_path, seen):
    bug = with_one_bug(tmp_path, seen)
    book = BugBook(tmp_path, "program")
    again = book.keep(bug.id, [written(tmp_path, "one"), written(tmp_path, "new")])
    assert again.count == bug.count
    assert again.inputs == (*bug.inputs, f"{bug.id}/new")
    assert BugBook(tmp_path, "program").bugs[bug.id] == again
    assert [path.name for path in tmp_path.iterdir()] == [bug.id]


def test_a_bug_does_not_fill_the_disk(tmp_path, seen):
    book = BugBook(tmp_path, "program")
    for number in range(MOST_INPUTS + 7):
        bug = book.add(seen, [written(tmp_path, f"{number}")], number, 0.0)
    assert bug.count == MOST_INPUTS + 7
    assert len(bug.inputs) == MOST_INPUTS
    assert len(list((tmp_path / bug.id).iterdir())) == MOST_INPUTS + 2
    assert len(list(tmp_path.iterdir())) == 1


def test_a_record_cut_anywhere_loses_no_bug(tmp_path, seen):
    bug = with_one_bug(tmp_path, seen)
    record = tmp_path / bug.id / RECORD
    whole = record.read_bytes()
    for length in range(len(whole)):
        record.write_bytes(whole[:length])
        (found,) = BugBook(tmp_path, "program").bugs.values()
        assert (found.id, found.kind, found.frames) == (bug.id, bug.kind, bug.frames)
        assert found.inputs == bug.inputs
        assert found.count == 2  # so many inputs are there


@pytest.mark.parametrize(
    ("key", "value"),
    [("count", "many"), ("inputs", 3), ("frames", [1]), ("id", "another"), ("kind", None)],
)
def test_a_record_with_nonsense_is_made_again(tmp_path, seen, key, value):
    bug = with_one_bug(tmp_path, seen)
    record = tmp_path / bug.id / RECORD
    record.write_text(json.dumps(json.loads(record.read_text()) | {key: value}))
    (found,) = BugBook(tmp_path, "program").bugs.values()
    assert (found.id, found.frames, found.inputs) == (bug.id, bug.frames, bug.inputs)


def test_a_record_without_its_report_is_still_a_bug(tmp_path, seen):
    bug = with_one_bug(tmp_path, seen)
    (tmp_path / bug.id / REPORT).unlink()
    assert BugBook(tmp_path, "program").bugs == {bug.id: bug}


def test_what_is_no_bug_is_left_alone(tmp_path, seen):
    (tmp_path / "empty").mkdir()
    written(tmp_path, "file")
    written(tmp_path / "inputs", "of a bug without record and report")
    assert BugBook(tmp_path, "program").bugs == {}
    assert BugBook(tmp_path / "missing", "program").bugs == {}
    assert len(list(tmp_path.iterdir())) == 3


def test_the_same_input_twice_is_one_file(tmp_path, seen):
    bug = with_one_bug(tmp_path, seen)
    same = written(tmp_path, "same")
    again = BugBook(tmp_path, "program").keep(bug.id, [same, same])
    assert again.inputs == (*bug.inputs, f"{bug.id}/same")


def test_two_harnesses_with_a_bug_in_themselves_have_two_bugs(tmp_path: Path):
    """The function is called alike in both; a function of their own that they share is one bug."""
    harness = from_report(TEXT.replace("parse_name", "LLVMFuzzerTestOneInput"))
    shared = from_report(TEXT)
    found = {
        program: [
            BugBook(tmp_path / program, program).add(seen, [], 1, 0.0).id
            for seen in (harness, shared)
        ]
        for program in ("png_fuzzer", "jpg_fuzzer")
    }
    (png, png_shared), (jpg, jpg_shared) = found.values()
    assert png != jpg
    assert png_shared == jpg_shared


def test_a_bug_of_a_harness_goes_on_under_the_id_of_an_older_campaign(tmp_path: Path):
    seen = from_report(TEXT.replace("parse_name", "LLVMFuzzerTestOneInput"))
    bug = BugBook(tmp_path, "x").add(seen, [], 1, 0.0)
    older = replace(bug, id=seen.bug.id)
    (tmp_path / bug.id).rename(tmp_path / older.id)
    BugBook(tmp_path, "x").put(older)
    assert BugBook(tmp_path, "x").add(seen, [], 2, 0.0).id == older.id
    assert len(BugBook(tmp_path, "x").bugs) == 1


def test_two_programs_that_hang_have_two_bugs_and_each_its_folder(tmp_path: Path):
    slow = from_report("ERROR: libFuzzer: timeout after 1 seconds")
    ids = []
    for program in ("one", "other"):
        (tmp_path / "input").write_bytes(b"slow")
        book = BugBook(tmp_path / program, program)
        bug = book.add(slow, [tmp_path / "input"], 5, 1.0)
        assert bug.frames == ()
        assert [home.name for home in (tmp_path / program).iterdir()] == [bug.id]
        assert BugBook(tmp_path / program, program).bugs == {bug.id: bug}
        ids.append(bug.id)
    assert len(set(ids)) == 2
    assert slow.bug.id not in ids
