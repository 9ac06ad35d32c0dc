"""The kind and the severity of a crash, in the words that sanitizers use for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fuzzwise.triage import go_report, python_report
from fuzzwise.triage.names import is_noise

UNKNOWN = "unknown"
_SIGNALS = {
    "SIGABRT": "abort",
    "SIGBUS": "BUS",
    "SIGFPE": "divide-by-zero",
    "SIGILL": "ILL",
    "SIGKILL": "killed",
    "SIGSEGV": "SEGV",
    "SIGSYS": "SYS",
    "SIGTRAP": "TRAP",
    "SIGXCPU": "timeout",
}
_PHRASES = (
    ("attempting double-free", "double-free"),
    ("attempting free on address which was not malloc", "bad-free"),
    ("requested allocation size", "allocation-size-too-big"),
    ("out of memory", "out-of-memory"),
    ("out-of-memory", "out-of-memory"),
    ("failed to allocate", "out-of-memory"),
    ("rss limit exhausted", "out-of-memory"),
    ("detected memory leaks", "leak"),
    ("data race", "data-race"),
    ("timeout after", "timeout"),
    ("deadly signal", "deadly signal"),
    ("fuzz target exited", "exit"),
    ("fuzz target overwrites", "overwritten input"),
    ("ABRT on", "abort"),
    ("FPE on", "divide-by-zero"),
)
RESOURCE = "resource"
"""The severity of what ends for want of time or of memory."""
_RESOURCE = frozenset({"allocation-size-too-big", "killed", "leak", "out-of-memory", "timeout"})
# These have no access of their own; freeing what is not allocated corrupts the heap.
_WRITES = frozenset(
    {"bad-free", "double-free", "overwritten input"}
    | {"heap-corruption", "smashed-stack", "stopped-overflow"}
)
_CHECKS = {"__stack_chk_fail": "smashed-stack", "__chk_fail": "stopped-overflow"}
_ALLOCATORS = frozenset({"free", "malloc", "calloc", "realloc", "__libc_free", "__libc_malloc"})
_WRITE = re.compile(r"\bWRITE of size|by a WRITE memory|\bWrite of size|error: store to")
_READ = re.compile(r"\bREAD of size|by a READ memory|\bRead of size|error: load of")
ZERO_PAGE = "Hint: address points to the zero page."
STACK_EXHAUSTED = "Hint: the stack is exhausted."
WILD_JUMP = "Hint: PC is at a non-executable region. Maybe a wild jump?"
SEVERITIES = (
    *("jump", "write", "read", "access", "null dereference", "stack exhaustion"),
    *("divide", "abort", "exception", RESOURCE, "other"),
)
"""What a crash does, the worst first; "access" is a read or a write, which one is not known, and
"exception" one of Python that nobody caught, or a panic of Go."""


def of_sanitizer(message: str) -> str:
    """The kind in ``ERROR: AddressSanitizer: MESSAGE`` or ``ERROR: libFuzzer: MESSAGE``."""
    message = message[:300]
    for phrase, kind in _PHRASES:
        if phrase in message:
            return kind
    return re.split(r"[ :(]", message.strip(), maxsplit=1)[0][:80] or UNKNOWN


def of_undefined(message: str) -> str:
    """The kind in ``runtime error: MESSAGE``, without the values, types and addresses in it."""
    text = re.sub(r"'[^']*'", "", message[:300])
    text = re.split(r"[:,;(]", text, maxsplit=1)[0]
    text = re.sub(r"(?<!\S)[-+]?\d[\w.+-]*(?!\S)", "", text)
    text = re.sub(r"(?: (?:of|for|to))? type$", "", " ".join(text.split()))
    return f"undefined-behavior: {text or UNKNOWN}"


def of_signal(name: str) -> str:
    """The kind of a death by the named signal.

    SIGFPE counts as a division by zero, which it nearly always is; on x86 it is also what
    dividing the smallest integer by -1 raises.
    """
    return _SIGNALS.get(name, name)


def of_abort(functions: Iterable[str]) -> str:
    """The kind of an abort, from the plain names of its stack: which check of the library it was.

    Names that say nothing, and those of functions that end a program, are passed over.
    """
    for name in functions:
        if name in _CHECKS or name in _ALLOCATORS:
            return _CHECKS.get(name, "heap-corruption")
        if name.endswith("_chk"):
            return "stopped-overflow"
        if not is_noise(name, "libc.so"):
            break
    return "abort"


def severity(kind: str, evidence: str) -> str:
    """What a crash does, from its kind and the lines between its header and its stack."""
    if kind.startswith(python_report.UNCAUGHT):
        return python_report.severity(kind)
    if kind.startswith(go_report.PANIC):
        return go_report.severity(kind)
    if kind == "stack-overflow":
        return "stack exhaustion"
    if kind in ("divide-by-zero", "undefined-behavior: division by zero"):
        return "divide"
    if kind == "abort":
        return "abort"
    if kind in _RESOURCE:
        return RESOURCE
    if ZERO_PAGE in evidence or "null pointer" in kind:
        return "null dereference"
    if WILD_JUMP in evidence:
        return "jump"
    if kind in _WRITES or _WRITE.search(evidence):
        return "write"
    if kind == "use-of-uninitialized-value" or _READ.search(evidence):
        return "read"
    return "access" if kind in ("SEGV", "BUS") else "other"
