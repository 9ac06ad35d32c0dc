"""Sentences about what is not as it should be with a target in a campaign."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.engines.blackbox.model import Limits
from fuzzwise.engines.blackbox.tally import MOST_UNTRACED, Tally
from fuzzwise.text import many


def warnings(tally: Tally, limits: Limits, hangs: Path, problem: str) -> tuple[str, ...]:
    """What to know about the counts; ``problem`` is what kept crashes from being examined."""
    said = [
        tally.began,
        _hangs(tally.hangs, limits, hangs),
        _out_of_memory(tally.out_of_memory, limits, hangs),
        _not_examined(tally.not_examined),
        _silent(tally),
        f"Crashes cannot be examined: {problem}" if problem else "",
    ]
    return tuple(sentence for sentence in said if sentence)


def _hangs(count: int, limits: Limits, folder: Path) -> str:
    if not count:
        return ""
    return (
        f"{_runs(count)} longer than {limits.seconds:g} s and were ended; inputs of some are in "
        f"{folder}. Raise the time limit of a run if they are no hangs."
    )


def _out_of_memory(count: int, limits: Limits, folder: Path) -> str:
    if not count:
        return ""
    return (
        f"{_runs(count)} ended for taking more than {limits.memory_mib} MiB of memory; inputs of "
        f"some are in {folder}. Raise the memory limit of a run if that is to be expected."
    )


def _not_examined(count: int) -> str:
    if not count:
        return ""
    were = f"{many(count, 'crash')} {'was' if count == 1 else 'were'}"
    return (
        f"{were} not examined: while this program is fuzzed their stacks are not "
        f"known, and only {MOST_UNTRACED} a turn can be looked at. Bugs were shown more often "
        "than they are counted, so that the risk is rather overrated."
    )


def _silent(tally: Tally) -> str:
    count = tally.silent + sum(
        trace.count
        for trace in tally.traces.values()
        if trace.bug is None and trace.tries and not trace.waiting
    )
    if not count:
        return ""
    return f"{many(count, 'crash')} did not show again when examined; that counts as no bug."


def _runs(count: int) -> str:
    return "1 run was" if count == 1 else f"{count} runs were"
