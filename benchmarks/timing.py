"""How benchmarks measure and report: repeated, with the spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(job: Callable[[], object]) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def report(claim: str, values: list[float], unit: str, limit: str) -> None:
    """Print the median and the range of repeated measurements."""
    middle = statistics.median(values)
    print(
        f"{claim}\n    {middle:,.4g} {unit} (range {min(values):,.3g} to {max(values):,.3g}; {limit})"
    )
