"""Everything fuzzwise reports to its user instead of raising a traceback."""

from __future__ import annotations


class FuzzwiseError(Exception):
    """Base of all errors meant for the user; the message says what, where and what to do."""


class BadInput(FuzzwiseError):
    """A file, an option or a value cannot be used as given."""


class NotEstimable(FuzzwiseError):
    """The observation lacks the data that an estimator needs; the message names it."""


class MissingExtra(FuzzwiseError):
    """An optional dependency is not installed; the message has the command that installs it."""


def need_extra(feature: str, module: str, extra: str) -> MissingExtra:
    """The error for a feature whose optional dependency cannot be imported."""
    return MissingExtra(
        f"{feature} needs the Python package {module!r}, which is not installed. "
        f"Install it with: pip install 'fuzzwise[{extra}]'"
    )
