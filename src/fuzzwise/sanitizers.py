"""What all who start programs with sanitizers in them have to know."""

from __future__ import annotations

import mmap
import re
from functools import lru_cache
from pathlib import Path

MAY_WRAP = "silence_unsigned_overflow=1"
"""UBSan's option to pass over unsigned arithmetic that wraps, which C defines.

OSS-Fuzz builds with the check for the sake of its coverage, and runs with this option. A program
that was built to end there (-fno-sanitize-recover=unsigned-integer-overflow) ends all the same."""

_RUNTIME = re.compile(rb"__(?:hw)?asan_init|__msan_init|__tsan_init|libasan\.so|libtsan\.so")


def is_sanitized(program: Path) -> bool:
    """Whether a limit on address space would keep the program from starting.

    False for what cannot be read: whoever runs it finds out why.
    """
    try:
        status = program.stat()
    except OSError:
        return False
    return _contains_runtime(program, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _contains_runtime(program: Path, size: int, changed: int) -> bool:  # noqa: ARG001
    try:
        with (
            program.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return _RUNTIME.search(content) is not None
    except (OSError, ValueError):  # an empty file has no mapping
        return False
