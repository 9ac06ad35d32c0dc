"""Reports of Go: where a panic is, what kind it is, and what is no report of Go."""

from __future__ import annotations

import pytest

from fuzzwise.triage.examine import from_report
from fuzzwise.triage.frames import has_sanitizer_report

STACK = """\
goroutine 19 [running]:
testing.tRunner.func1.2({0x5f2700, 0xc0000fa048})
\t/usr/lib/go/src/testing/testing.go:1396 +0x24e
testing.tRunner.func1()
\t/usr/lib/go/src/testing/testing.go:1399 +0x39f
panic({0x5f2700, 0xc0000fa048})
\t/usr/lib/go/src/runtime/panic.go:884 +0x212
example.org/gm/sub.(*Parser).Next(...)
\t/home/me/gm/sub/parse.go:14
example.org/gm/sub.FuzzParse.func1(0x0?, {0xc0000a8ca0, 0xb, 0x466459?})
\t/home/me/gm/sub/parse_test.go:8 +0x494
reflect.Value.call({0x5d31c0?, 0x60fbb8?, 0x13?}, {0x6010b7, 0x4}, {0xc00008e960, 0x2, 0x2?})
\t/usr/lib/go/src/reflect/value.go:584 +0x8c5
testing.tRunner(0xc000096820, 0xc00010c000)
\t/usr/lib/go/src/testing/testing.go:1446 +0x10b
created by testing.(*F).Fuzz.func1
\t/usr/lib/go/src/testing/fuzz.go:324 +0x5b9
"""


def alone(message: str) -> str:
    """As a test prints it that runs on one input."""
    return f"panic: {message} [recovered]\n\tpanic: {message}\n\n{STACK}"


def fuzzing(message: str) -> str:
    """As ``go test -fuzz`` prints it."""
    stack = STACK.replace("testing.tRunner.func1.2", "runtime/debug.Stack")
    lines = "\n".join(" " * 12 + line for line in stack.splitlines())
    return (
        "fuzz: elapsed: 3s, execs: 111008 (37698/sec), new interesting: 1 (total: 28)\n"
        "--- FAIL: FuzzParse (2.95s)\n    --- FAIL: FuzzParse (0.00s)\n"
        f"        testing.go:1356: panic: {message}\n{lines}\n            \n    \n"
        "    Failing input written to testdata/fuzz/FuzzParse/d9328b\nFAIL\n"
    )


@pytest.mark.parametrize("shown", [alone, fuzzing])
def test_a_panic_is_where_the_program_panicked(shown):
    text = shown("runtime error: index out of range [11] with length 11")
    assert has_sanitizer_report(text)
    seen = from_report(text)
    assert seen.bug.kind == "panic: index out of range"
    assert seen.bug.frames == ("sub.Parser.Next", "sub.FuzzParse.func1")
    assert (seen.file, seen.line) == ("/home/me/gm/sub/parse.go", 14)
    assert seen.summary == "panic: index out of range in sub.Parser.Next at parse.go:14"


def test_both_ways_to_print_it_are_one_bug():
    message = "runtime error: slice bounds out of range [:5] with capacity 3"
    assert from_report(alone(message)).bug == from_report(fuzzing(message)).bug


@pytest.mark.parametrize(
    ("message", "kind", "severity"),
    [
        ("runtime error: integer divide by zero", "panic: integer divide by zero", "divide"),
        (
            "runtime error: invalid memory address or nil pointer dereference",
            "panic: nil pointer dereference",
            "null dereference",
        ),
        ("runtime error: makeslice: len out of range", "panic: makeslice", "exception"),
        (
            "assignment to entry in nil map",
            "panic: assignment to entry in nil map",
            "exception",
        ),
        ("interface conversion: interface {} is int", "panic: interface conversion", "exception"),
        ("odd input \\x00abc", "panic", "exception"),
        ("test timed out after 10s", "timeout", "resource"),
    ],
)
def test_what_the_runtime_says_is_the_kind(message, kind, severity):
    found = from_report(alone(message)).bug
    assert (found.kind, found.severity) == (kind, severity)


def test_a_panic_while_another_panics_begins_behind_the_last():
    text = alone("runtime error: integer divide by zero").replace(
        "panic({0x5f2700",
        "example.org/gm/sub.cleanup()\n\t/home/me/gm/sub/clean.go:3 +0x1\npanic({0x5f2700",
        1,
    )
    assert from_report(text).bug.frames[0] == "sub.Parser.Next"


def test_an_endless_recursion_is_its_functions():
    calls = "".join(
        f"example.org/gm/sub.{name}(0xff)\n\t/home/me/gm/sub/deep.go:{line} +0x5a fp=0xc0 sp=0xc1\n"
        for name, line in [("odd", 5), ("even", 9)] * 50
    )
    text = (
        "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\n"
        "runtime stack:\nruntime.throw({0x6, 0x7})\n\t/usr/lib/go/src/runtime/panic.go:1047 +0x5d\n"
        f"\ngoroutine 7 [running]:\n{calls}"
    )
    seen = from_report(text)
    assert (seen.bug.kind, seen.bug.severity) == ("stack-overflow", "stack exhaustion")
    assert seen.bug.frames == ("sub.even", "sub.odd")
    assert (seen.file, seen.line) == ("/home/me/gm/sub/deep.go", 5)


def test_a_test_that_fails_is_where_it_last_said_something():
    text = (
        "--- FAIL: FuzzTwo (1.01s)\n    --- FAIL: FuzzTwo/abc (0.00s)\n"
        '        parse_test.go:11: tried "x"\n        parse_test.go:13: long "x\\x1e"\n'
        "    \nFAIL\n"
    )
    assert has_sanitizer_report(text)
    seen = from_report(text)
    assert seen.bug.kind == "failed test"
    assert seen.bug.frames == ("parse_test.go:13", "FuzzTwo")
    assert (seen.file, seen.line) == ("parse_test.go", 13)


@pytest.mark.parametrize(
    "text",
    [
        "panic: at the disco\n",
        "kernel panic: not syncing\n",
        "fatal error: stdio.h: No such file\n",
        "--- FAIL: TestOther (0.00s)\n    x_test.go:3: no\n",
        "goroutine 7 [running]:\nmain.main()\n\t/x.go:3\n",
    ],
)
def test_words_alone_are_no_report(text):
    assert not has_sanitizer_report(text)


def test_undefined_behaviour_is_still_seen_beside_it():
    text = "parse.c:3:5: runtime error: signed integer overflow: 1 + 2\n    #0 0x1 in f parse.c:3\n"
    assert from_report(text).bug.kind.startswith("undefined-behavior")


def test_damaged_reports_are_read_to_the_end():
    text = alone("runtime error: index out of range [1] with length 1")
    assert from_report(text).bug
    for cut in range(0, len(text), 7):
        for part in (text[:cut], text[cut:]):
            found = from_report(part).bug
            assert found is None or found.kind
