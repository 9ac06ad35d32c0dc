"""The compiled inner loop of the urn simulation: exact, one step a discovery.

Between two discoveries the distribution does not change, so the wait for the next one is
geometric, and what the inputs in between showed is multinomial over the species seen already.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fuzzwise.model import Floats, Ints

CAP = 5
"""Counts per seed and species stop here; estimators look at counts up to 2."""

_INSIDE: dict[str, Any] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Compiled into ``run`` and not to be called from Python: to hand over tuples of arrays would cost
more than most of its parts do."""

_part = njit(error_model="numpy", **_INSIDE)
"""A part of ``run``. Checks for a division by zero, which cannot be, would make numba count
references to every array."""

_sum = njit(fastmath={"reassoc", "contract"}, **_INSIDE)
"""A sum in whatever order is fast. That order depends on the code around it: after a change,
compare the last bits with those before."""


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


class _Setting(NamedTuple):
    """What a campaign is run on, and what is asked of it; nothing of it changes."""

    template: Floats
    tent: Floats
    """What a seed adds to the template around itself, by signed distance."""
    matrix: Floats
    """Local distributions that replace both, one row a species; or an empty one."""
    scales: Floats
    """What normalises the local weights of a seed of each species."""
    weights: Floats
    """Scheduling weight of the i-th seed."""
    target: int
    """The tracked species."""
    windows: Ints
    """After how many new seeds each count of recent inputs begins anew."""
    full: bool
    """Whether an observer counts the inputs; else only the truth is recorded."""


class _State(NamedTuple):
    """A campaign while it runs: its species, its seeds, and sums over these."""

    is_open: Floats
    """1 for species not seen yet, 0 for the others."""
    unseen: Floats
    """Weighted sum of the local distributions, 0 for what is seen."""
    order: Ints
    """The species seen, in order of discovery, those of the initial corpus first."""
    seeds: Ints
    """The species each seed was kept for."""
    sizes: Ints
    """How many species are seen (``_KNOWN``), and how many seeds there are (``_CORPUS``)."""
    sums: Floats
    """What all seeds, each times its weight, have on unseen species (``_UNSEEN``), on the tracked
    one (``_TARGET``), and on all (``_WEIGHT``)."""


_KNOWN, _CORPUS = range(2)
_UNSEEN, _TARGET, _WEIGHT = range(3)


class _Counts(NamedTuple):
    """What an observer counts; there is no room for it where only the truth is recorded."""

    mass: Floats
    """What each seed's distribution has on seen species."""
    local: NDArray[np.uint8]
    """Inputs per seed and species, up to ``CAP``."""
    total: Ints
    """Inputs per species."""
    recent: Ints
    """The same since the last restart, one row a window."""
    seed_n: Ints
    """Inputs per seed."""


@_part
def _new_state(size, limit):
    """No species seen of ``size``, and no seed of at most ``limit``."""
    return _State(
        is_open=np.ones(size),
        unseen=np.zeros(size),
        order=np.zeros(size, np.int64),
        seeds=np.zeros(limit, np.int64),
        sizes=np.zeros(2, np.int64),
        sums=np.zeros(3),
    )


@_part
def _new_counts(size, limit, windows, full):
    """Nothing counted."""
    seeds = limit if full else 0
    return _Counts(
        mass=np.zeros(seeds),
        local=np.zeros((seeds, size), np.uint8),
        total=np.zeros(size if full else 0, np.int64),
        recent=np.zeros((windows if full else 0, size), np.int64),
        seed_n=np.zeros(seeds, np.int64),
    )


@_part
def _new_trace(size, limit, points, windows, full):
    """Room for as many discoveries as species, and for all data points."""
    rows = points if full else 0
    seeds = limit if full else 0
    return Trace(
        discoveries=np.zeros(size, np.int64),
        found=np.zeros(size, np.int64),
        delta=np.zeros(points),
        target=np.zeros(points),
        species=np.zeros(points, np.int64),
        corpus=np.zeros(points, np.int64),
        incidence=np.zeros((rows, 4), np.int64),
        windows=np.zeros((rows, windows), np.int64),
        seed_n=np.zeros((rows, seeds), np.int64),
        seed_f1=np.zeros((rows, seeds), np.int64),
        seed_f2=np.zeros((rows, seeds), np.int64),
        seed_g=np.zeros((rows, seeds), np.int64),
    )


@_part
def _chance(s, j, setting):
    """Probability of species j under the local distribution of a seed of species s."""
    if setting.matrix.shape[0]:
        return setting.matrix[s, j]
    template = setting.template
    return (template[j] + setting.tent[len(template) - 1 - s + j]) * setting.scales[s]


@_sum
def _add_row(weight, row, first, is_open, unseen):
    """Add a distribution to the weights of the unseen species; their sum then."""
    total = 0.0
    for j in range(first, len(unseen)):
        unseen[j] = (unseen[j] + weight * row[j]) * is_open[j]
        total += unseen[j]
    return total


@_sum
def _add_tent(weight, template, around, first, is_open, unseen):
    """The same for a distribution that is the sum of two."""
    total = 0.0
    for j in range(first, len(unseen)):
        unseen[j] = (unseen[j] + weight * (template[j] + around[j])) * is_open[j]
        total += unseen[j]
    return total


@_part
def _add_distribution(s, weight, first, setting, state):
    """Add that of a seed of species s to the weights of the unseen species; their sum then.

    The unseen are summed directly: 1 minus the seen would lose all digits late in a campaign.
    Species before ``first`` are all seen.
    """
    is_open, unseen = state.is_open, state.unseen
    if setting.matrix.shape[0]:
        return _add_row(weight, setting.matrix[s], first, is_open, unseen)
    around = setting.tent[len(unseen) - 1 - s :]  # around[j] belongs to the distance from s to j
    return _add_tent(weight * setting.scales[s], setting.template, around, first, is_open, unseen)


@_part
def _see(s, state):
    """Species s has been seen."""
    state.is_open[s] = 0.0
    state.order[state.sizes[_KNOWN]] = s
    state.sizes[_KNOWN] += 1


@_part
def _first_open(first, state):
    """The first species that is not seen, from ``first`` on."""
    while first < len(state.is_open) and state.is_open[first] == 0.0:
        first += 1
    return first


@_part
def _keep(s, first, setting, state, counts):
    """The input that showed species s becomes a seed, which changes the distribution."""
    t = state.sizes[_CORPUS]
    weight = setting.weights[t]
    state.seeds[t] = s
    state.sizes[_CORPUS] += 1
    state.sums[_UNSEEN] = _add_distribution(s, weight, first, setting, state)
    state.sums[_TARGET] += weight * _chance(s, setting.target, setting)
    state.sums[_WEIGHT] += weight
    if setting.full:
        for i in range(state.sizes[_KNOWN]):
            counts.mass[t] += _chance(s, state.order[i], setting)


@_part
def _leave_out(s, state):
    """Without feedback nothing changes but that species s cannot be discovered again."""
    state.unseen[s] = 0.0
    state.sums[_UNSEEN] = state.unseen.sum()


@_part
def _start(initial, limit, setting):
    """A campaign with nothing but its initial corpus, and nothing counted."""
    size = len(setting.template)
    state = _new_state(size, limit)
    counts = _new_counts(size, limit, len(setting.windows), setting.full)
    for s in initial:
        _see(s, state)
    for s in initial:
        _keep(s, 0, setting, state, counts)  # a constant: numba compiles this case apart
    return state, counts


@_part
def _wait(rng, state, most):
    """How many inputs it takes up to the next discovery; any number above ``most`` is too many."""
    delta = state.sums[_UNSEEN] / state.sums[_WEIGHT]
    if delta <= 0.0:
        return most + 1
    if delta >= 1.0:
        return 1
    steps = np.log(1.0 - rng.random()) / np.log1p(-delta)
    return most + 1 if steps > most else 1 + np.int64(steps)


@_part
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


@njit(cache=True, error_model="numpy")
def _share(rng, left, weight, left_weight, is_last):
    """How many of the inputs that are left fall on the next one of those that share them."""
    if is_last or weight >= left_weight:
        return left
    return rng.binomial(left, weight / left_weight)


@_part
def _count(inputs, t, j, counts):
    """Count inputs of the t-th seed that showed species j."""
    counts.total[j] += inputs
    counts.local[t, j] = min(CAP, counts.local[t, j] + inputs)
    for w in range(counts.recent.shape[0]):
        counts.recent[w, j] += inputs


@_part
def _stretch(rng, inputs, setting, state, counts):
    """Count ``inputs`` inputs, none of which discovers anything.

    They fall on seeds in proportion to weight times the mass the seed has on seen species, and
    within a seed on seen species in proportion to its local distribution.
    """
    weights, mass, seeds, order = setting.weights, counts.mass, state.seeds, state.order
    corpus, known = state.sizes[_CORPUS], state.sizes[_KNOWN]
    left_weight = 0.0
    for t in range(corpus):
        left_weight += weights[t] * mass[t]
    left = inputs
    for t in range(corpus):
        if left == 0:
            break
        weight = weights[t] * mass[t]
        here = _share(rng, left, weight, left_weight, t == corpus - 1)
        left_weight -= weight
        left -= here
        counts.seed_n[t] += here
        left_mass = mass[t]
        for i in range(known):
            if here == 0:
                break
            p = _chance(seeds[t], order[i], setting)
            drawn = _share(rng, here, p, left_mass, i == known - 1)
            left_mass -= p
            here -= drawn
            if drawn:
                _count(drawn, t, order[i], counts)


@_part
def _count_discovery(rng, s, setting, state, counts):
    """Count the input that discovers species s, for one of the seeds that can have led to it."""
    by_seed = np.zeros(state.sizes[_CORPUS])
    for t in range(len(by_seed)):
        chance = _chance(state.seeds[t], s, setting)
        by_seed[t] = setting.weights[t] * chance
        counts.mass[t] += chance
    parent = _pick(rng, by_seed, by_seed.sum(), 0)
    counts.seed_n[parent] += 1
    _count(1, parent, s, counts)


@_part
def _restart_windows(added, setting, counts):
    """Begin those counts of recent inputs anew that end with as many new seeds."""
    for w in range(counts.recent.shape[0]):
        if added % setting.windows[w] == 0:
            counts.recent[w, :] = 0


@_part
def _record_truth(point, state, trace):
    """Note at a data point what no observer knows."""
    sums, sizes = state.sums, state.sizes
    trace.delta[point] = sums[_UNSEEN] / sums[_WEIGHT]
    trace.target[point] = sums[_TARGET] / sums[_WEIGHT]
    trace.species[point] = sizes[_KNOWN]
    trace.corpus[point] = sizes[_CORPUS]


@_part
def _record_counts(point, state, counts, trace):
    """Note at a data point what an observer has counted."""
    total, recent = counts.total, counts.recent
    for j in range(len(total)):
        if 1 <= total[j] <= 4:
            trace.incidence[point, total[j] - 1] += 1
    for w in range(recent.shape[0]):
        for j in range(len(total)):
            trace.windows[point, w] += recent[w, j] == 1
    for t in range(state.sizes[_CORPUS]):
        trace.seed_n[point, t] = counts.seed_n[t]
        for i in range(state.sizes[_KNOWN]):
            j = state.order[i]
            c = counts.local[t, j]
            trace.seed_f1[point, t] += c == 1
            trace.seed_f2[point, t] += c == 2
            trace.seed_g[point, t] += c >= 1 and total[j] == 1


@njit(cache=True)
def run(rng, urn, scales, weights, initial, adaptive, points, target, full, windows):
    """Run one campaign up to the last of ``points`` and record it: the fields of ``Trace``.

    ``urn`` is (template, tent by signed distance, matrix of local distributions or an empty one).
    ``weights[i]`` is the scheduling weight of the i-th seed. Without ``full`` only the truth is
    recorded, which costs one pass over the species a discovery, whatever the number of inputs.
    """
    setting = _Setting(urn[0], urn[1], urn[2], scales, weights, target, windows, full)
    limit = len(scales) if adaptive else len(initial)
    state, counts = _start(initial, limit, setting)
    trace = _new_trace(len(scales), limit, len(points), len(windows), full)
    n, point, found, first = 0, 0, 0, 0
    next_discovery = _wait(rng, state, points[-1])
    while point < len(points):
        is_point = points[point] < next_discovery
        end = points[point] if is_point else next_discovery - 1
        if full:
            _stretch(rng, end - n, setting, state, counts)
        if is_point:
            _record_truth(point, state, trace)
            if full:
                _record_counts(point, state, counts, trace)
            n = end
            point += 1
            continue
        n = next_discovery
        s = _pick(rng, state.unseen, state.sums[_UNSEEN], first)
        trace.discoveries[found], trace.found[found] = n, s
        found += 1
        if full:
            _count_discovery(rng, s, setting, state, counts)
        _see(s, state)
        first = _first_open(first, state)
        if adaptive:
            _keep(s, first, setting, state, counts)
            _restart_windows(found, setting, counts)
        else:
            _leave_out(s, state)
        next_discovery = n + _wait(rng, state, points[-1])
    return (trace.discoveries[:found], trace.found[:found], *trace[2:])
