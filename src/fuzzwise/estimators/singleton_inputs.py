"""Good-Turing counted in inputs instead of species: an input counts once, whatever it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.estimators.base import OBSERVED, need, need_seeds, nothing_yet, point
from fuzzwise.estimators.good_turing import score_interval
from fuzzwise.model import Estimate, Ints, Observation, SeedCounts


@dataclass(frozen=True, slots=True)
class SingletonInputs:
    """Δ̂ = k/n with k the inputs that show at least one singleton.

    The leave-one-out estimate of the chance that an input discovers something, so it stays at or
    below 1 where species come in bundles. Blackbox campaigns only: like Good-Turing it reads low
    as soon as seeds are added. The interval is Good-Turing's with k for f1. Its variance k + 2 f2
    counts pairs of inputs that share a doubleton; a pair that shares several is counted several
    times, so the interval errs on the wide side. Without f2 there is none.
    """

    name: str = "singleton-inputs"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from k and n."""
        k = need(observation.k, "the inputs that show a singleton (field k)", OBSERVED)
        if observation.n == 0:
            return nothing_yet(self.name, confidence)
        n = observation.n
        if observation.f is None:
            return point(self.name, k / n, n, "no interval without f2")
        low, high = score_interval(k, observation.f[1], confidence)
        return Estimate(k / n, low / n, high / n, confidence, self.name, n)


@dataclass(frozen=True, slots=True)
class WeightedSingletonInputs:
    """Δ̂ = Σ_t q_t·k_t/n_t with k_t the inputs of t that hold a global singleton.

    Importance weighting: what each seed showed so far, weighted as the schedule will weight it
    from now on. A seed that made no input yet takes the rate of all the others, Σk_t/Σn_t.
    """

    name: str = "weighted-singleton-inputs"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from q, n and k of every seed."""
        seeds, k = _seeds_with_k(observation)
        made = int(seeds.n.sum())
        if made == 0:
            return nothing_yet(self.name, confidence)
        pooled = float(k.sum()) / made
        rate = np.where(seeds.n > 0, k / np.maximum(seeds.n, 1), pooled)
        return point(self.name, float(seeds.q @ rate), observation.n)


@dataclass(frozen=True, slots=True)
class ShrunkenSingletonInputs:
    """Δ̂ = Σ_t q_t·(k_t + s·r)/(n_t + s): rates per seed, shrunk towards the common rate r.

    Empirical Bayes: seed rates have a beta prior of mean r = Σk_t/Σn_t and prior size s, fitted by
    moments, so that seeds with few inputs borrow from the rest instead of falling back on 1 or
    1/(n_t + 2). Where seeds differ no more than chance explains, s is infinite and the value is r.
    """

    name: str = "shrunken-singleton-inputs"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from q, n and k of every seed."""
        seeds, k = _seeds_with_k(observation)
        made = int(seeds.n.sum())
        if made == 0:
            return nothing_yet(self.name, confidence)
        pooled = float(k.sum()) / made
        size = _prior_size(seeds.n, k, pooled)
        rate = (k + size * pooled) / (seeds.n + size) if size is not None else pooled
        return point(self.name, float(np.sum(seeds.q * rate)), observation.n)


def _seeds_with_k(observation: Observation) -> tuple[SeedCounts, Ints]:
    seeds = need_seeds(observation)
    return seeds, need(seeds.k, "the inputs of each seed with a global singleton (field seeds.k)")


def _prior_size(n: Ints, k: Ints, pooled: float) -> float | None:
    """Size of the beta prior by the method of moments; None if seeds do not differ.

    With weights n_t the between-seed variance of the rates is
    τ² = [Σ n_t(k_t/n_t - r)² - (m-1)·r(1-r)] / [(N - Σn_t²/N) - (m-1)], and s = r(1-r)/τ² - 1.
    """
    used = n > 0
    inputs = n[used].astype(np.float64)
    seeds = len(inputs)
    total = float(inputs.sum())
    noise = pooled * (1 - pooled)
    if seeds < 2 or noise == 0:
        return None
    spread = float(np.sum((k[used] - inputs * pooled) ** 2 / inputs))
    room = total - float(np.sum(inputs * inputs)) / total - (seeds - 1)
    excess = spread - (seeds - 1) * noise
    if excess <= 0 or room <= 0:
        return None
    # Never quite 0, so that a seed without inputs gets the common rate instead of 0/0.
    return max(noise * room / excess - 1, 1e-9)
