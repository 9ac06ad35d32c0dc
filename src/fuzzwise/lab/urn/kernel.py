"""The compiled inner loop of the urn simulation: exact, one step a discovery.

Between two discoveries the distribution does not change, so the wait for the next one is
geometric, and what the inputs in between showed is multinomial over the species seen already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fuzzwise.model import Floats, Ints

CAP = 5
"""Counts per seed and species stop here; estimators look at counts up to 2."""


class Trace(NamedTuple):
    """What a campaign did: its discoveries, and its state at each data point."""

    discoveries: Ints
    """Input numbers of the discoveries."""
    found: Ints
    """The species each of them showed (0-based)."""
    delta: Floats
    """True discovery probability at each data point."""
    target: Floats
    """True probability of the tracked species (the bug) at each data point."""
    species: Ints
    """Species seen, those of the initial corpus included, at each data point."""
    corpus: Ints
    """Seeds at each data point."""
    incidence: Ints
    """f1 … f4 at each data point, one row each."""
    windows: Ints
    """Singletons since the last restart, one row a data point, one column a window."""
    seed_n: Ints
    """Inputs per seed: one row a data point, one column a seed."""
    seed_f1: Ints
    """Local singletons per seed."""
    seed_f2: Ints
    """Local doubletons per seed."""
    seed_g: Ints
    """Global singletons per seed."""


@njit(cache=True, inline="always")
def _chance(s, j, scale, template, tent, matrix):
    """Probability of species j under the local distribution of a seed of species s."""
    if matrix.shape[0]:
        return matrix[s, j]
    return (template[j] + tent[len(template) - 1 - s + j]) * scale


@njit(cache=True, fastmath={"reassoc", "contract"})
def _add_seed(s, weight, scale, urn, first, is_open, unseen):
    """Add a seed's local distribution to the weights of the unseen species; their sum then.

    The unseen are summed directly: 1 minus the seen would lose all digits late in a campaign.
    Species before ``first`` are all seen.
    """
    template, tent, matrix = urn
    size = len(unseen)
    total = 0.0
    if matrix.shape[0]:
        for j in range(first, size):
            unseen[j] = (unseen[j] + weight * matrix[s, j]) * is_open[j]
            total += unseen[j]
        return total
    w = weight * scale
    around = tent[size - 1 - s :]  # around[j] belongs to the distance from s to j
    for j in range(first, size):
        unseen[j] = (unseen[j] + w * (template[j] + around[j])) * is_open[j]
        total += unseen[j]
    return total


@njit(cache=True)
def _pick(rng, weights, total, first):
    """An index from ``first`` on, drawn in proportion to its weight."""
    x = rng.random() * total
    last = first
    for i in range(first, len(weights)):
        if weights[i] > 0.0:
            x -= weights[i]
            last = i
            if x < 0.0:
                return i
    return last


@njit(cache=True)
def _count(species, seed, local, total, recent):
    """Add one input of ``seed`` that showed ``species`` to all counts."""
    total[species] += 1
    if local[seed, species] < CAP:
        local[seed, species] += 1
    for w in range(recent.shape[0]):
        recent[w, species] += 1


@njit(cache=True)
def _stretch(rng, inputs, urn, weights, seeds, scale, mass, seen, seed_n, local, total, recent):
    """Count ``inputs`` inputs, none of which discovers anything.

    They fall on seeds in proportion to weight times the mass the seed has on seen species, and
    within a seed on seen species in proportion to its local distribution.
    """
    template, tent, matrix = urn
    corpus = len(seeds)
    left_weight = 0.0
    for t in range(corpus):
        left_weight += weights[t] * mass[t]
    left = inputs
    for t in range(corpus):
        if left == 0:
            break
        weight = weights[t] * mass[t]
        if t == corpus - 1 or weight >= left_weight:
            here = left
        else:
            here = rng.binomial(left, weight / left_weight)
        left_weight -= weight
        left -= here
        seed_n[t] += here
        left_mass = mass[t]
        for i in range(len(seen)):
            if here == 0:
                break
            j = seen[i]
            p = _chance(seeds[t], j, scale[t], template, tent, matrix)
            if i == len(seen) - 1 or p >= left_mass:
                drawn = here
            else:
                drawn = rng.binomial(here, p / left_mass)
            left_mass -= p
            here -= drawn
            if drawn:
                total[j] += drawn
                local[t, j] = min(CAP, local[t, j] + drawn)
                for w in range(recent.shape[0]):
                    recent[w, j] += drawn


@njit(cache=True)
def run(rng, urn, scales, weights, initial, adaptive, points, target, full, windows):
    """Run one campaign up to the last of ``points`` and record it; see ``Trace``.

    ``urn`` is (template, tent by signed distance, matrix of local distributions or an empty one).
    ``weights[i]`` is the scheduling weight of the i-th seed. Without ``full`` only the truth is
    recorded, which costs one pass over the species a discovery, whatever the number of inputs.
    """
    template, tent, matrix = urn
    size = len(template)
    end = points[-1]
    n_points = len(points)
    room = size if full else 0
    limit = size if adaptive else len(initial)

    is_open = np.ones(size)  # 1 for species not seen yet, 0 for the others
    first = 0  # the first of them
    order = np.zeros(size, np.int64)  # species in order of discovery; grown with `known`
    known = 0
    unseen = np.zeros(size)  # weighted sum of the local distributions, 0 for what is seen
    open_mass = 0.0
    target_mass = 0.0
    seeds = np.zeros(limit, np.int64)  # the species each seed was kept for
    scale = np.zeros(limit)
    corpus = 0
    weight_sum = 0.0

    mass = np.zeros(min(limit, room))  # what each seed's distribution has on seen species
    local = np.zeros((min(limit, room), size), np.uint8)
    total = np.zeros(size if full else 1, np.int64)
    recent = np.zeros((len(windows) if full else 0, size), np.int64)
    seed_n = np.zeros(limit, np.int64)

    discoveries = np.zeros(size, np.int64)
    found = np.zeros(size, np.int64)
    n_found = 0
    at_delta = np.zeros(n_points)
    at_target = np.zeros(n_points)
    at_species = np.zeros(n_points, np.int64)
    at_corpus = np.zeros(n_points, np.int64)
    at_f = np.zeros((n_points if full else 0, 4), np.int64)
    at_windows = np.zeros((n_points if full else 0, len(windows)), np.int64)
    columns = limit if full else 0
    at_seed_n = np.zeros((n_points if full else 0, columns), np.int64)
    at_f1 = np.zeros((n_points if full else 0, columns), np.int64)
    at_f2 = np.zeros((n_points if full else 0, columns), np.int64)
    at_g = np.zeros((n_points if full else 0, columns), np.int64)

    for s in initial:
        is_open[s] = 0.0
        order[known] = s
        known += 1
    for s in initial:
        seeds[corpus] = s
        scale[corpus] = scales[s]
        open_mass = _add_seed(s, weights[corpus], scales[s], urn, first, is_open, unseen)
        if full:
            for i in range(known):
                mass[corpus] += _chance(s, order[i], scales[s], template, tent, matrix)
        chance = _chance(s, target, scales[s], template, tent, matrix)
        target_mass += weights[corpus] * chance
        weight_sum += weights[corpus]
        corpus += 1

    n = 0
    point = 0
    while True:
        delta = open_mass / weight_sum
        if delta <= 0.0:
            wait = end + 1
        elif delta >= 1.0:
            wait = 1
        else:
            steps = np.log(1.0 - rng.random()) / np.log1p(-delta)
            wait = end + 1 if steps > end else 1 + np.int64(steps)
        next_discovery = n + wait

        while point < n_points and points[point] < next_discovery:
            if full:
                _stretch(
                    rng, points[point] - n, urn, weights, seeds[:corpus], scale, mass,
                    order[:known], seed_n, local, total, recent,
                )  # fmt: skip
                for j in range(size):
                    if 1 <= total[j] <= 4:
                        at_f[point, total[j] - 1] += 1
                for w in range(len(windows)):
                    for j in range(size):
                        at_windows[point, w] += recent[w, j] == 1
                for t in range(corpus):
                    at_seed_n[point, t] = seed_n[t]
                    for i in range(known):
                        j = order[i]
                        c = local[t, j]
                        at_f1[point, t] += c == 1
                        at_f2[point, t] += c == 2
                        at_g[point, t] += c >= 1 and total[j] == 1
            n = points[point]
            at_delta[point] = delta
            at_target[point] = target_mass / weight_sum
            at_species[point] = known
            at_corpus[point] = corpus
            point += 1
        if point == n_points:
            break

        if full:
            _stretch(
                rng, next_discovery - 1 - n, urn, weights, seeds[:corpus], scale, mass,
                order[:known], seed_n, local, total, recent,
            )  # fmt: skip
        n = next_discovery
        s = _pick(rng, unseen, open_mass, first)
        discoveries[n_found] = n
        found[n_found] = s
        n_found += 1
        if full:
            by_seed = np.zeros(corpus)
            for t in range(corpus):
                chance = _chance(seeds[t], s, scale[t], template, tent, matrix)
                by_seed[t] = weights[t] * chance
                mass[t] += chance
            parent = _pick(rng, by_seed, by_seed.sum(), 0)
            seed_n[parent] += 1
            _count(s, parent, local, total, recent)
        is_open[s] = 0.0
        while first < size and is_open[first] == 0.0:
            first += 1
        order[known] = s
        known += 1
        if adaptive:
            seeds[corpus] = s
            scale[corpus] = scales[s]
            open_mass = _add_seed(s, weights[corpus], scales[s], urn, first, is_open, unseen)
            if full:
                for i in range(known):
                    mass[corpus] += _chance(s, order[i], scales[s], template, tent, matrix)
                added = corpus + 1 - len(initial)
                for k in range(len(windows)):
                    if added % windows[k] == 0:
                        recent[k, :] = 0
            chance = _chance(s, target, scales[s], template, tent, matrix)
            target_mass += weights[corpus] * chance
            weight_sum += weights[corpus]
            corpus += 1
        else:
            unseen[s] = 0.0
            open_mass = unseen.sum()

    return (
        discoveries[:n_found], found[:n_found], at_delta, at_target, at_species, at_corpus,
        at_f, at_windows, at_seed_n, at_f1, at_f2, at_g,
    )  # fmt: skip
