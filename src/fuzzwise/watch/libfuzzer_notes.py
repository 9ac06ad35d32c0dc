"""What a log of libFuzzer does not tell, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzwise.engines.length_limit import STILL_RISES
from fuzzwise.watch.libfuzzer_log import LogReader


def notes(log: LogReader) -> Iterator[str]:
    """What a log does not tell, the weightiest first."""
    if log.out_of_order:
        yield (
            f"{log.out_of_order:,} status lines count backwards and were left out: do several "
            "fuzzers write this log? Give each a log of its own."
        )
    if log.lost:
        yield (
            "After a restart most of the coverage was gone, so that it was found again: give "
            "libFuzzer a corpus folder, which keeps it."
        )
    if log.has_jobs:
        yield (
            "This is the log of a -jobs run, one job after the other. Give the folder with its "
            "fuzz-0.log, fuzz-1.log … instead, to see them side by side."
        )
    if log.is_headless:
        yield "The start of the log is missing: counted from its first status line on."
    if log.is_forked:
        yield (
            "Fork mode prints a line when a job ends: its discoveries are taken from the growth of "
            "the corpus (up to a fifth too few in a job that finds a lot) and spread evenly over "
            "the job. The latest job is left out until the next line. Inputs that a job executes "
            "to load the corpus are counted too."
        )
    elif not log.is_exact:
        yield "Some discoveries have no line of their own; they are spread between two lines."
    if log.limit_rises:
        yield f"{STILL_RISES}."
    if log.restarts:
        yield f"{log.restarts:,} restarts, counted on from where the process before it ended."
