"""A recording: every crash of every configuration, on the configuration's own clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Ints

MARK = -1
"""The bug of a point that is no crash: a progress mark."""


@dataclass(frozen=True, eq=False)
class ConfigurationLog:
    """What fuzzing one configuration for the whole budget showed.

    Points on the configuration's own clock, in order: after ``runs[j]`` runs, ``microseconds[j]``
    had passed, and the run that ended there showed bug ``bugs[j]`` (an index into the recording's
    list) or nothing worth a word (``MARK``). Both clocks start at 0, never fall, and the last point
    is the end. In between, runs and time are in proportion.
    """

    name: str
    runs: Ints
    microseconds: Ints
    bugs: Ints

    def __post_init__(self) -> None:
        if not len(self.runs) == len(self.microseconds) == len(self.bugs) > 0:
            raise BadInput(f"The log of {self.name} is empty, or its columns differ in length.")
        for clock in (self.runs, self.microseconds):
            if clock[0] < 0 or (np.diff(clock) < 0).any():
                raise BadInput(f"The log of {self.name} is out of order: its clock runs backwards.")

    @property
    def total_runs(self) -> int:
        """All runs of the recording."""
        return int(self.runs[-1])

    @property
    def seconds(self) -> float:
        """How long the configuration was fuzzed."""
        return float(self.microseconds[-1]) / 1e6

    @cached_property
    def first_shown(self) -> tuple[Ints, Ints]:
        """The distinct bugs in the order in which they were first shown, and when (microseconds).

        The b-th time is t(i, b) of FS §4.5: the least time in which the configuration shows b bugs.
        """
        crashes = np.flatnonzero(self.bugs != MARK)
        bugs, first = np.unique(self.bugs[crashes], return_index=True)
        order = np.argsort(first, kind="stable")
        return bugs[order], self.microseconds[crashes[first[order]]]


@dataclass(frozen=True, eq=False)
class Recording:
    """The logs of all configurations, and the names of the bugs that occur in them."""

    configurations: tuple[ConfigurationLog, ...]
    bugs: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.configurations:
            raise BadInput("The recording holds no configuration.")
        for log in self.configurations:
            if len(log.bugs) and not MARK <= log.bugs.min() <= log.bugs.max() < len(self.bugs):
                raise BadInput(f"The log of {log.name} names a bug that the recording lacks.")

    @property
    def shortest_seconds(self) -> float:
        """The longest budget for which every configuration was recorded whole."""
        return min(log.seconds for log in self.configurations)

    @cached_property
    def shares_bugs(self) -> bool:
        """Whether some bug occurs in more than one configuration."""
        shown = np.concatenate([log.first_shown[0] for log in self.configurations])
        return len(np.unique(shown)) < len(shown)
