"""Hypothesis strategies and factories for observations that a campaign can really have."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fuzzwise.model import Observation, SeedCounts, Truth


def ints(values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def seeds(q, n, f1=None, f2=None, k=None, g=None) -> SeedCounts:
    columns = {"f1": f1, "f2": f2, "k": k, "g": g}
    return SeedCounts(
        q=np.array(q, dtype=np.float64),
        n=ints(n),
        **{name: None if c is None else ints(c) for name, c in columns.items()},
    )


@st.composite
def observations(draw, min_inputs: int = 0, max_inputs: int = 10**9) -> Observation:
    """Consistent observations, from empty ones to those with everything in them."""
    n = draw(st.integers(min_inputs, max_inputs))
    found = draw(st.sets(st.integers(1, max(n, 1)), max_size=min(n, 30)))
    f1 = draw(st.integers(0, 200)) if n else 0
    f2 = draw(st.integers(0, 200)) if n > 1 else 0
    f3 = draw(st.integers(0, 50)) if n > 2 else 0
    f4 = draw(st.integers(0, 50)) if n > 3 else 0
    k = draw(st.integers(1, min(f1, n))) if f1 else 0
    extra = draw(st.integers(0, 100))
    species = max(f1 + f2 + f3 + f4 + extra, len(found))
    count = draw(st.integers(1, 8))
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=count, max_size=count)))
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=count - 1, max_size=count - 1)))
    n_t = np.diff([0, *cuts, n])
    made = n_t > 0
    k_t = []
    left = k
    for inputs in n_t:
        k_t.append(min(left, int(inputs)))
        left -= k_t[-1]
    local = st.lists(st.integers(0, species), min_size=count, max_size=count)
    return Observation(
        n=n,
        seconds=draw(st.floats(0, 1e6)),
        species=species,
        f=(f1, f2, f3, f4),
        k=k,
        discoveries=ints(sorted(found)),
        seeds=seeds(
            weights / weights.sum(),
            n_t,
            f1=np.where(made, draw(local), 0),
            f2=np.where(made, draw(local), 0),
            k=k_t,
            g=np.where(made, draw(local), 0),
        ),
        resets={1: draw(st.integers(0, species)), 10: draw(st.integers(0, species))},
        truth=Truth(draw(st.floats(0, 1))),
    )
