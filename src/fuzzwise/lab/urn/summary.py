"""Many urn campaigns as one picture: RR figures 1 to 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.lab.urn.urn import Mode, Urn, UrnCampaign, data_points, simulate
from fuzzwise.model import Floats, Ints
from fuzzwise.power_law import PowerLaw, fit


@dataclass(frozen=True, eq=False)
class ModeSummary:
    """Means over the campaigns of one mode, at each data point.

    ``delta_low`` and ``delta_high`` are the 10 % and 90 % quantiles of Δ over the campaigns.
    ``bug_found_at`` has the input that showed the bug, for each campaign that found it.
    """

    mode: Mode
    points: Ints
    delta: Floats
    delta_low: Floats
    delta_high: Floats
    species: Floats
    bug_probability: Floats
    bug_found_at: tuple[int, ...]
    campaigns: int

    @property
    def law(self) -> PowerLaw | None:
        """The power law through the mean discovery probabilities."""
        return fit(self.points.astype(np.float64), self.delta)

    @property
    def median_bug(self) -> float | None:
        """Inputs after which half of *all* campaigns had found the bug; None if fewer did."""
        found = sorted(self.bug_found_at)
        half = (self.campaigns + 1) // 2
        return float(found[half - 1]) if len(found) >= half else None


@dataclass(frozen=True, eq=False)
class UrnSummary:
    """The same urn fuzzed with feedback (greybox) and without (blackbox)."""

    urn: Urn
    greybox: ModeSummary
    blackbox: ModeSummary

    @property
    def bias(self) -> Floats:
        """Adaptive bias: Δ_greybox - Δ_blackbox at each data point."""
        difference: Floats = self.greybox.delta - self.blackbox.delta
        return difference

    @property
    def log_bias(self) -> Floats:
        """log10 of the ratio of the two; NaN where one of them is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log10(self.greybox.delta / self.blackbox.delta)
        masked: Floats = np.where(np.isfinite(ratio), ratio, np.nan)
        return masked


def run_both(urn: Urn, inputs: int, campaigns: int, seed: int) -> UrnSummary:
    """Simulate the urn in both modes, truth only."""
    points = data_points(inputs)
    modes: tuple[Mode, Mode] = ("greybox", "blackbox")
    grey, black = (
        _summarise(simulate(urn, mode, points, campaigns, seed, full=False)) for mode in modes
    )
    return UrnSummary(urn, grey, black)


def _summarise(runs: list[UrnCampaign]) -> ModeSummary:
    delta = np.array([run.trace.delta for run in runs])
    found = (run.bug_found_at for run in runs)
    return ModeSummary(
        mode=runs[0].mode,
        points=runs[0].points,
        delta=delta.mean(axis=0),
        delta_low=np.quantile(delta, 0.1, axis=0),
        delta_high=np.quantile(delta, 0.9, axis=0),
        species=np.mean([run.trace.species for run in runs], axis=0),
        bug_probability=np.mean([run.trace.target for run in runs], axis=0),
        bug_found_at=tuple(n for n in found if n is not None),
        campaigns=len(runs),
    )
