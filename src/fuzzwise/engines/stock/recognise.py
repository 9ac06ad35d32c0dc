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
    return _has_libfuzzer(program) or _is_wrapper(program)


def parts_of(program: Path) -> tuple[Path, ...]:
    """A program, and where it is a script, the harnesses beside it that it names.

    What a script starts from elsewhere is not found; with another one in its place it is taken for
    the same target.
    """
    text = _script(program)
    beside = sorted(program.parent.iterdir()) if text else []
    named = (path for path in beside if path.name.encode(errors="surrogateescape") in text)
    others = (path for path in named if path != program and _has_libfuzzer(path))
    return (program, *others)


def _is_wrapper(program: Path) -> bool:
    text = _script(program)
    return HARNESS in text and OBSERVER not in text


def _has_libfuzzer(program: Path) -> bool:
    return any(contains(program, mark) for mark in LIBFUZZER)


def _script(program: Path) -> bytes:
    """The text of a script; nothing where it is none, or cannot be read."""
    try:
        if program.stat().st_size > LONGEST_SCRIPT:
            return b""
        text = read_limited(program, LONGEST_SCRIPT)
    except (OSError, ValueError, BadInput):  # ValueError: a name with NUL
        return b""
    return text if text.startswith(b"#!") else b""
