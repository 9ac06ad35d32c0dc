"""Which programs take libFuzzer's command line, told from their bytes and without running them."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.engines.contents import OBSERVER, contains
from fuzzwise.received import read_limited

HARNESS = b"LLVMFuzzerTestOneInput"
"""What a harness is called in C, C++, Rust and Go; in a wrapper, OSS-Fuzz has it in a comment."""

OPTION = b"print_final_stats"
"""An option that every libFuzzer knows: it is there also where the names of functions are not."""

LONGEST_SCRIPT = 1 << 20


def is_stock(program: Path) -> bool:
    """Whether a program is one for libFuzzer, and has no observer in it; or a script for one."""
    if contains(program, OBSERVER):
        return False
    return contains(program, HARNESS) or contains(program, OPTION) or _is_wrapper(program)


def _is_wrapper(program: Path) -> bool:
    try:
        if program.stat().st_size > LONGEST_SCRIPT:
            return False
        text = read_limited(program, LONGEST_SCRIPT)
    except (OSError, ValueError):  # ValueError: a name with NUL
        return False
    return text.startswith(b"#!") and HARNESS in text and OBSERVER not in text
