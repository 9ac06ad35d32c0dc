"""The best number of distinct bugs within one budget, shared bugs counted once.

The dynamic programme of ``optimum`` counts a shared bug repeatedly; choosing prefixes of logs under
a budget so that their union is largest contains maximum coverage and is NP-hard. It is solved as an
integer programme with HiGHS (``scipy.optimize.milp``):

    maximise Σ y_d      y_d: bug d is found
    z_ij ≥ z_i,j+1      z_ij: configuration i is fuzzed until its j-th moment with a new bug
    y_d ≤ Σ z_ij        over the moments at which some configuration first shows d
    Σ (time between moments j−1 and j) z_ij ≤ budget

HiGHS works with floating point and tolerances, a budget is exact: every answer is checked in whole
microseconds, and one that is over the budget is cut off (not all of its last moments together) and
the programme solved again. Tolerances and cuts only admit more than the budget allows, so the
upper bound holds as far as HiGHS is right; the lower one is checked. A time limit makes the answer
a pair of bounds, which depends on the machine's speed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.lab.optimum import Optimum, best_schedules
from fuzzwise.lab.recording.recording import Recording
from fuzzwise.model import Floats, Ints

BUDGET_IN_THE_PROGRAMME = 1e6
"""The budget in HiGHS's units: its tolerance of 1e-6 is then a millionth of a millionth of it."""

TIME_LIMIT = 10.0

Row = dict[int, float]


@dataclass(frozen=True, eq=False)
class BestWithin:
    """What the best schedule finds within a budget: at least ``lower`` bugs, at most ``upper``.

    ``allocation`` gives microseconds for each configuration that show ``lower`` distinct bugs.
    """

    lower: int
    upper: int
    allocation: Ints

    @property
    def exact(self) -> bool:
        """Whether ``lower`` is proven to be the optimum."""
        return self.lower == self.upper


def optimum_at(
    recording: Recording,
    microseconds: int,
    *,
    curves: Optimum | None = None,
    time_limit: float = TIME_LIMIT,
) -> BestWithin:
    """The best number of distinct bugs within a budget, by the cheapest way that proves it.

    That is the dynamic programme, and where its bounds differ because bugs are shared, the integer
    programme for at most ``time_limit`` seconds. ``curves``: the recording's ``best_schedules``
    where the caller has them already.
    """
    curves = best_schedules(recording) if curves is None else curves
    bounds = _bounds(curves, microseconds)
    if bounds.exact:
        return bounds
    solved = solve_exactly(recording, microseconds, time_limit=time_limit)
    best = solved if solved.lower >= bounds.lower else bounds
    return BestWithin(best.lower, min(solved.upper, bounds.upper), best.allocation)


def solve_exactly(
    recording: Recording, microseconds: int, *, time_limit: float = TIME_LIMIT
) -> BestWithin:
    """The best number of distinct bugs within a budget, by integer programming alone."""
    _check(microseconds)
    programme = _Programme(recording, microseconds)
    nothing = BestWithin(0, programme.bugs, np.zeros(len(recording.configurations), np.int64))
    if programme.bugs == 0:
        return nothing
    deadline = time.monotonic() + time_limit
    best, upper = nothing, programme.bugs
    while (left := deadline - time.monotonic()) > 0:
        moments, bound = programme.solve(left)
        upper = min(upper, bound)
        if moments is None:
            break
        allocation = programme.allocation(moments)
        if int(allocation.sum()) > microseconds:
            programme.cut_off(moments)
            continue
        found = distinct_bugs(recording, allocation)
        if found >= best.lower:
            best = BestWithin(found, upper, allocation)
        break
    return BestWithin(best.lower, max(upper, best.lower), best.allocation)


def distinct_bugs(recording: Recording, allocation: Ints) -> int:
    """How many distinct bugs the configurations show, each within its microseconds."""
    found: set[int] = set()
    for log, share in zip(recording.configurations, allocation.tolist(), strict=True):
        bugs, times = log.first_shown
        found.update(bugs[: np.searchsorted(times, share, side="right")].tolist())
    return len(found)


def _bounds(curves: Optimum, microseconds: int) -> BestWithin:
    """What the dynamic programme says about one budget."""
    _check(microseconds)
    lower = curves.lower.bugs_at(microseconds)
    return BestWithin(lower, curves.upper.bugs_at(microseconds), curves.allocation(lower))


def _check(microseconds: int) -> None:
    if microseconds < 0:
        raise BadInput(f"A budget of {microseconds} microseconds is not possible; give 0 or more.")


class _Programme:
    """The integer programme of a recording and a budget; its columns are all z, then all y."""

    def __init__(self, recording: Recording, budget: int) -> None:
        self._first_column: list[int] = []
        self._moments: list[Ints] = []
        self._rows: list[Row] = []
        self._limits: list[float] = []
        scale = BUDGET_IN_THE_PROGRAMME / max(budget, 1)
        knapsack: Row = {}
        shown_at: dict[int, list[int]] = {}
        column = 0
        for log in recording.configurations:
            bugs, times = log.first_shown
            affordable = int(np.searchsorted(times, budget, side="right"))
            moments, moment_of = np.unique(times[:affordable], return_inverse=True)
            self._first_column.append(column)
            self._moments.append(moments)
            for bug, moment in zip(bugs.tolist(), moment_of.tolist(), strict=False):
                shown_at.setdefault(bug, []).append(column + moment)
            for j, gap in enumerate(np.diff(moments, prepend=0).tolist()):
                knapsack[column + j] = gap * scale
                if j:
                    self._add_row({column + j: 1.0, column + j - 1: -1.0}, 0.0)
            column += len(moments)
        self.bugs = len(shown_at)
        self._choices = column
        self._add_row(knapsack, budget * scale)
        for y, columns in enumerate(shown_at.values(), start=column):
            self._add_row({y: 1.0, **dict.fromkeys(columns, -1.0)}, 0.0)

    def _add_row(self, row: Row, limit: float) -> None:
        self._rows.append(row)
        self._limits.append(limit)

    def solve(self, time_limit: float) -> tuple[list[int] | None, int]:
        """Moments of each configuration in HiGHS's answer (None if it has none), and its bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        lengths = [len(row) for row in self._rows]
        matrix = csr_array(
            (
                np.array([value for row in self._rows for value in row.values()]),
                np.array([column for row in self._rows for column in row]),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=(len(self._rows), self._choices + self.bugs),
        )
        answer = milp(
            np.concatenate([np.zeros(self._choices), -np.ones(self.bugs)]),
            integrality=np.ones(self._choices + self.bugs, dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, -np.inf, self._limits),
            # counts are whole: a gap below one bug is none
            options={"time_limit": time_limit, "mip_rel_gap": 0.9 / self.bugs},
        )
        dual: float | None = answer.mip_dual_bound
        bound = self.bugs
        if dual is not None and math.isfinite(dual):
            bound = min(bound, math.floor(-dual + 1e-6))
        values: Floats | None = answer.x
        if values is None:
            return None, bound
        reached = values[: self._choices] > 0.5
        spans = zip(self._first_column, self._moments, strict=True)
        return [int(reached[at : at + len(moments)].sum()) for at, moments in spans], bound

    def allocation(self, counts: list[int]) -> Ints:
        """The microseconds that each configuration takes to reach its moment."""
        pairs = zip(counts, self._moments, strict=True)
        return np.array([int(moments[count - 1]) if count else 0 for count, moments in pairs])

    def cut_off(self, counts: list[int]) -> None:
        """Forbid to reach all of these moments: together they are over the budget."""
        last = [at + n - 1 for at, n in zip(self._first_column, counts, strict=True) if n]
        self._add_row(dict.fromkeys(last, 1.0), len(last) - 1.0)
