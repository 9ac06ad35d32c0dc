"""What an estimate gains for seeds that a fuzzer prefers and has not mutated yet."""

from __future__ import annotations

from dataclasses import replace

from fuzzwise.model import Estimate

RAISED = 10.0
"""Times what the tried seeds show, the mean where all preferred seeds wait."""

RAISED_AT_MOST = 50.0
"""The same for the upper end."""


def raised(estimate: Estimate, waiting: float | None) -> Estimate:
    """The estimate as it is where a share of the preferred seeds waits for its first turn.

    Δ̂ = (1-w)·r + w·10·r, where r is estimated from what the tried seeds showed of late and w is
    the share that waits; the upper end is raised to (1-w)·h + w·50·h, the lower end stays. Nothing
    changes where nothing waits, or where it is not known what does (None): a fuzzer that chooses
    a seed anew for each input has no seeds that wait.

    A fuzzer that stays with a seed for thousands of inputs uses it up. A seed that was never
    mutated shows more, and in a frozen queue it shows the same new thing again and again. How much
    more was measured for AFL++, on the libraries of docs/afl-study.md, where the factors come from
    one half of the libraries and were checked on the other. They are means over seeds that differ
    by a hundred times: a single campaign can be five times too high or too low, and the upper end
    is for that. Other forms that were tried were not clearly better.
    """
    if not waiting:
        return estimate
    times, at_most = (1 + waiting * (factor - 1) for factor in (RAISED, RAISED_AT_MOST))
    note = f"raised {times:.1f} times: {waiting:.0%} of the preferred seeds wait"
    return replace(
        estimate,
        value=min(1.0, times * estimate.value),
        high=None if estimate.high is None else min(1.0, at_most * estimate.high),
        note="; ".join(filter(None, (estimate.note, note))),
    )
