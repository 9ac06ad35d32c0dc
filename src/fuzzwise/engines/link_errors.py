"""What a linker's words about a harness mean, and what to do about it."""

from __future__ import annotations

import re

_NO_HARNESS = re.compile(r"undefined (?:reference to|symbol:) [`']?LLVMFuzzerTestOneInput\b")
_OWN_MAIN = re.compile(
    r"(?:multiple definition of [`']?|duplicate symbol: )main\b"
    # libFuzzer's eyes on memcmp find no libFuzzer, since our main, which calls it, is not needed.
    r"|undefined (?:reference to|symbol:) [`']?__sanitizer_weak_hook_"
)
_NO_CXX = re.compile(
    r"undefined (?:reference to|symbol:) [`']?(?:std::|operator (?:new|delete)|_ZNSt)"
)

_HARNESS = "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)"


OWN_MAIN = (
    "The sources have a main of their own, in the place of which the fuzzer has one. Leave it out, "
    f"or rename it with -Dmain=own_main, and add a harness: {_HARNESS}. Or fuzz the program as it "
    "is, built without fuzzwise: fuzzwise fuzz PROGRAM SEED --engine black-box."
)


def remedy(said: str) -> str:
    """Sentences about the likeliest mistake, for whoever wrote the harness; "" if unknown."""
    if _NO_HARNESS.search(said):
        return (
            f"The sources have no harness: a function {_HARNESS}, which runs the code on one "
            'input. In C++ it needs extern "C" before it.'
        )
    if _OWN_MAIN.search(said):
        return OWN_MAIN
    if _NO_CXX.search(said):
        return "The C++ library is missing: link with clang++, or add -lstdc++."
    return ""
