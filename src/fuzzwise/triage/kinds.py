"""The kind and the severity of a crash, in the words that sanitizers use for them."""

from __future__ import annotations

import re

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
_RESOURCE = frozenset({"allocation-size-too-big", "killed", "leak", "out-of-memory", "timeout"})
# These have no access of their own; freeing what is not allocated corrupts the heap.
_WRITES = frozenset({"bad-free", "double-free", "overwritten input"})
_WRITE = re.compile(r"\bWRITE of size|by a WRITE memory|\bWrite of size|error: store to")
_READ = re.compile(r"\bREAD of size|by a READ memory|\bRead of size|error: load of")
ZERO_PAGE = "Hint: address points to the zero page."
STACK_EXHAUSTED = "Hint: the stack is exhausted."


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


def severity(kind: str, evidence: str) -> str:
    """What a crash does, from its kind and the lines between its header and its stack."""
    if kind == "stack-overflow":
        return "stack exhaustion"
    if kind in ("divide-by-zero", "undefined-behavior: division by zero"):
        return "divide"
    if kind == "abort":
        return "abort"
    if kind in _RESOURCE:
        return "resource"
    if ZERO_PAGE in evidence or "null pointer" in kind:
        return "null dereference"
    if kind in _WRITES or _WRITE.search(evidence):
        return "write"
    if kind == "use-of-uninitialized-value" or _READ.search(evidence):
        return "read"
    return "other"
