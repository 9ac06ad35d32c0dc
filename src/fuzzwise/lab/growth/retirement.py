"""What it saves and what it misses to retire targets at their accepted risk, by recordings.

A recording goes on where a campaign would have retired its target, so it tells what was still to
come: the time that went free, and the species and bugs of that time. Both are of the recorded time
only; what comes after it nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.lab.growth.recording import SPECIES, STOPS, GrowthRecording, Repeat


@dataclass(frozen=True)
class Retirement:
    """One recorded repeat that would have been retired.

    ``after`` and ``saved``: seconds before and after that; ``species`` and ``bugs``: all of the
    recording, of which ``missed_species`` and ``missed_bugs`` came later.
    """

    target: str
    after: float
    saved: float
    species: float
    missed_species: float
    bugs: int
    missed_bugs: int

    @property
    def saved_share(self) -> float:
        """The share of the recorded time that went free."""
        return self.saved / (self.after + self.saved)

    @property
    def missed_share(self) -> float:
        """The share of the species that came later."""
        return self.missed_species / self.species if self.species else 0.0


@dataclass(frozen=True)
class RetirementSummary:
    """All repeats together: how many were retired, and the means and the worst of these.

    Shares are None where none was retired.
    """

    repeats: int
    retired: int
    saved_share: float | None
    missed_share: float | None
    most_missed_share: float | None
    missed_bugs: int


def retirements(recording: GrowthRecording) -> list[Retirement]:
    """Those repeats that reach the accepted risk that the recording was read with."""
    found = (_retired(one, recording.step) for many in recording.repeats for one in many)
    return [one for one in found if one is not None]


def summarise(recording: GrowthRecording) -> RetirementSummary:
    """What retiring does to all repeats together."""
    repeats = sum(map(len, recording.repeats))
    all_of_them = retirements(recording)
    if not all_of_them:
        return RetirementSummary(repeats, 0, None, None, None, 0)
    missed = [one.missed_share for one in all_of_them]
    return RetirementSummary(
        repeats,
        len(all_of_them),
        float(np.mean([one.saved_share for one in all_of_them])),
        float(np.mean(missed)),
        max(missed),
        sum(one.missed_bugs for one in all_of_them),
    )


def _retired(one: Repeat, step: float) -> Retirement | None:
    stops = np.flatnonzero(one.table[STOPS])
    if not len(stops):
        return None
    at, last = int(stops[0]), one.table.shape[1] - 1
    species = float(one.table[SPECIES, last])
    return Retirement(
        one.target,
        at * step,
        (last - at) * step,
        species,
        species - float(one.table[SPECIES, at]),
        len(one.bugs),
        sum(when > at * step for when in one.bug_seconds),
    )
