"""Reports of Python crashes: real ones, of many kinds, and what triage makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.triage.crash import identify
from fuzzwise.triage.examine import from_report
from fuzzwise.triage.frames import has_sanitizer_report, parse
from fuzzwise.triage.python_report import parse_python
from python_targets import RAISING, shown

TOP = "raising.TestOneInput"
EXCEPTION = "exception"

ATHERIS = """INFO: Using built-in libfuzzer
INFO: Running with entropic power schedule (0xFF, 100).

 === Uncaught Python exception: ===
ValueError: boom
Traceback (most recent call last):
  File "/home/me/fuzz.py", line 13, in TestOneInput
    parse(data)
  File "/home/me/lib/__init__.py", line 8, in parse
    raise ValueError("boom")
{last}
==7434== ERROR: libFuzzer: fuzz target exited
SUMMARY: libFuzzer: fuzz target exited
"""


@pytest.mark.parametrize(
    ("how", "kind", "severity", "frames"),
    [
        (b"1", "uncaught RecursionError", "stack exhaustion", ("raising.deep",)),
        (b"2", "uncaught RecursionError", "stack exhaustion", ("raising.ping", "raising.pong")),
        (b"3", "uncaught Odd", EXCEPTION, (TOP,)),
        (b"4", "uncaught KeyError", EXCEPTION, ("raising.chained", TOP)),
        (b"5", "uncaught KeyError", EXCEPTION, ("raising.meanwhile", TOP)),
        (b"6", "uncaught ExceptionGroup", EXCEPTION, ("raising.together", TOP)),
        (b"7", "uncaught SystemExit", EXCEPTION, (TOP,)),
        (b"8", "SEGV", "access", ("ctypes.string_at", TOP)),
        (b"9", "uncaught SyntaxError", EXCEPTION, (TOP,)),
        (b"a", "uncaught ValueError", EXCEPTION, ("raising.message", TOP)),
        (b"b", "uncaught ValueError", EXCEPTION, ("raising.huge", TOP)),
        (b"c", "uncaught ValueError", EXCEPTION, ("raising.liar", TOP)),
        (b"d", "uncaught ZeroDivisionError", "divide",
         ("raising.<listcomp>", "raising.<lambda>", "raising.anonymous", TOP)),
        (b"e", "abort", "abort", (TOP,)),
        (b"f", "uncaught JSONDecodeError", EXCEPTION,
         ("decoder.raw_decode", "decoder.decode", "json.loads", TOP)),
        (b"g", "uncaught MemoryError", "resource", (TOP,)),
        (b"h", "uncaught KeyboardInterrupt", EXCEPTION, (TOP,)),
    ],
)  # fmt: skip
def test_a_real_failure_is_told_by_its_class_and_its_stack(tmp_path, how, kind, severity, frames):
    result = shown(RAISING, how, tmp_path)
    assert result.returncode != 0
    assert len(result.stderr) < 250_000  # the end of the output is all that is kept
    assert has_sanitizer_report(result.stderr)
    seen = from_report(result.stderr)
    assert seen.bug is not None
    if how == b"d":  # newer Pythons run a comprehension in the function that it is in
        frames = frames if frames[0] in seen.bug.frames else frames[1:]
    assert (seen.bug.kind, seen.bug.severity, seen.bug.frames) == (kind, severity, frames)
    assert seen.summary.startswith(kind)
    assert seen.file.endswith(".py")
    assert seen.line


def test_the_message_is_no_part_of_a_bug_and_the_class_is(tmp_path):
    one = shown(RAISING, b"aone", tmp_path).stderr
    other = shown(RAISING, b"aother\nline", tmp_path).stderr
    assert one != other
    assert identify(one) == identify(other)
    assert identify(one).id != identify(one.replace("ValueError", "KeyError")).id


def test_an_input_without_a_bug_gives_no_report(tmp_path):
    result = shown(RAISING, b"nothing", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("last", ["ValueError: boom\n", ""])
def test_the_reports_of_atheris_itself_old_and_new(last):
    seen = from_report(ATHERIS.format(last=last))
    assert seen.bug is not None
    assert (seen.bug.kind, seen.bug.frames) == (
        "uncaught ValueError",
        ("lib.parse", "fuzz.TestOneInput"),
    )
    assert (seen.file, seen.line) == ("/home/me/lib/__init__.py", 8)


def test_the_last_report_counts():
    first = ATHERIS.format(last="ValueError: boom\n")
    both = first + ATHERIS.replace("ValueError", "OSError").format(last="OSError\n")
    assert identify(both).kind == "uncaught OSError"


def test_a_sanitizer_knows_more_of_a_native_crash_than_python_does():
    text = (
        "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\n"
        "WRITE of size 4 at 0x1 thread T0\n    #0 0x3 in fill /src/ext.c:7:3\n\n"
        "Fatal Python error: Aborted\n\nStack (most recent call first):\n"
        '  File "a.py", line 3 in f\n'
    )
    assert identify(text).frames == ("fill",)


def test_frames_of_the_runner_and_of_imports_are_no_part_of_a_bug():
    text = (
        " === Uncaught Python exception: ===\nTraceback (most recent call last):\n"
        '  File "/x/fuzzwise/engines/python/inside.py", line 1, in one_input\n'
        '  File "/x/h.py", line 2, in TestOneInput\n'
        '  File "<frozen importlib._bootstrap>", line 1, in _find_and_load\n'
        '  File "/y/site-packages/atheris/function_hooks.py", line 2, in hook\n'
        '  File "<string>", line 3, in main\n'
        "pkg.errors.Bad: no\n"
    )
    report = parse(text)
    assert report.kind == "uncaught Bad"
    assert [frame.function for frame in report.frames] == ["string.main", "h.TestOneInput"]


def test_a_timeout_stays_one_bug_whatever_python_was_doing():
    dump = 'Current thread 0x1 (most recent call first):\n  File "a.py", line {} in f\n'
    end = "==1== ERROR: libFuzzer: timeout after 2 seconds\n"
    one, other = (identify(dump.format(line) + end) for line in (1, 2))
    assert one == other
    assert (one.kind, one.severity) == ("timeout", "resource")


LINES = st.sampled_from(
    [
        " === Uncaught Python exception: ===",
        "Fatal Python error: Segmentation fault",
        "Traceback (most recent call last):",
        "  + Exception Group Traceback (most recent call last):",
        "During handling of the above exception, another exception occurred:",
        '  File "a.py", line 1, in f',
        '  |   File "a.py", line 1, in f',
        '  File "a.py", line 1 in f',
        "Stack (most recent call first):",
        "ValueError: x",
        "",
    ]
)


@given(st.lists(LINES | st.text(max_size=20), max_size=30))
def test_no_text_is_too_odd_to_be_read(lines):
    found = parse_python(lines)
    opened = any(
        line.endswith(" === Uncaught Python exception: ===")
        or line.startswith("Fatal Python error: ")
        for line in lines
    )
    assert (found is not None) == opened
    if found is not None:
        assert found[0]
        assert all(frame.function for frame in found[1])
