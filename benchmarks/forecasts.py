"""Forecasts of when the discovery probability reaches a value, ours and those of others, beside truth.

All give ln(N/n) for the N at which Δ reaches R, with the ends of an interval where they have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np

from fuzzwise.forecast import inputs_left
from fuzzwise.judge import until
from fuzzwise.model import Observation
from fuzzwise.power_law import PowerLaw, fit, fit_growth
from fuzzwise.snapshot import Campaign

HORIZONS = (2, 4, 8, 16, 32, 64)
EARLIEST = 3000
"""No forecast is asked for before so many inputs."""
FEWEST = 10
"""Discoveries of a measured truth without which it is too rough to be a goal."""
SURE = 1.96

Span = tuple[float, float, float]
Forecast = Callable[[Observation, float], Span | None]


@dataclass(frozen=True)
class Case:
    """Asked after ``start`` inputs when Δ reaches ``risk``, which was after ``reached`` inputs.

    ``error`` is what the measurement of that risk is worth in ln n, as a standard deviation.
    """

    subject: str
    observation: Observation
    horizon: int
    risk: float
    reached: float
    error: float


def cases(campaign: Campaign) -> Iterator[Case]:
    """All starts and horizons of a campaign whose truth was measured at doublings."""
    seen = [o for o in campaign.observations if o.truth and o.truth.discoveries and o.n >= EARLIEST]
    points = [(o.n, o.truth.probability, o.truth.discoveries or 0) for o in seen if o.truth]
    for i, start in enumerate(seen):
        for horizon in HORIZONS:
            j = next(
                (k for k, p in enumerate(points) if abs(p[0] / start.n / horizon - 1) < 0.02), None
            )
            if j is None or points[j][2] < FEWEST or points[j][1] >= points[i][1]:
                continue
            risk = points[j][1]
            reached, slope = _reached(points, i, risk)
            error = 1 / np.sqrt(points[j][2]) / max(0.3, slope)
            yield Case(campaign.subject, start, horizon, risk, reached, float(error))


def _reached(points: list[tuple[int, float, int]], start: int, risk: float) -> tuple[float, float]:
    """Where the truth first is at that risk, between two points by a power law, and its slope there."""
    after = next(k for k in range(start + 1, len(points)) if points[k][1] <= risk)
    (n0, d0, _), (n1, d1, _) = points[after - 1], points[after]
    slope = log(d0 / d1) / log(n1 / n0)
    return n0 * (d0 / risk) ** (1 / slope), slope


def ours(observation: Observation, risk: float) -> Span | None:
    """The bent power law; None where it says that it cannot tell."""
    left = inputs_left(until(observation, observation.n), risk)
    if left.low is None or left.high is None or np.isinf(left.value):
        return None
    value, low, high = (
        float(np.log1p(x / observation.n)) for x in (left.value, left.low, left.high)
    )
    return value, low, high


def whole_power_law(observation: Observation, risk: float) -> Span | None:
    """One power law through all discoveries (Crow-AMSAA), which was the forecast before."""
    growth = fit_growth(need(observation), observation.n)
    if growth is None or growth.exponent >= 1:
        return None
    x = log(max(growth.probability / risk, 1)) / (1 - growth.exponent)
    return x, -inf, inf


def measured_points(observation: Observation, risk: float) -> Span | None:
    """RR's extrapolation: least squares through the Δ that were measured until now."""
    truth = observation.truth
    known = [*observation.measured, (observation.n, truth.probability if truth else 0.0)]
    return _solved(fit(*np.array(known, dtype=np.float64).T), observation.n, risk)


def coverage_rate(observation: Observation, risk: float) -> Span | None:
    """Coverage-rate extrapolation (Liyanage et al., ICSE 2024), by its idea.

    The rate of new coverage over time, a regression in logarithms through it, and its line ahead.
    The rate is counted here between 100, 200, 400, … inputs. What they add, black-box campaigns
    shuffled from all inputs with what each covered, needs more than any of these campaigns keeps.
    """
    times, n = need(observation), observation.n
    ends = [n / 2**k for k in range(int(np.log2(n / 100)) + 1)]
    counts = [np.searchsorted(times, [end / 2, end], side="right") for end in ends]
    rates = [
        float(after - before) / (end / 2) for (before, after), end in zip(counts, ends, strict=True)
    ]
    middles = np.array(ends) * 0.75
    return _solved(fit(middles, np.array(rates)), n, risk)


def _solved(law: PowerLaw | None, n: int, risk: float) -> Span | None:
    if law is None or law.slope >= 0:
        return None
    return max(0.0, (log(risk) - law.intercept) / law.slope - log(n)), -inf, inf


def need(observation: Observation) -> np.ndarray:
    """The discoveries, which each of these campaigns has."""
    assert observation.discoveries is not None
    return observation.discoveries


FORECASTS: dict[str, tuple[str, Forecast]] = {
    "bent power law (fuzzwise)": ("yes", ours),
    "one power law (fuzzwise before)": ("", whole_power_law),
    "RR's extrapolation, from measured Δ": ("", measured_points),
    "coverage-rate extrapolation (ICSE 2024)": ("", coverage_rate),
}
"""By name: whether it has an interval, and what it says."""


@dataclass(frozen=True)
class Score:
    """How good one forecast was at one horizon; errors are log10(predicted N / true N)."""

    cases: int
    answered: int
    median: float
    absolute: float
    held: float
    width: float


def score(found: list[Case], forecast: Forecast) -> Score | None:
    """Over all cases; one that was not answered counts as none."""
    made = [(case, forecast(case.observation, case.risk)) for case in found]
    answered = [(case, span) for case, span in made if span is not None]
    if not answered:
        return None
    true = np.array([log(case.reached / case.observation.n) for case, _ in answered])
    slack = np.array([SURE * case.error for case, _ in answered])
    value, low, high = np.array([span for _, span in answered]).T
    errors = (value - true) / log(10)
    held = (low - slack <= true) & (true <= high + slack)
    return Score(
        len(made),
        len(answered),
        float(np.median(errors)),
        float(np.median(np.abs(errors))),
        float(np.mean(held)),
        float(np.median(high - low)) / log(10),
    )
