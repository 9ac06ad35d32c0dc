"""How much more discoveries scatter than independent ones: one opens the way to others."""

from __future__ import annotations

import numpy as np

from fuzzwise.model import Ints

GROUP = 8
"""Discoveries whose time is compared with that of as many before: bursts are as long as a few."""

LATEST = 40
"""Pairs of groups that are looked at: how discoveries come changes with depth."""

USUAL, WEIGHT = 1.5, 4.0
"""What to expect before anything is seen, and how many pairs that counts as."""


def scatter(discoveries: Ints) -> float:
    """The variance of a count of discoveries over its mean: 1 where they are independent.

    Two neighbouring groups of m independent discoveries last about as long as each other: the
    share p of the first in the time of both, in logarithms of inputs, has the variance
    1/(4(2m+1)). Bursts make it larger, by about as much as they do that of a count. The estimate
    is the mean of 4(2m+1)(p - 1/2)² over the latest pairs and what is usual, and at least 1, so
    that whatever holds for independent discoveries holds with it.
    """
    ends = discoveries[GROUP - 1 :: GROUP][-LATEST - 2 :]
    if len(ends) < 3:
        return USUAL
    lasted = np.diff(np.log(ends))
    share = lasted[:-1] / (lasted[:-1] + lasted[1:])
    seen = 4 * (2 * GROUP + 1) * (share - 0.5) ** 2
    return max(1.0, float((WEIGHT * USUAL + seen.sum()) / (WEIGHT + len(seen))))
