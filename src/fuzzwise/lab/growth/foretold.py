"""What recordings of growth foretell of a campaign, by what it gave to each target.

A target's growth depends on its own time only, so its recordings at that time say what a live
campaign finds; how far they differ from each other says how far it may be off. Where the machine
was not as fast as it was for the recordings, the inputs that were made say it better than the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.lab.growth.recording import FOUND, RUNS, GrowthRecording, Repeat
from fuzzwise.model import Floats

DEVIATIONS = 1.96
"""Standard deviations to both sides that hold 95 % of what is normal."""


@dataclass(frozen=True)
class Foretold:
    """What is expected of all targets together; ``low`` and ``high`` hold a live campaign in 95 %.

    ``by_target``: the mean of its repeats.
    """

    value: float
    low: float
    high: float
    by_target: dict[str, float]


def foretell(
    recording: GrowthRecording, given: Mapping[str, float], *, in_inputs: bool = False
) -> Foretold:
    """Discoveries of targets that were given so many seconds, or so many inputs.

    The spread of repeats is taken to be the same share of the mean for all targets, since each has
    but a few; a live campaign is one more repeat of each.
    """
    by_name = dict(zip(recording.targets, recording.repeats, strict=True))
    means, shares = {}, []
    for name, amount in given.items():
        if name not in by_name:
            raise BadInput(f"There is no recording of {name!r}. Record it, or leave it out.")
        found = np.array([_at(one, recording.step, amount, in_inputs) for one in by_name[name]])
        means[name] = float(found.mean())
        if len(found) > 1 and found.mean() > 0:
            shares.append((found.var(ddof=1) / found.mean() ** 2, len(found)))
    share = float(np.mean([one for one, _ in shares])) if shares else 0.0
    repeats = float(np.mean([count for _, count in shares])) if shares else 1.0
    total = sum(means.values())
    wide = DEVIATIONS * np.sqrt(share * (1 + 1 / repeats) * sum(m * m for m in means.values()))
    return Foretold(total, max(0.0, total - float(wide)), total + float(wide), means)


def _at(one: Repeat, step: float, amount: float, in_inputs: bool) -> float:
    """The discoveries of a target by then; where its recording is over, all that it has."""
    found: Floats = one.table[FOUND]
    places: Floats = one.table[RUNS] if in_inputs else np.arange(len(found), dtype=float) * step
    return float(np.interp(amount, places, found))
