"""What is said of a target on which no input makes a difference.

Its risk looks low, and means nothing: it may not read its input, or what it calls is not
instrumented.
"""

from __future__ import annotations

SUSPICIOUS = 10_000
"""Inputs without any discovery after which something is wrong."""

_UNJUDGED = "no input shows more than the empty one does, so that NO RISK CAN BE JUDGED"


def warnings(inputs: int, discoveries: int) -> tuple[str, ...]:
    """A warning where inputs show nothing new; the initial corpus may have shown everything."""
    if inputs < SUSPICIOUS or discoveries:
        return ()
    return (
        f"{inputs:,} inputs, and none showed anything new: does the target read "
        "its input, and is the code under test instrumented?",
    )


def unsettled(seen: int, discoveries: int) -> str:
    """Why no low risk is to be accepted, however long it is fuzzed; "" where one may be.

    ``seen``: inputs that were kept for what they show, or species, where inputs are kept whatever
    they show. There is one of any target: the empty input, or what all inputs show.
    """
    return "" if discoveries or seen > 1 else _UNJUDGED
