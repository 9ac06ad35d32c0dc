"""Good-Turing on counts that restart when seeds are added."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.base import nothing_yet, point
from fuzzwise.model import Estimate, Observation


@dataclass(frozen=True, slots=True)
class ResetGoodTuring:
    """Δ̂ = f1,a/n, equation (26): singletons counted since the counts last restarted.

    Counts restart after every ``a`` added seeds, so that each window sees nearly one
    distribution. The window's singletons are divided by the inputs of the whole campaign, as the
    paper defines it, so the value has no sampling distribution to take an interval from.
    """

    a: int

    @property
    def name(self) -> str:
        """``reset-`` and the number of seeds."""
        return f"reset-{self.a}"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from the singletons of the current window."""
        singletons = observation.resets.get(self.a)
        if singletons is None:
            added = "added seed" if self.a == 1 else f"{self.a} added seeds"
            raise NotEstimable(
                f"needs singletons since the last {added} (field resets.{self.a}), "
                "which this observation does not have"
            )
        if observation.n == 0:
            return nothing_yet(self.name, confidence)
        return point(self.name, singletons / observation.n, observation.n)
