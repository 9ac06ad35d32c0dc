"""Checks that the policies make of their own parameters."""

from __future__ import annotations

import math

from fuzzwise.errors import BadInput


def check_share(policy: str, parameter: str, value: float) -> None:
    """Refuse what is not a probability."""
    if not 0.0 <= value <= 1.0:
        raise BadInput(f"{policy}: {parameter} is {value}; give a number between 0 and 1.")


def check_positive(policy: str, parameter: str, value: float) -> None:
    """Refuse what is not a finite number above 0."""
    if not (math.isfinite(value) and value > 0.0):
        raise BadInput(f"{policy}: {parameter} is {value}; give a finite number above 0.")


def check_not_negative(policy: str, parameter: str, value: float) -> None:
    """Refuse what is not a finite number, 0 or more."""
    if not (math.isfinite(value) and value >= 0.0):
        raise BadInput(f"{policy}: {parameter} is {value}; give a finite number, 0 or more.")


def check_discount(policy: str, parameter: str, value: float) -> None:
    """Refuse a discount that would forget everything at once, or grow."""
    if not 0.0 < value <= 1.0:
        raise BadInput(
            f"{policy}: {parameter} is {value}; give a discount above 0 and at most 1 "
            "(1 forgets nothing)."
        )
