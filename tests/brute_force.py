"""A simulator that draws every input, one by one: slow, obvious, and independent of ours.

It keeps every input with its seed and species and recounts everything from that list, so no
incremental count of the fast simulator is repeated here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

import numpy as np

from fuzzwise.lab.urn.urn import Urn


@dataclass
class BruteState:
    delta: float
    species: int
    discoveries: list[int]
    f: list[int]
    resets: dict[int, int]
    seed_n: list[int]
    seed_f1: list[int]
    seed_f2: list[int]
    seed_g: list[int]


def draw_every_input(urn: Urn, greybox: bool, inputs: int, rng: np.random.Generator) -> BruteState:
    corpus = list(urn.initial)
    seen = set(corpus)
    history: list[tuple[int, int]] = []  # seed index, species
    added_at: list[int] = []  # inputs after which a seed was added
    discoveries = []
    seeds = urn.weights[: len(corpus)].cumsum().tolist()
    species_of = [urn.distribution(seed).cumsum().tolist() for seed in corpus]
    for n in range(1, inputs + 1):
        t = _draw(seeds, rng)
        species = 1 + _draw(species_of[t], rng)
        history.append((t, species))
        if species not in seen:
            seen.add(species)
            discoveries.append(n)
            if greybox:
                corpus.append(species)
                added_at.append(n)
                seeds = urn.weights[: len(corpus)].cumsum().tolist()
                species_of.append(urn.distribution(species).cumsum().tolist())

    p = np.zeros(urn.species)
    weights = urn.weights[: len(corpus)]
    for weight, s in zip(weights, corpus, strict=True):
        p += weight / weights.sum() * urn.distribution(s)
    unseen = [s for s in range(1, urn.species + 1) if s not in seen]

    everywhere = Counter(species for _, species in history)
    by_seed = [Counter(s for t, s in history if t == i) for i in range(len(corpus))]
    resets = {}
    for a in (1, 10):
        restarts = added_at[a - 1 :: a]
        window = Counter(s for _, s in history[restarts[-1] if restarts else 0 :])
        resets[a] = _times(window, 1)
    return BruteState(
        delta=sum(p[s - 1] for s in unseen),
        species=len(seen),
        discoveries=discoveries,
        f=[_times(everywhere, k) for k in (1, 2, 3, 4)],
        resets=resets,
        seed_n=[sum(c.values()) for c in by_seed],
        seed_f1=[_times(c, 1) for c in by_seed],
        seed_f2=[_times(c, 2) for c in by_seed],
        seed_g=[sum(everywhere[s] == 1 for s in c) for c in by_seed],
    )


def _draw(sums: list[float], rng: np.random.Generator) -> int:
    """An index, as often as its part of the sum."""
    return min(bisect_right(sums, rng.random() * sums[-1]), len(sums) - 1)


def _times(counts: Counter[int], k: int) -> int:
    return sum(count == k for count in counts.values())
