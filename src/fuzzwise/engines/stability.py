"""What is said of a target that shows one input otherwise when it runs again.

Stability is the share of the edges shown that were the same in both runs. What differs counts for
nothing: it makes no discovery, and what is only to be seen there is not seen.
"""

from __future__ import annotations

import math

STEADY = 0.9
"""The least stability that needs no word."""

JUDGED = 0.5
"""The least stability at which a low risk means anything."""

_REMEDY = (
    "seed its random numbers, reset its global state and caches before each input, and have its "
    "threads end before it returns"
)
_UNJUDGED = (
    "most of its coverage differs between two runs of the same input, so that NO RISK CAN BE "
    f"JUDGED: {_REMEDY}"
)


def warnings(stability: float | None) -> tuple[str, ...]:
    """A warning where much differs; in steps, so that it is not another one at every look."""
    if stability is None or stability >= STEADY:
        return ()
    if stability < JUDGED:
        return (_UNJUDGED,)
    tenths = math.floor((1 - stability) * 10 + 1e-9)
    return (
        f"at least {tenths * 10}% of its coverage differs between two runs of the same input and "
        f"is not counted: {_REMEDY}",
    )


def unsettled(stability: float | None) -> str:
    """Why no low risk is to be accepted, however long it is fuzzed; "" where one may be."""
    return _UNJUDGED if stability is not None and stability < JUDGED else ""
