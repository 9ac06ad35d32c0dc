"""The compiled loop of a replay: one scheduler against the logs of all configurations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, types

from fuzzwise.lab.recording.recording import MARK, Recording
from fuzzwise.model import Ints
from fuzzwise.schedulers.compiled import ARMS, CHOOSE, GENERATOR, LEARN, MEMORY, compiled
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    EPOCH_BUGS,
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


@njit(cache=True)
def _share(start, end, part, whole):
    """The point at ``part`` of ``whole`` on the way from start to end, as a whole number."""
    return start + min(end - start, int((end - start) * (part / whole)))


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
    count = len(order)
    at = np.empty(count, np.int64)  # the next point of each configuration
    run = np.zeros(count, np.int64)  # its own clocks
    clock = np.zeros(count, np.int64)
    singletons = np.zeros(count, np.int64)
    epoch = np.zeros(EPOCH_SIZE)
    left = 0
    for arm in range(count):
        at[arm] = offsets[order[arm]]
        last = offsets[order[arm] + 1] - 1
        if microseconds[last] <= 0:
            arms[arm, AVAILABLE] = 0.0
        else:
            left += 1
    now = 0
    epochs = 0
    while now < budget and left > 0:
        arm = choose(arms, memory, rng)
        arms[arm, STARTED] += 1.0
        if epochs < len(chosen):
            chosen[epochs] = arm
        epochs += 1
        which = order[arm]
        last = offsets[which + 1] - 1
        start_run, start_clock = run[arm], clock[arm]
        if epoch_runs > 0:
            end_run, end_clock = min(start_run + epoch_runs, runs[last]), microseconds[last]
        else:
            end_run, end_clock = runs[last], min(start_clock + epoch_time, microseconds[last])

        new_here = 0
        new = 0
        p = at[arm]
        while p <= last and runs[p] <= end_run and microseconds[p] <= end_clock:
            bug = bugs[p]
            if bug != MARK:
                when = now + microseconds[p] - start_clock
                if found[bug] > when:
                    if found[bug] == NEVER:
                        new += 1
                    found[bug] = when
                if shown[which, bug] == 0:
                    new_here += 1
                    singletons[arm] += 1
                    shown[which, bug] = 1
                elif shown[which, bug] == 1:
                    singletons[arm] -= 1
                    shown[which, bug] = 2
            p += 1
        at[arm] = p
        if p > last:
            end_run, end_clock = runs[last], microseconds[last]
            arms[arm, AVAILABLE] = 0.0
            left -= 1
        else:
            run_0, clock_0 = 0, 0
            if p > offsets[which]:
                run_0, clock_0 = runs[p - 1], microseconds[p - 1]
            if epoch_runs > 0:
                end_clock = _share(clock_0, microseconds[p], end_run - run_0, runs[p] - run_0)
            else:
                span = microseconds[p] - clock_0
                end_run = _share(run_0, runs[p], end_clock - clock_0, span)
        run[arm], clock[arm] = end_run, end_clock
        now += end_clock - start_clock

        epoch[EPOCH_RUNS] = end_run - start_run
        epoch[EPOCH_SECONDS] = (end_clock - start_clock) / 1e6
        epoch[EPOCH_BUGS] = new_here
        epoch[EPOCH_NEW_BUGS] = new
        epoch[EPOCH_SINGLETONS] = singletons[arm]
        _account(arms, arm, epoch)
        learn(arms, memory, arm, epoch)
    return epochs
