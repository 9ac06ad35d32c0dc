"""What an estimate gains for seeds that a fuzzer prefers and has not mutated yet."""

from __future__ import annotations

from dataclasses import replace

from fuzzwise.model import Estimate

RAISED = 10.0
"""Times what the tried seeds show, the mean where all preferred seeds wait."""

RAISED_AT_MOST = 50.0
"""The same for the upper end."""


FEW = 0.05
"""Share of the preferred seeds that may be untried: new ones come all the time."""

ENOUGH = 10
"""Seeds that have to be tried before they tell anything of the others."""


def are_many(waiting: float | None) -> bool:
    """Whether the estimate rests on what others showed, to a degree worth a warning."""
    return waiting is not None and waiting > FEW


def why_unknown(waiting: float | None, tried: int | None) -> str:
    """Why no risk is to be accepted yet: too few seeds were tried; "" where enough were."""
    if waiting is None or not are_many(waiting) or (tried is not None and tried >= ENOUGH):
        return ""
    said = "it does not say how many it has mutated" if tried is None else f"it has tried {tried:,}"
    return (
        f"The risk seems as low as accepted, but {waiting:.0%} of the seeds that the fuzzer "
        f"prefers had not been mutated when it last said so, and {said}: with fewer than {ENOUGH}, "
        "nothing is known of the others, and fuzzing has to go on (docs/afl-study.md)."
    )


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
