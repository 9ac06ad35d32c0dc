"""What an estimate gains for seeds that a fuzzer prefers and has not mutated yet."""

from __future__ import annotations

from dataclasses import replace

from fuzzwise.estimators import intervals
from fuzzwise.estimators.base import need_discoveries
from fuzzwise.model import Estimate, Observation

RAISED = 4.0
"""Times what an input showed in the mean since the start: what those of waiting seeds will show."""

RAISED_AT_MOST = 20.0
"""The same for the upper ends of both."""

USUAL_CONFIDENCE = 0.95
"""That of an upper end whose estimate says none."""

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


def raised(estimate: Estimate, observation: Observation) -> Estimate:
    """The estimate as it is where a share of the preferred seeds waits for its first turn.

    Δ̂ = (1-w)·r + w·max(r, 4·(D+1/2)/n), where r is estimated from what the tried seeds showed of
    late, w is the share that waits, and D of all n inputs showed something new. The upper end is
    (1-w)·h + w·max(h, 20·g/n), with h that of r and g the upper end of the mean of a Poisson
    variable that was D; the lower end stays. Nothing changes where nothing waits, or where it is
    not known what does (None): a fuzzer that chooses a seed anew for each input has no seeds that
    wait.

    A fuzzer that stays with a seed for thousands of inputs uses it up, so that what it found of
    late says little of a seed that was never mutated. What it found since its start says more:
    each seed was new once. Such a seed shows more still, and in a frozen queue it shows the same
    new thing again and again. How much more was measured for AFL++ (docs/afl-study.md), on some
    libraries, and checked on the others. It is a mean over seeds that differ by a hundred times: a
    single campaign can be five times too high or too low, and the upper end is for that.
    """
    waiting, n = observation.waiting, observation.n
    if not waiting or n == 0:
        return estimate
    found = len(need_discoveries(observation))
    ever = RAISED * (found + 0.5) / n
    value = min(1.0, (1 - waiting) * estimate.value + waiting * max(estimate.value, ever))
    high = estimate.high
    if high is not None:
        confidence = estimate.confidence or USUAL_CONFIDENCE
        at_most = RAISED_AT_MOST * intervals.poisson(found, confidence)[1] / n
        high = min(1.0, max(value, (1 - waiting) * high + waiting * max(high, at_most)))
    times = value / estimate.value
    note = f"raised {times:.1f} times: {waiting:.0%} of the preferred seeds wait"
    note = "; ".join(filter(None, (estimate.note, note)))
    return replace(estimate, value=value, high=high, note=note)
