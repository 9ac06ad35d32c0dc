"""Which programs are built with a sanitizer that reserves address space by the terabyte."""

from __future__ import annotations

import mmap
import re
from functools import lru_cache
from pathlib import Path

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
