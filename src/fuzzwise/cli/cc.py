"""``fuzzwise cc``: clang for C, instrumented; a drop-in for CC."""

from __future__ import annotations

from functools import partial

from fuzzwise.cli.compilers import wrapper
from fuzzwise.engines.libfuzzer.build import compile_words

command = wrapper(
    "CLANG-OPTIONS…",
    "Compile C for fuzzing: CC='fuzzwise cc' ./configure, make, cmake …\n\nWhere the build asks for "
    "-fsanitize=fuzzer, the observed engine is linked in its place.",
    partial(compile_words, cxx=False),
)
