"""Calls that must end in time and within memory, whatever they are given."""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SECONDS = 2.0
MEBIBYTES = 512


class TooLong(BaseException):
    """It did not end in time; nobody who catches all errors may catch this one."""


@contextmanager
def bounded(seconds: float = SECONDS, mebibytes: int = MEBIBYTES) -> Iterator[None]:
    """Raise TooLong after so many seconds of CPU time, MemoryError above so much more memory.

    CPU time: a busy machine makes nothing wrong. What waits uses none of it, and has a hundred
    times as long by the clock on the wall.
    """

    def too_long(number: int, frame: FrameType | None) -> None:
        limit = f"{seconds:g} s of CPU time" if number == signal.SIGPROF else f"{100 * seconds:g} s"
        raise TooLong(f"more than {limit}, in {_place(frame)}")

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    before = {number: signal.signal(number, too_long) for number in _SIGNALS}
    resource.setrlimit(resource.RLIMIT_DATA, (_used() + (mebibytes << 20), hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 100 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGPROF, signal.SIGALRM)


def _used() -> int:
    """Memory that can be written to; address space that is only reserved costs nothing."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))


def _place(frame: FrameType | None) -> str:
    while frame is not None and "fuzzwise" not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None:
        return sys.executable
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
