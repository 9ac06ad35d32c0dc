"""Whether work on this machine waits for a core, as where there is more of it than cores."""

from __future__ import annotations

import re
import time
from pathlib import Path

BUSY = 0.2
"""Share of the time from which on a machine is said to be busy. Where as many programs run as there
are cores and nothing else, it is a few percent."""

SOON = 1.0
"""Seconds within which nothing can be said."""

_PRESSURE = Path("/proc/pressure/cpu")
_TOTAL = re.compile(r"^some .*\btotal=(\d+)$", re.MULTILINE)


class Pressure:
    """For how much of the time since it was made anything has waited for a core."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = _waited()

    def share(self) -> float | None:
        """From 0 to 1; None within the first second, and where the kernel does not tell."""
        now, seconds = _waited(), time.monotonic() - self._began
        if now is None or self._before is None or seconds < SOON:
            return None
        return min(1.0, max(0.0, (now - self._before) / seconds))


def _waited() -> float | None:
    """Seconds since the machine was started in which something waited for a core."""
    try:
        found = _TOTAL.search(_PRESSURE.read_text())
    except OSError:
        return None
    return int(found[1]) / 1e6 if found else None
