"""The papers' estimators from counts per seed, averaged with the seed probabilities.

Neither has an interval: what they average, the chance of a species new to a *seed*, is not the
discovery probability of the *campaign*, and an interval around the wrong quantity covers nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.estimators.base import need, need_seeds, point
from fuzzwise.model import Estimate, Observation


@dataclass(frozen=True, slots=True)
class MeanLocalLaplace:
    """Δ̂ = Σ_t q_t/(n_t + 2), equation (29). Ignores all findings; falls as seeds are exercised."""

    name: str = "mean-local-laplace"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:  # noqa: ARG002
        """Estimate from q and n of every seed."""
        seeds = need_seeds(observation)
        return point(self.name, float(np.sum(seeds.q / (seeds.n + 2))), observation.n)


@dataclass(frozen=True, slots=True)
class MeanLocalGoodTuring:
    """Δ̂ = Σ_t q_t·(1 if n_t = 0; 1/(n_t+2) if f1_t = 0; f1_t/n_t otherwise), equation (32).

    A species new to a seed is rarely new to the campaign, so this reads high; often above 1.
    """

    name: str = "mean-local-good-turing"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:  # noqa: ARG002
        """Estimate from q, n and f1 of every seed."""
        seeds = need_seeds(observation)
        f1 = need(seeds.f1, "the singletons of each seed (field seeds.f1)")
        local = np.where(f1 > 0, f1 / np.maximum(seeds.n, 1), 1 / (seeds.n + 2))
        local[seeds.n == 0] = 1.0
        return point(self.name, float(seeds.q @ local), observation.n)
