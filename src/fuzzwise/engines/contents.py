"""What a program has in it, told without running it."""

from __future__ import annotations

import mmap
from functools import lru_cache
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import stamp
from fuzzwise.received import open_regular

OBSERVER = b"FUZZWISE_STATE"
"""The variable that every observed harness asks for."""

HARNESS = b"LLVMFuzzerTestOneInput"
"""What a harness is called in C, C++, Rust and Go; in a wrapper, OSS-Fuzz has it in a comment."""

LIBFUZZER = (HARNESS, b"print_final_stats")
"""What programs with libFuzzer have in them; the option also where no functions have names."""

ELF = b"\x7fELF"
"""How programs for the machine begin."""


def is_elf(program: Path) -> bool:
    """Whether it is a program for the machine, and not a script that starts one."""
    return contains(program, ELF)


def contains(program: Path, mark: bytes) -> bool:
    """Whether a program, not a script, has these bytes in it; False where it cannot be read."""
    try:
        return _holds(program, stamp(program), mark)
    except (OSError, ValueError, BadInput):  # a name with NUL, a pipe
        return False


@lru_cache(maxsize=1024)
def _holds(program: Path, changed: tuple[int, int, int], mark: bytes) -> bool:  # noqa: ARG001
    try:
        with (
            open_regular(program) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content[:4] == ELF and content.find(mark) >= 0
    except ValueError:  # an empty file has no mapping
        return False
