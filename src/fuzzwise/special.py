"""The special functions of scipy that intervals are made of, loaded when the first is needed.

Loading them takes a fifth of a second, which is most of what a short command would take.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def betaincinv(a: Any, b: Any, p: Any) -> Any:
    """The quantile p of the beta distribution with the parameters a and b."""
    return _functions().betaincinv(a, b, p)


def gammainc(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P(a, x)."""
    return _functions().gammainc(a, x)


def gammaincinv(a: Any, p: Any) -> Any:
    """The quantile p of the gamma distribution with the shape a: the x with P(a, x) = p."""
    return _functions().gammaincinv(a, p)


def ndtri(p: Any) -> Any:
    """The quantile p of the standard normal distribution."""
    return _functions().ndtri(p)


@cache
def _functions() -> Any:
    from scipy import special

    return special
