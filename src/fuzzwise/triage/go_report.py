"""Crash reports of Go: a panic, a fatal error of its runtime, or a test that failed.

The stack is that of the first goroutine below the panic. ``go test -fuzz`` prints it indented below
``--- FAIL``, a test that runs on one input as it is. A test that says of itself that it failed
(``t.Error``, ``t.Fatal``) has no stack, but the file and the line where it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from fuzzwise.triage.stack_lines import MAX_FRAMES, Frame

PANIC = "panic"
"""How the kind of such a bug begins; what the runtime says about it follows."""

FAILED_TEST = "failed test"
DIED = "ended the process"
_DIED = "fuzzing process hung or terminated unexpectedly"
_TIMED_OUT = "test timed out after "
_HEADER = re.compile(r" *(?:testing\.go:\d{1,9}: )?(panic|fatal error): (.*)")
_GOROUTINE = re.compile(r" *goroutine \d{1,19} (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]]{1,200}\]:$")
_PLACE = re.compile(r" +(/?[^:]{1,1024}\.(?:go|s|c|h)):(\d{1,9})(?: \+0x[0-9a-f]+)?(?: .*)?$")
_FAILED = re.compile(r"--- FAIL: (Fuzz\w{0,200})[ (/]")
_SAID = re.compile(r" {8}([^\s:/]{1,200}\.go):(\d{1,9}): ?(.*)")
_CREATED = "created by "
_NOT_THE_BUG = ("runtime.", "runtime/", "testing.", "reflect.", "panic(", "main.main", "internal/")
_RUNTIME = "runtime error: "
_SAID_BY_RUNTIME = (
    *("assignment to entry in nil map", "close of closed channel", "close of nil channel"),
    *("send on closed channel", "interface conversion", "all goroutines are asleep"),
)
_FATAL = {
    "stack overflow": "stack-overflow",
    "runtime: out of memory": "out-of-memory",
    "runtime: cannot allocate memory": "out-of-memory",
    "out of memory": "out-of-memory",
    "all goroutines are asleep": "deadlock",
    "concurrent map": "concurrent map access",
}
_SEVERITIES = {
    f"{PANIC}: nil pointer dereference": "null dereference",
    f"{PANIC}: integer divide by zero": "divide",
}


def is_go(lines: list[str]) -> bool:
    """Whether a text has a report of Go in it."""
    return parse_go(lines) is not None


def severity(kind: str) -> str:
    """What a bug does whose kind is a panic."""
    return _SEVERITIES.get(kind, "exception")


def parse_go(lines: list[str]) -> tuple[str, tuple[Frame, ...]] | None:
    """The kind of the crash and its stack, the innermost call first; None without such a report.

    A panic counts with the stack of the goroutine below it; a word "panic" without one is no
    report. Of panics in functions that run while another panics, the first counts.
    """
    for at, line in enumerate(lines):
        header = _HEADER.match(line) if "panic: " in line or "fatal error: " in line else None
        if header is None:
            continue
        start = next((i for i in range(at + 1, len(lines)) if _GOROUTINE.match(lines[i])), None)
        if start is None:
            break
        return _kind(header[1], header[2]), _frames(lines, start + 1)
    return _failed_test(lines)


def _kind(word: str, message: str) -> str:
    message = message.removesuffix(" [recovered]")
    if message.startswith(_TIMED_OUT):
        return "timeout"
    if word == "fatal error":
        return next((kind for said, kind in _FATAL.items() if message.startswith(said)), word)
    is_known = message.startswith((_RUNTIME, *_SAID_BY_RUNTIME))
    said = re.split(r"[\[:(0-9]", message.removeprefix(_RUNTIME), maxsplit=1)[0].strip()
    if not is_known or not said:
        return PANIC  # what a program says may have the input in it
    if "nil pointer dereference" in said:
        said = "nil pointer dereference"
    return f"{PANIC}: {said[:80]}"


def _frames(lines: list[str], start: int) -> tuple[Frame, ...]:
    found = (frame for frame in _calls(lines, start) if frame.function)
    return tuple(islice(found, MAX_FRAMES))


def _calls(lines: list[str], start: int) -> Iterator[Frame]:
    """The calls of one goroutine; without a name those of the runtime and of package testing.

    What was called before a panic in a deferred function is not what the panic is about: the stack
    begins anew behind each ``panic(``.
    """
    calls: list[Frame] = []
    for at in range(start, len(lines) - 1):
        name = lines[at].strip()
        if not name or name.startswith(_CREATED):
            break
        place = _PLACE.match(lines[at + 1])
        if place is None:
            continue
        if name.startswith("panic("):
            calls.clear()
        if name.startswith(_NOT_THE_BUG) or not name.endswith(")"):
            continue
        if len(calls) < MAX_FRAMES:
            calls.append(Frame(_function(name), place[1], int(place[2])))
    yield from calls


def _function(call: str) -> str:
    """``sub.Parser.Next`` of ``example.org/sub.(*Parser).Next(0xc000, …)``."""
    name = call[: _opening(call)]
    name = name.rpartition("/")[2].replace("[...]", "")
    return name.replace("(*", "").replace("(", "").replace(")", "").replace(" ", "-")[:300]


def _opening(call: str) -> int:
    """Where the arguments begin that end a call."""
    depth = 0
    for at in range(len(call) - 1, -1, -1):
        depth += (call[at] == ")") - (call[at] == "(")
        if depth == 0:
            return at
    return len(call)


def _failed_test(lines: list[str]) -> tuple[str, tuple[Frame, ...]] | None:
    """What a test last said before it failed: t.Fatal ends it, and t.Error is said last, mostly."""
    at = next((i for i, line in enumerate(lines) if _FAILED.match(line)), None)
    if at is None:
        return None
    failed = _FAILED.match(lines[at])
    assert failed is not None
    if any(_DIED in line for line in lines[at + 1 :]):
        return DIED, (Frame(failed[1]),)
    said = [found for line in lines[at + 1 :] if (found := _SAID.match(line))]
    place = (Frame(file=said[-1][1], line=int(said[-1][2])),) if said else ()
    return FAILED_TEST, (*place, Frame(failed[1]))
