"""The compiled loop of a replay on recordings of growth, with several turns at once."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from fuzzwise.lab.growth.recording import FOUND, KEPT, LAST, LEFT, RATE, RUNS, SPECIES, STOPS
from fuzzwise.schedulers.base import LEAST_LOOK
from fuzzwise.schedulers.compiled import ARMS, CHOOSE, GENERATOR, LEARN, MEMORY, compiled
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    EPOCH_BUGS,
    EPOCH_CRASHES,
    EPOCH_DISCOVERIES,
    EPOCH_DISCOVERY_RATE,
    EPOCH_KEPT,
    EPOCH_NEW_BUGS,
    EPOCH_RECENT_BUGS,
    EPOCH_RUNS,
    EPOCH_RUNS_SINCE,
    EPOCH_SECONDS,
    EPOCH_SECONDS_LEFT,
    EPOCH_SIZE,
    EPOCH_SPECIES,
    STARTED,
    account,
)

FEATURES, DISCOVERIES, PROPORTION, RETIRED, NEW = range(5)
"""What is told over time: species in all, discoveries in all, the sum of the logarithms of species
(growth in proportion), how many targets are retired, and species beyond the initial corpora."""
OUTCOMES = 5

_INTS, _FLOATS = types.int64[::1], types.float64[::1]
_account = compiled(account)
_NEVER = 1e300


@njit(cache=True, nogil=True, error_model="numpy")
def _at(table, steps, column, place):
    """A value at a place between two steps."""
    low = min(int(place), steps)
    high = min(low + 1, steps)
    return table[low, column] + (table[high, column] - table[low, column]) * (place - low)


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(row, start, end, amount, width):
    """Add an amount that comes evenly between two moments to the bins that they lie in."""
    last = len(row) - 1
    first = min(int(start / width), last)
    until = min(int(end / width), last)
    if until == first or end <= start:
        row[until] += amount
        return
    for cell in range(first, until + 1):
        low, high = max(start, cell * width), min(end, (cell + 1) * width)
        if cell == last:
            high = end
        row[cell] += amount * (high - low) / (end - start)


@njit(cache=True, nogil=True, error_model="numpy")
def _shown(table, last, step, start, end, bugs, found, offset, epoch):
    """Fill ``epoch`` with what a turn from ``start`` to ``end`` of an arm's own clock showed.

    ``bugs``: when the arm shows each of its bugs; ``offset``: from its clock to the campaign's.
    """
    place = end / step
    low = min(int(place + 1e-9), last)
    runs = _at(table, last, RUNS, place)
    epoch[:] = 0.0
    epoch[EPOCH_RUNS] = runs - _at(table, last, RUNS, start / step)
    epoch[EPOCH_SECONDS] = end - start
    epoch[EPOCH_KEPT] = _at(table, last, KEPT, place)
    epoch[EPOCH_SPECIES] = _at(table, last, SPECIES, place)
    epoch[EPOCH_DISCOVERY_RATE] = table[low, RATE]
    epoch[EPOCH_SECONDS_LEFT] = table[low, LEFT]
    found_before = _at(table, last, FOUND, start / step)
    epoch[EPOCH_DISCOVERIES] = _at(table, last, FOUND, place) - found_before
    epoch[EPOCH_RUNS_SINCE] = runs - table[low, LAST]
    epoch[EPOCH_RECENT_BUGS] = 1.0
    for b in range(len(bugs)):
        at = bugs[b]
        if at > end:
            break
        if 2.0 * _at(table, last, RUNS, at / step) > runs:
            epoch[EPOCH_RECENT_BUGS] += 1.0
        if at > start:
            epoch[EPOCH_BUGS] += 1.0
            if found[b] >= at + offset:
                epoch[EPOCH_NEW_BUGS] += 1.0
    epoch[EPOCH_CRASHES] = epoch[EPOCH_BUGS]  # recordings have the first crash of a bug only
    return table[low, STOPS] > 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _add(outcome, table, last, here, there, now, done, width):
    """Add what a turn from place ``here`` to ``there`` gives, from ``now`` to ``done``.

    The first turn of a target gives what its initial corpus shows, too, which is not ``NEW``.
    """
    known = _at(table, last, SPECIES, here)
    before = known if here > 0.0 else 0.0
    grown = _at(table, last, SPECIES, there)
    more = _at(table, last, FOUND, there) - _at(table, last, FOUND, here)
    share = np.log(1.0 + grown) - np.log(1.0 + before)
    _spread(outcome[FEATURES], now, done, grown - before, width)
    _spread(outcome[DISCOVERIES], now, done, more, width)
    _spread(outcome[PROPORTION], now, done, share, width)
    _spread(outcome[NEW], now, done, grown - known, width)


@njit(cache=True, nogil=True, error_model="numpy")
def _next_lane(ends, busy):
    """The core that is free first; of several, one whose turn has to be learned from."""
    first = 0
    for lane in range(1, len(ends)):
        if ends[lane] < ends[first] or (ends[lane] == ends[first] and busy[first] < 0):
            first = lane
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def _soonest(ends, busy):
    """When the next turn ends that is under way."""
    soonest = _NEVER
    for lane in range(len(ends)):
        if busy[lane] >= 0:
            soonest = min(soonest, ends[lane])
    return soonest


@njit(
    types.int64(
        types.FunctionType(CHOOSE), types.FunctionType(LEARN), ARMS, MEMORY, GENERATOR,
        types.float64[:, ::1], _INTS, _INTS, types.float64, _INTS, _FLOATS, _INTS,
        types.float64, types.float64, types.int64, types.float64, types.boolean,
        types.float64[:, ::1], _FLOATS, _FLOATS,
    ),
    cache=True,
    nogil=True,
    error_model="numpy",
)  # fmt: skip
def growth_kernel(
    choose, learn, arms, memory, rng,
    rows, firsts, steps, step, bug_offsets, bug_times, bug_ids,
    epoch_seconds, first_turn, cores, budget, retires,
    outcome, found, spent,
):  # fmt: skip
    """Play turns on ``cores`` until the budget is over or nothing is left; the number of turns.

    Arm a is the recording that begins in row ``firsts[a]`` and has ``steps[a]`` steps. A turn is as
    long as in a live campaign: an epoch, the first ones shorter. What it showed is learned when it
    ends, and the arm cannot be chosen until then. ``retires``: an arm whose risk is accepted
    leaves. Written to: ``outcome`` (what each bin of the budget added), ``found`` (when each bug
    was first shown) and ``spent`` (the time that each arm got).
    """
    bins = outcome.shape[1]
    width = budget / bins
    turns = np.zeros(len(arms), np.int64)
    ends, busy = np.zeros(cores), np.full(cores, -1, np.int64)
    starts = np.zeros(len(arms))
    epoch = np.zeros(EPOCH_SIZE)
    for arm in range(len(arms)):
        arms[arm, AVAILABLE] = 1.0 if steps[arm] > 0 else 0.0
    while True:
        lane = _next_lane(ends, busy)
        now, arm = ends[lane], busy[lane]
        if now >= _NEVER:
            return turns.sum()
        if arm >= 0:
            busy[lane] = -1
            end, own = spent[arm], bug_times[bug_offsets[arm] : bug_offsets[arm + 1]]
            when = found[bug_ids[bug_offsets[arm] : bug_offsets[arm + 1]]]
            table = rows[firsts[arm] : firsts[arm] + steps[arm] + 1]
            is_low = _shown(table, steps[arm], step, starts[arm], end, own, when, now - end, epoch)
            _account(arms, arm, epoch)
            learn(arms, memory, arm, epoch)
            if retires and is_low:
                outcome[RETIRED, min(int(now / width), bins - 1)] += 1.0
            elif end < steps[arm] * step - 1e-6:
                arms[arm, AVAILABLE] = 1.0
        if now >= budget:
            ends[lane] = _NEVER
        elif not arms[:, AVAILABLE].any():
            ends[lane] = _soonest(ends, busy)
        else:
            arm = choose(arms, memory, rng)
            arms[arm, STARTED] += 1.0
            arms[arm, AVAILABLE] = 0.0
            look = max(LEAST_LOOK, epoch_seconds * first_turn * 2.0 ** min(turns[arm], 60))
            length = min(epoch_seconds, look)
            start = spent[arm]
            end = min(start + min(length, budget - now), steps[arm] * step)
            turns[arm] += 1
            starts[arm], spent[arm] = start, end
            done = now + max(end - start, 1e-9)
            busy[lane], ends[lane] = arm, done
            table = rows[firsts[arm] : firsts[arm] + steps[arm] + 1]
            _add(outcome, table, steps[arm], start / step, end / step, now, done, width)
            for b in range(bug_offsets[arm], bug_offsets[arm + 1]):
                if start < bug_times[b] <= end:
                    found[bug_ids[b]] = min(found[bug_ids[b]], done - end + bug_times[b])
