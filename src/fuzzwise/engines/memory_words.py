"""How a process of libFuzzer is told what it may take of memory."""

from __future__ import annotations

import re
from pathlib import Path

_PEAK = re.compile(rb"^VmHWM:\s*(\d+) kB", re.MULTILINE)


def memory_words(memory_mib: int) -> list[str]:
    """The options that limit the memory to so many MiB, or to our own peak where that is more.

    libFuzzer looks at the peak of its process. Linux lets that begin with the peak of whoever
    started the process, which is us: a lower limit would end every process at once, for a bug that
    is none. What one allocation may take is limited all the same.
    """
    least = own_peak() + 1
    if memory_mib >= least:
        return [f"-rss_limit_mb={memory_mib}"]
    return [f"-rss_limit_mb={least}", f"-malloc_limit_mb={memory_mib}"]


def own_peak() -> int:
    """The most memory that this process has had, in MiB, rounded up."""
    found = _PEAK.search(Path("/proc/self/status").read_bytes())
    return -(-int(found[1]) // 1024) if found else 0
