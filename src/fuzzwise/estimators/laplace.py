"""Laplace's rule of succession."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.estimators.base import point
from fuzzwise.model import Estimate, Observation


@dataclass(frozen=True, slots=True)
class Laplace:
    """Δ̂ = 1/(n+2), equation (19): the estimate of someone who saw nothing happen in n trials.

    It looks at no data but n, so it has no interval. Trust it as a floor: a campaign that goes on
    discovering is far above it. After 0 inputs it is 1/2.
    """

    name: str = "laplace"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:  # noqa: ARG002
        """Estimate from n alone."""
        return point(self.name, 1 / (observation.n + 2), observation.n)
