"""Which programs take libFuzzer's command line, told from their bytes and without running them."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.engines.contents import HARNESS, LIBFUZZER, OBSERVER, contains
from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited

LONGEST_SCRIPT = 1 << 20


def is_stock(program: Path) -> bool:
    """Whether a program is one for libFuzzer, and has no observer in it; or a script for one."""
    if contains(program, OBSERVER):
        return False
    return has_libfuzzer(program) or _is_wrapper(program)


def _is_wrapper(program: Path) -> bool:
    text = script_text(program)
    return HARNESS in text and OBSERVER not in text


def has_libfuzzer(program: Path) -> bool:
    """Whether a program, not a script, has libFuzzer in it."""
    return any(contains(program, mark) for mark in LIBFUZZER)


def script_text(program: Path) -> bytes:
    """The text of a script; nothing where it is none, or cannot be read."""
    try:
        if program.stat().st_size > LONGEST_SCRIPT:
            return b""
        text = read_limited(program, LONGEST_SCRIPT)
    except (OSError, ValueError, BadInput):  # ValueError: a name with NUL
        return b""
    return text if text.startswith(b"#!") else b""
