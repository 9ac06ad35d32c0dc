"""Inputs and discoveries of one AFL++ instance, put together from its three kinds of files.

Queue names tell the executions at each discovery; rows of plot_data and fuzzer_stats those at other
moments. A row with ``corpus_count`` C was written after entry C-1 was found and before entry C: so
all of them stand in one order, over resumes, in which the counter of executions may begin again.

Executions are not inputs. AFL++ counts those with which it calibrates each entry (7; AFL: 8), the
initial ones included, and one for each entry that it takes over from another instance. Tried with
4.04c: 7 for each entry, and the counter agrees with executions that the target counts itself. They
are taken off: n = executions - 7·entries - imported. Trimming is not (0.05 % and 0.16 % of all in
two campaigns of 8 and 25 seconds), nor are entries of others that were tried and not taken.

4.04c goes on, when it is resumed, from the count in fuzzer_stats. Where the counter falls, it was
killed and that count was an old one (older versions begin at 0): the executions in between are not
known and count as none, so that n is too small rather than too large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats, Ints
from fuzzwise.text import number, seconds_of
from fuzzwise.watch.afl_names import FOUND, IMPORTED, SEED, Queue
from fuzzwise.watch.afl_plot import Rows
from fuzzwise.watch.curve import Curve, rising

CALIBRATION = 7
OLD_CALIBRATION = 8
UNTIMELY = 2.0
"""Rows have whole seconds: a time that is further back than this is another clock, or a resume."""

_ROW, _DISCOVERY = 0, 1

Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Timeline:
    """One instance: its curve, and what had to be worked out."""

    curve: Curve
    seconds: float | None
    calibration: int
    is_exact: bool = True
    restarts: int = 0
    clock_falls: bool = False
    is_behind: bool = False
    """The newest entry is younger than the latest count of executions."""
    is_partial: bool = False
    """Earlier discoveries cannot be told from a corpus with such names: counted from the resume."""


def timeline(queue: Queue, rows: Rows, stats: dict[str, str], resumed: bool | None) -> Timeline:
    """Put an instance together; ``resumed``: whether it is known to have gone on with its queue."""
    own = _own(queue, resumed)
    found = own.queue.only(own.queue.kinds == FOUND)
    cycles = _calibration(found, stats.get("afl_version", ""))
    events, is_worked_out = _events(found, rows, stats)
    if not len(events.keys):
        empty = np.zeros(0)
        return Timeline(Curve(empty, empty, rising([]), empty, 0), _run_time(stats), cycles)
    counts, fell = _inputs(events, own, cycles)
    seconds, clock_falls = _steady(events.seconds, fell)
    is_found = events.kinds == _DISCOVERY
    numbers = rising(counts[is_found], counts[-1])
    n = max(int(counts[-1]), int(numbers[-1]) if len(numbers) else 0)
    return Timeline(
        Curve(
            times=np.concatenate([[0.0], seconds]),
            counts=np.concatenate([[0.0], counts]),
            found=numbers,
            found_times=seconds[is_found],
            n=n,
        ),
        max(float(seconds[-1]), _run_time(stats) or 0.0),
        cycles,
        is_exact=not is_worked_out,
        restarts=int(fell.sum()),
        clock_falls=clock_falls,
        is_behind=bool(is_found[-1]),
        is_partial=own.is_partial,
    )


@dataclass(frozen=True, eq=False)
class _Events:
    """Everything that carries a count, in order; NaN where it is not known.

    ``keys``: the number of a discovery's entry, or C - 0.5 for a row with C entries.
    """

    keys: Floats
    kinds: Ints
    execs: Floats
    seconds: Floats


@dataclass(frozen=True, eq=False)
class _Own:
    """What of a queue an instance found itself."""

    queue: Queue
    """With kinds set right."""
    initial: int
    """Entries at the latest start."""
    is_partial: bool = False
    """Whether earlier discoveries are lost among the initial ones."""
    gone_on: bool = False
    """Whether it was resumed, and they are not."""


def _own(queue: Queue, resumed: bool | None) -> _Own:
    """What is its own, by the names of the entries.

    Names of entries that were found before a resume look like those of a campaign that was started
    with the queue of another one as its corpus. But own numbers are one sequence, from the number
    of seeds on; all but a few, as a killed afl-fuzz leaves an empty entry, which it skips later.
    """
    before = queue.resumed == 1
    seeds = int((queue.kinds == SEED).sum())
    initial = int(before.sum()) + seeds
    if not before.any():
        return _Own(queue, initial)
    numbers = queue.numbers[before]
    slack = max(3, len(numbers) // 100)
    fits = before & (queue.numbers >= seeds) & (queue.numbers < initial + slack)
    doubles = len(numbers) - len(np.unique(numbers))
    if resumed is not False and 2 * fits.sum() > len(numbers) and doubles <= slack:
        kinds = np.where(before & ~fits, SEED, queue.kinds)
        return _Own(queue.with_kinds(kinds), initial, gone_on=True)
    kinds = np.where(before, SEED, queue.kinds)
    return _Own(queue.with_kinds(kinds), initial, is_partial=bool(resumed))


def _calibration(found: Queue, version: str) -> int:
    """Executions for each new entry: those of the version, or fewer where discoveries are closer.

    The closest hundredth is left out: a calibration can be broken off.
    """
    usual = OLD_CALIBRATION if version and "++" not in version else CALIBRATION
    follows = (np.diff(found.numbers) == 1) & (found.execs[1:] >= 0) & (found.execs[:-1] >= 0)
    gaps = np.diff(found.execs)[follows]
    gaps = gaps[gaps > 0]
    if len(gaps) < 10:
        return usual
    return max(0, min(usual, int(np.quantile(gaps, 0.01, method="lower")) - 1))


def _events(found: Queue, rows: Rows, stats: dict[str, str]) -> tuple[_Events, bool]:
    """Discoveries and rows in one order; whether counts had to be worked out from speeds."""
    entries = np.maximum.accumulate(np.array(rows.corpus, dtype=np.float64))
    execs = np.array(rows.execs, dtype=np.float64)
    execs[execs < 0] = np.nan
    seconds = np.array(rows.seconds, dtype=np.float64)
    if rows.is_unix_time and len(seconds):
        began = seconds_of(stats.get("start_time", "")) or seconds[0]
        seconds = np.maximum(seconds - min(began, seconds[0]), 0.0)
    is_worked_out = bool((found.execs < 0).any())
    if len(execs) and np.isnan(execs).all():
        execs = _from_speed(seconds, rows, stats)
    keys = np.concatenate([entries - 0.5, found.numbers.astype(np.float64)])
    order = np.argsort(keys, kind="stable")
    joined = _Events(
        keys[order],
        np.repeat([_ROW, _DISCOVERY], [len(entries), len(found)])[order],
        np.concatenate([execs, _unknown_as_nan(found.execs)])[order],
        np.concatenate([seconds, _unknown_as_nan(found.milliseconds) / 1000])[order],
    )
    return _with_stats(joined, stats), is_worked_out


def _inputs(events: _Events, own: _Own, cycles: int) -> tuple[Floats, Bools]:
    """Inputs at each event, and where the counter of executions fell."""
    queue, initial = own.queue, own.initial
    imported = np.searchsorted(queue.numbers[queue.kinds == IMPORTED], events.keys)
    overhead = cycles * np.ceil(events.keys) + imported
    steps = np.diff(_filled(events.execs, events.seconds), prepend=0.0)
    fell = steps < 0
    steps -= np.diff(overhead, prepend=0.0)
    if own.is_partial:
        steps[0] = 0.0
    elif own.gone_on:
        # The whole queue was calibrated once more before the first new entry was found; where the
        # counter began anew, that was before the first count that is known.
        resume, later = np.searchsorted(events.keys, (initial - 0.5, initial - 0.25))
        if later < len(steps) and not fell[resume : later + 1].any():
            steps[later] -= cycles * initial
    steps[fell] = 0.0
    return np.maximum.accumulate(np.maximum(np.cumsum(steps), 0.0)), fell


def _with_stats(events: _Events, stats: dict[str, str]) -> _Events:
    """fuzzer_stats as one more row, if its count fits between what stands before and after it.

    One that does not is older than the latest start, or damaged.
    """
    execs, entries = number(stats.get("execs_done", "")), number(stats.get("corpus_count", ""))
    if execs is None or entries is None:
        return events
    place = int(np.searchsorted(events.keys, entries - 0.5, side="right"))
    before, after = (part[~np.isnan(part)] for part in np.split(events.execs, [place]))
    if (len(before) and execs < before[-1]) or (len(after) and execs > after[0]):
        return events
    seconds = _run_time(stats)
    return _Events(
        np.insert(events.keys, place, entries - 0.5),
        np.insert(events.kinds, place, _ROW),
        np.insert(events.execs, place, execs),
        np.insert(events.seconds, place, np.nan if seconds is None else seconds),
    )


def _from_speed(seconds: Floats, rows: Rows, stats: dict[str, str]) -> Floats:
    """Executions at each row where only speeds are given, so that the end agrees with the stats."""
    passed = np.maximum(np.diff(seconds, prepend=0.0), 0.0)
    made: Floats = np.cumsum(passed * np.array(rows.speed))
    total = number(stats.get("execs_done", ""))
    if total is not None and made[-1] > 0:
        made *= total / made[-1]
    return made


def _filled(values: Floats, seconds: Floats) -> Floats:
    """Counts that are not known, from those before and after: by time, else evenly."""
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(len(values))
    if np.isnan(seconds).any():
        axis = np.arange(len(values), dtype=np.float64)
    else:
        axis = np.maximum.accumulate(seconds)
    filled: Floats = np.where(known, values, np.interp(axis, axis[known], values[known]))
    return filled


def _steady(seconds: Floats, fell: Bools) -> tuple[Floats, bool]:
    """Times that never fall, and whether the clock was set back while the campaign ran on."""
    filled = _filled(seconds, seconds)
    steps = np.diff(filled, prepend=0.0)
    back = steps < -UNTIMELY
    shifted = filled + np.cumsum(np.where(back, -steps, 0.0))
    steady: Floats = np.maximum.accumulate(np.maximum(shifted, 0.0))
    return steady, bool((back & ~fell).any())


def _unknown_as_nan(values: Ints) -> Floats:
    return np.where(values < 0, np.nan, values.astype(np.float64))


def _run_time(stats: dict[str, str]) -> float | None:
    """Seconds that the instance has run, as of its stats."""
    given = seconds_of(stats.get("run_time", ""))
    start = seconds_of(stats.get("start_time", ""))
    end = seconds_of(stats.get("last_update", ""))
    if given is None and start is not None and end is not None and end >= start:
        return end - start
    return given
