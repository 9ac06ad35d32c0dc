"""The compiled loop of a replay: one scheduler against the logs of all configurations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from fuzzwise.lab.recording.recording import MARK, Recording
from fuzzwise.model import Ints
from fuzzwise.schedulers.compiled import ARMS, CHOOSE, GENERATOR, LEARN, MEMORY, compiled
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    EPOCH_BUGS,
    EPOCH_CRASHES,
    EPOCH_NEW_BUGS,
    EPOCH_RUNS,
    EPOCH_SECONDS,
    EPOCH_SINGLETONS,
    EPOCH_SIZE,
    STARTED,
    account,
)

NEVER = np.iinfo(np.int64).max
"""When a bug is found that is never found."""

_INTS = types.int64[::1]
_account = compiled(account)

_PART: dict[str, Any] = {
    "error_model": "numpy",
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
_part = njit(**_PART)
"""A part of the kernel, compiled into it: to hand over tuples of arrays, and to count references to
these, would cost more than an epoch does. Numba leaves the counting out where a function is simple
enough: after a change, measure (benchmarks/replay_speed.py)."""


class Points(NamedTuple):
    """All points of all logs in one piece; those of configuration i are offsets[i] to [i + 1]."""

    offsets: Ints
    runs: Ints
    microseconds: Ints
    bugs: Ints


def points(recording: Recording) -> Points:
    """The points of a recording."""
    logs = recording.configurations
    lengths = [len(log.runs) for log in logs]
    return Points(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([log.runs for log in logs]).astype(np.int64),
        np.concatenate([log.microseconds for log in logs]).astype(np.int64),
        np.concatenate([log.bugs for log in logs]).astype(np.int64),
    )


class _Length(NamedTuple):
    """The length of an epoch on the arm's own clocks: in runs or, if these are 0, in time."""

    runs: int
    microseconds: int


class _State(NamedTuple):
    """A campaign while it is replayed. Arm a is configuration order[a]."""

    order: Ints
    at: Ints
    """The next point of each arm."""
    run: Ints
    """Its own clocks: runs, and microseconds."""
    clock: Ints
    singletons: Ints
    """Bugs that it has shown exactly once."""
    shown: NDArray[np.uint8]
    """How often, up to 2, configuration and bug came together."""
    found: Ints
    """The campaign's clock when each bug was first shown."""


@_part
def _start(order, shown, found, logs):
    """All arms at the beginning of their logs."""
    count = len(order)
    at = np.empty(count, np.int64)
    for arm in range(count):
        at[arm] = logs.offsets[order[arm]]
    run, clock = np.zeros(count, np.int64), np.zeros(count, np.int64)
    return _State(order, at, run, clock, np.zeros(count, np.int64), shown, found)


@_part
def _leave_out_empty(order, logs, arms):
    """Those whose log has no time cannot be chosen; how many of the arms are left."""
    left = 0
    for arm in range(len(order)):
        if logs.microseconds[logs.offsets[order[arm] + 1] - 1] <= 0:
            arms[arm, AVAILABLE] = 0.0
        else:
            left += 1
    return left


@_part
def _latest_end(run, clock, last, length, logs):
    """Where an epoch that starts at these clocks ends at the latest: where the log does."""
    last_run, last_clock = logs.runs[last], logs.microseconds[last]
    if length.runs > 0:
        return min(run + length.runs, last_run), last_clock
    return last_run, min(clock + length.microseconds, last_clock)


@_part
def _share(start, end, part, whole):
    """The point at ``part`` of ``whole`` on the way from start to end, as a whole number."""
    return start + min(end - start, int((end - start) * (part / whole)))


@_part
def _clocks(p, which, end_run, end_clock, length, logs):
    """Both clocks of a configuration at the end of an epoch, before its point p.

    Only the one that decides about the end is known; from point to point they are in proportion.
    """
    runs, microseconds, offsets = logs.runs, logs.microseconds, logs.offsets
    if p == offsets[which + 1]:
        return runs[p - 1], microseconds[p - 1]
    run, clock = 0, 0
    if p > offsets[which]:
        run, clock = runs[p - 1], microseconds[p - 1]
    if length.runs > 0:
        return end_run, _share(clock, microseconds[p], end_run - run, runs[p] - run)
    return _share(run, runs[p], end_clock - clock, microseconds[p] - clock), end_clock


@_part
def _show(bug, arm, when, state, epoch):
    """An arm shows a bug."""
    epoch[EPOCH_CRASHES] += 1.0
    epoch[EPOCH_NEW_BUGS] += state.found[bug] == NEVER
    state.found[bug] = min(state.found[bug], when)
    times = state.shown[state.order[arm], bug]
    epoch[EPOCH_BUGS] += times == 0
    state.singletons[arm] += int(times == 0) - int(times == 1)
    state.shown[state.order[arm], bug] = min(times + 1, 2)


@_part
def _play(arm, now, length, logs, state, epoch):
    """Play one epoch of an arm and fill ``epoch``; its time, and whether the log is used up."""
    epoch[EPOCH_BUGS] = 0.0
    epoch[EPOCH_NEW_BUGS] = 0.0
    epoch[EPOCH_CRASHES] = 0.0
    run, clock, which = state.run[arm], state.clock[arm], state.order[arm]
    last = logs.offsets[which + 1] - 1
    end_run, end_clock = _latest_end(run, clock, last, length, logs)
    p = state.at[arm]
    while p <= last and logs.runs[p] <= end_run and logs.microseconds[p] <= end_clock:
        if logs.bugs[p] != MARK:
            _show(logs.bugs[p], arm, now + logs.microseconds[p] - clock, state, epoch)
        p += 1
    end_run, end_clock = _clocks(p, which, end_run, end_clock, length, logs)
    state.at[arm], state.run[arm], state.clock[arm] = p, end_run, end_clock
    epoch[EPOCH_RUNS] = end_run - run
    epoch[EPOCH_SECONDS] = (end_clock - clock) / 1e6
    epoch[EPOCH_SINGLETONS] = state.singletons[arm]
    return end_clock - clock, p > last


@njit(
    types.int64(
        types.FunctionType(CHOOSE), types.FunctionType(LEARN), ARMS, MEMORY, GENERATOR,
        _INTS, _INTS, _INTS, _INTS, _INTS,
        types.int64, types.int64, types.int64, types.uint8[:, ::1], _INTS, _INTS,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def replay_kernel(
    choose, learn, arms, memory, rng,
    order, offsets, runs, microseconds, bugs,
    epoch_runs, epoch_time, budget, shown, found, chosen,
):  # fmt: skip
    """Play epochs until the budget is spent or no log has anything left; the number of epochs.

    An epoch is ``epoch_runs`` runs or, if that is 0, ``epoch_time`` microseconds on the own clock
    of the chosen configuration. Arm a is configuration order[a]. Written to: ``shown`` (how often,
    up to 2, configuration and bug came together), ``found`` (the campaign's clock when each bug was
    first shown), and the first len(chosen) choices.
    """
    logs = Points(offsets, runs, microseconds, bugs)
    length = _Length(epoch_runs, epoch_time)
    state = _start(order, shown, found, logs)
    left = _leave_out_empty(order, logs, arms)
    epoch = np.zeros(EPOCH_SIZE)
    now, epochs = 0, 0
    while now < budget and left > 0:
        arm = choose(arms, memory, rng)
        arms[arm, STARTED] += 1.0
        if epochs < len(chosen):
            chosen[epochs] = arm
        epochs += 1
        passed, is_used_up = _play(arm, now, length, logs, state, epoch)
        now += passed
        if is_used_up:
            arms[arm, AVAILABLE] = 0.0
            left -= 1
        _account(arms, arm, epoch)
        learn(arms, memory, arm, epoch)
    return epochs
