"""The discovery probability at n from its measured values at earlier points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.base import point
from fuzzwise.model import Estimate, Observation
from fuzzwise.power_law import fit


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Least squares of ln Δ(m) = a + b·ln m on measured points m ≤ n/``ahead``, read at n.

    RR sections 2.2 and 5.3: Δ falls nearly as a power law, so a few measurements early in a
    campaign predict it later. Points where nothing was discovered have no logarithm and are left
    out; the note says how many, and R². No interval: the deviations from a power law are not
    random errors, and a prediction interval that takes them for such does not cover.
    """

    ahead: int = 1

    @property
    def name(self) -> str:
        """``extrapolation``, with how far ahead if not just to the next point."""
        return "extrapolation" if self.ahead == 1 else f"extrapolation-{self.ahead}"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:  # noqa: ARG002
        """Estimate from the measured points that are early enough."""
        n = observation.n
        early = [p for p in observation.measured if 0 < p[0] < n and p[0] * self.ahead <= n]
        usable = [p for p in early if p[1] > 0]
        law = fit(*np.array(usable, dtype=np.float64).T) if len(usable) > 1 else None
        if law is None:
            limit = "earlier" if self.ahead == 1 else f"at most n/{self.ahead}"
            raise NotEstimable(
                f"needs two measured discovery probabilities above 0 at points {limit}; "
                f"this observation has {len(usable)}"
            )
        empty = len(early) - len(usable)
        note = f"R² {law.r2:.3f} on {law.points} points"
        if empty:
            note += f", {empty} without a discovery left out"
        return point(self.name, law.at(n), n, note)
