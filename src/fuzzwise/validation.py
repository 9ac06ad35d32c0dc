"""Contradictions inside one observation: counts that no campaign can have produced."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from fuzzwise.model import Ints, Observation, SeedCounts

Problem = tuple[str, str]
"""The field that is wrong, and a sentence about it."""

Q_TOLERANCE = 1e-6
LARGEST = 2**53
"""Up to here a count is the same as a float; at a million a second it takes 285 years."""


def problems(observation: Observation) -> Iterator[Problem]:
    """Every contradiction found, the most basic ones first."""
    for check in _CHECKS:
        found = list(check(observation))
        yield from found
        if found:
            return  # later checks would only echo the same cause


def _sizes(o: Observation) -> Iterator[Problem]:
    """Numbers that no fuzzer has counted: no arithmetic below is meant for them."""
    counts: dict[str, int | None] = {"n": o.n, "species": o.species, "k": o.k, "tried": o.tried}
    counts["corpus"] = o.corpus
    counts |= {f"f[{i}]": count for i, count in enumerate(o.f or (), start=1)}
    counts |= {f"resets.{abs(a) % 1000}": max(abs(a), abs(s)) for a, s in o.resets.items()}
    if o.truth is not None:
        counts |= {"truth.discoveries": o.truth.discoveries, "truth.inputs": o.truth.inputs}
    for name, count in counts.items():
        if count is not None and abs(count) > LARGEST:
            yield name, "is a number beyond 2^53; counts must be smaller"


def _scalars(o: Observation) -> Iterator[Problem]:
    if o.n < 0:
        yield "n", f"is {o.n}; a number of inputs cannot be negative"
    if o.seconds is not None and not (math.isfinite(o.seconds) and o.seconds >= 0):
        yield "seconds", f"is {o.seconds}; expected a finite number of seconds, 0 or more"
    last = o.last_discovery_seconds
    if last is not None and not (o.seconds is not None and 0 <= last <= o.seconds):
        yield "last_discovery_seconds", f"is {last}, outside of 0 … {o.seconds} seconds"
    if o.species is not None and o.species < 0:
        yield "species", f"is {o.species}; a number of species cannot be negative"
    for i, count in enumerate(o.f or (), start=1):
        if count < 0:
            yield f"f[{i}]", f"is {count}; a number of species cannot be negative"
    if o.corpus is not None and o.corpus < 0:
        yield "corpus", f"is {o.corpus}; a number of inputs cannot be negative"
    if o.k is not None and o.k < 0:
        yield "k", f"is {o.k}; a number of inputs cannot be negative"
    for a, singletons in o.resets.items():
        if a < 1:
            yield f"resets.{a}", "restarts after every a added seeds; a must be 1 or more"
        if singletons < 0:
            yield f"resets.{a}", f"is {singletons}; a number of species cannot be negative"
    if o.waiting is not None and not 0 <= o.waiting <= 1:
        yield "waiting", f"is {o.waiting}; expected a share of the preferred seeds, 0 to 1"
    if o.ages is not None and len(o.ages) and not (o.ages.min() >= 0 and o.ages.max() < o.n):
        yield "ages", f"has a number outside of 0 … {o.n - 1}, the inputs before the last one"
    if o.tried is not None and o.tried < 0:
        yield "tried", f"is {o.tried}; a number of seeds cannot be negative"


def _incidence(o: Observation) -> Iterator[Problem]:
    if o.f is not None:
        if o.species is not None:
            for i, count in enumerate(o.f, start=1):
                if count > o.species:
                    yield f"f[{i}]", f"is {count}, more than the {o.species} species seen in all"
                    return
            if sum(o.f) > o.species:
                yield "f", f"adds up to {sum(o.f)}, more than the {o.species} species seen in all"
        for i, count in enumerate(o.f, start=1):
            if count and o.n < i:
                yield f"f[{i}]", f"is {count}, but {o.n} inputs cannot show a species {i} times"
    if o.k is not None:
        if o.k > o.n:
            yield "k", f"is {o.k}, more than the {o.n} inputs generated"
        if o.f is not None and o.k > o.f[0]:
            yield "k", f"is {o.k}: more inputs with a singleton than singletons ({o.f[0]})"
        if o.f is not None and o.f[0] > 0 and o.k == 0:
            yield "k", f"is 0, but there are {o.f[0]} singletons and some input showed each of them"
    if o.species is not None:
        for a, singletons in o.resets.items():
            if singletons > o.species:
                yield f"resets.{a}", f"is {singletons}, more than the {o.species} species seen"


def _discoveries(o: Observation) -> Iterator[Problem]:
    times = o.discoveries
    if times is None or len(times) == 0:
        return
    unsorted = np.flatnonzero(np.diff(times) <= 0)
    if len(unsorted):
        i = int(unsorted[0]) + 1
        yield (
            "discoveries",
            f"is not increasing: {times[i]} follows {times[i - 1]}; "
            "list each input that discovered something once, in order",
        )
    elif times[0] < 1 or times[-1] > o.n:
        wrong = int(times[0]) if times[0] < 1 else int(times[-1])
        yield "discoveries", f"names input {wrong}, outside of 1 … {o.n}"
    elif o.species is not None and len(times) > o.species:
        yield (
            "discoveries",
            f"has {len(times)} inputs, but only {o.species} species are seen in all",
        )


def _looks(o: Observation) -> Iterator[Problem]:
    looks = o.counted_at
    if looks is None or len(looks) == 0:
        return
    if np.any(np.diff(looks) <= 0):
        yield "counted_at", "is not increasing; list each number once, in order"
    elif looks[0] < 0:
        yield "counted_at", f"is {looks[0]}; a number of inputs cannot be negative"


def _seeds(o: Observation) -> Iterator[Problem]:
    seeds = o.seeds
    if seeds is None:
        return
    for name, column in _columns(seeds):
        if len(column) != len(seeds.q):
            yield f"seeds.{name}", f"has {len(column)} elements, but seeds.q has {len(seeds.q)}"
    wrong_q = np.flatnonzero(~np.isfinite(seeds.q) | (seeds.q < 0) | (seeds.q > 1))
    if len(wrong_q):
        i = int(wrong_q[0])
        yield f"seeds.q[{i}]", f"is {seeds.q[i]}; expected a probability between 0 and 1"
        return
    total = float(seeds.q.sum())
    if len(seeds) and abs(total - 1) > Q_TOLERANCE:
        yield "seeds.q", f"sums to {total:.9g}; the probabilities of all seeds must sum to 1"
    for name, column in _columns(seeds):
        negative = np.flatnonzero(column < 0)
        if len(negative):
            i = int(negative[0])
            yield f"seeds.{name}[{i}]", f"is {column[i]}; a count cannot be negative"


def _seed_sums(o: Observation) -> Iterator[Problem]:
    seeds = o.seeds
    if seeds is None:
        return
    made = int(seeds.n.sum())
    if made > o.n:
        yield "seeds.n", f"sums to {made}, more than the {o.n} inputs generated"
    if seeds.k is not None:
        over = np.flatnonzero(seeds.k > seeds.n)
        if len(over):
            i = int(over[0])
            yield (
                f"seeds.k[{i}]",
                f"is {seeds.k[i]}, more than the {seeds.n[i]} inputs of that seed",
            )
        if o.k is not None and int(seeds.k.sum()) > o.k:
            yield "seeds.k", f"sums to {int(seeds.k.sum())}, more than k = {o.k} for all inputs"
    for name, column in (("f1", seeds.f1), ("f2", seeds.f2), ("g", seeds.g)):
        if column is None:
            continue
        idle = np.flatnonzero((column > 0) & (seeds.n == 0))
        if len(idle):
            i = int(idle[0])
            yield f"seeds.{name}[{i}]", f"is {column[i]}, but that seed has made no input"
        if o.species is not None and len(column) and int(column.max()) > o.species:
            i = int(column.argmax())
            yield f"seeds.{name}[{i}]", f"is {column[i]}, more than the {o.species} species seen"


def _truth(o: Observation) -> Iterator[Problem]:
    truth = o.truth
    if truth is None:
        return
    if truth.inputs is not None and truth.inputs < 1:
        yield "truth.inputs", f"is {truth.inputs}; a measurement needs at least one input"
    elif truth.discoveries is not None and truth.inputs is not None:
        if not 0 <= truth.discoveries <= truth.inputs:
            yield "truth.discoveries", f"is {truth.discoveries}, outside of 0 … {truth.inputs}"
    elif not 0 <= truth.probability <= 1:
        yield "truth.probability", f"is {truth.probability}; expected a value between 0 and 1"


def _columns(seeds: SeedCounts) -> Iterator[tuple[str, Ints]]:
    for name in ("n", "f1", "f2", "k", "g"):
        column: Ints | None = getattr(seeds, name)
        if column is not None:
            yield name, column


_CHECKS: tuple[Callable[[Observation], Iterator[Problem]], ...] = (
    _sizes,
    _scalars,
    _incidence,
    _discoveries,
    _looks,
    _seeds,
    _seed_sums,
    _truth,
)
