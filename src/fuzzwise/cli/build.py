"""``fuzzwise build``: an observed target from its sources, in one go."""

from __future__ import annotations

from fuzzwise.cli.compilers import wrapper
from fuzzwise.engines.libfuzzer.build import build_words

command = wrapper(
    "SOURCES… -o TARGET",
    "Build a target from SOURCES: compiled, instrumented and linked with the engine.\n\n"
    "SOURCES have a function LLVMFuzzerTestOneInput(data, size), and no main: that is the "
    "engine's.\n\n"
    "Everything goes to clang unchanged: flags, defines, libraries, -fsanitize=address. The "
    "compiler is clang, or what FUZZWISE_CLANG names.",
    build_words,
    explain=True,
)
