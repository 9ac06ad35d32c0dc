"""When rules stop recorded campaigns: ours and those that others use, at any input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import exp, inf, log

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.counted_mean import highest_mean
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.judge import Terms, judge, until
from fuzzwise.lab.evaluate.measures import truth_interval
from fuzzwise.model import Observation
from fuzzwise.snapshot import Campaign
from fuzzwise.stopping import AcceptedRisk

Stops = Callable[[Campaign], int | None]
"""The inputs after which a rule stops a campaign; None where it does not."""


@dataclass(frozen=True)
class Truth:
    """The measured Δ of a campaign at any n, between two points by a power law."""

    n: np.ndarray
    delta: np.ndarray
    least: np.ndarray
    """The lower ends of the 95 % intervals of the measurements."""

    def at(self, n: float) -> float:
        """Δ after n inputs."""
        return exp(float(np.interp(log(n), np.log(self.n), np.log(self.delta))))

    def least_at(self, n: float) -> float:
        """What Δ is at least after n inputs, by the error of its measurement."""
        return exp(float(np.interp(log(n), np.log(self.n), np.log(self.least))))

    def first_below(self, risk: float) -> float | None:
        """The inputs at which Δ first is below a risk; None where it never was."""
        below = np.flatnonzero(self.delta < risk)
        if len(below) == 0:
            return None
        i = int(below[0])
        if i == 0:
            return float(self.n[0])
        share = log(self.delta[i - 1] / risk) / log(self.delta[i - 1] / self.delta[i])
        return float(self.n[i - 1] * (self.n[i] / self.n[i - 1]) ** share)


def truth_of(campaign: Campaign) -> Truth:
    """From the points at which it was measured; a point without a discovery counts half of one."""
    seen = [(o.n, o.truth) for o in campaign.observations if o.truth and o.truth.inputs]
    delta = [max(t.discoveries or 0, 0.5) / t.inputs for _, t in seen if t.inputs]
    least = [max(truth_interval(t)[0], 1e-12) for _, t in seen]
    return Truth(np.array([n for n, _ in seen], dtype=float), np.array(delta), np.array(least))


def last(campaign: Campaign) -> Observation:
    """All that is known of it in the end: until where the truth was measured."""
    return [o for o in campaign.observations if o.truth and o.truth.inputs][-1]


def accepted_risk(risk: float) -> Stops:
    """Our rule, at each of its looks."""
    return lambda campaign: at_looks(campaign, risk, ("our rule",))["our rule"]


@dataclass
class Look:
    """What can be known at a look of our rule; each number is computed once."""

    rule: AcceptedRisk
    observation: Observation
    number: int
    before: Look | None = None

    @cached_property
    def moment(self) -> float:
        """The upper end of the interval that every table shows."""
        return find(DEFAULT)(self.observation, self.rule.confidence).high or 0.0

    def in_a_row(self, looks: int) -> float:
        """The highest of the moment's at so many looks, this and those before."""
        if looks == 1:
            return self.moment
        return max(self.moment, self.before.in_a_row(looks - 1)) if self.before else inf

    def with_count(self, scatter: float | None = None, times: float = 1.0) -> float:
        """Our rule with another allowance for bursts, or so many times the error.

        The count comes first: where that is too high, the interval does not matter.
        """
        error = times * (1 - self.rule.confidence_at(self.number))
        counted = highest_mean(self.observation, error, scatter)
        return counted if counted >= self.rule.risk else max(counted, self.moment)


Bound = Callable[[Look], float]
"""What has to be below the accepted risk at a look."""

BOUNDS: dict[str, Bound] = {
    "our rule": lambda look: look.with_count(),
    "the same without an allowance for bursts": lambda look: look.with_count(scatter=1.0),
    "the same with ten times the error": lambda look: look.with_count(times=10.0),
    "the interval of the moment": lambda look: look.moment,
    "that, at two looks in a row": lambda look: look.in_a_row(2),
    "that, at three looks in a row": lambda look: look.in_a_row(3),
}
"""Ways to decide at the looks of our rule."""


def at_looks(campaign: Campaign, risk: float, names: Iterable[str]) -> dict[str, int | None]:
    """Where each of these ways stops a campaign."""
    rule, end = AcceptedRisk(risk), last(campaign)
    return _stops(rule, end, names)


def _stops(rule: AcceptedRisk, end: Observation, names: Iterable[str]) -> dict[str, int | None]:
    stops: dict[str, int | None] = dict.fromkeys(names)
    look = None
    for j in range(1, rule.look(end.n) + 1):
        look = Look(rule, until(end, rule.inputs_at(j)), j, look)
        for name, stop in stops.items():
            if stop is None and BOUNDS[name](look) < rule.risk:
                stops[name] = rule.inputs_at(j)
        if None not in stops.values():
            break
    return stops


def ever_stops(
    rng: np.random.Generator, slope: float, confidence: float, names: Sequence[str], follow: float
) -> list[tuple[bool, bool]]:
    """Whether each of these ways ever stops a campaign that is above its accepted risk, and when it was.

    Δ(n) = 0.01·(n/100,000)^slope is above the accepted 0.00999 until the end of the campaign, at 100,000
    inputs. With the slope 0 there is no lag that could hide an error. So many discoveries as ``follow``
    says come after each on average, in a burst, and others are as much fewer. The second says whether
    the chance of the next discovery, with those that are yet to follow, was above the risk at the stop.
    """
    size, risk, soon = 100_000, 0.01, 0.01 / 3
    expected = risk * size / (1 + slope) / (1 + follow)
    times = size * rng.random(rng.poisson(expected)) ** (1 / (1 + slope))
    opened = np.repeat(times, rng.poisson(follow, len(times)))
    made = opened + rng.exponential(1 / soon, len(opened))
    every = np.concatenate([times, made])
    whole = Observation(
        n=size, discoveries=np.unique(np.ceil(every[every <= size])).astype(np.int64)
    )
    rule = AcceptedRisk(0.999 * risk, confidence)

    def is_above(n: int) -> bool:
        alone = risk * (n / size) ** slope / (1 + follow)
        return bool(alone + soon * np.sum((opened <= n) & (made > n)) > rule.risk)

    stops = _stops(rule, whole, names)
    return [(n is not None, n is not None and is_above(n)) for n in map(stops.get, names)]


@dataclass(frozen=True)
class StopCase:
    """Asked when our rule stops, that many times the inputs before it did; errors are log10."""

    subject: str
    ahead: float
    error: float
    held: bool
    risk_error: float


def stop_cases(
    campaign: Campaign, risks: tuple[float, ...], first: int = 3200
) -> Iterator[StopCase]:
    """Every stop of a campaign, asked for at each 1.5 times the inputs before it; where there is a forecast."""
    end = last(campaign)
    for risk in risks:
        stop = accepted_risk(risk)(campaign)
        n = first
        while stop and n < stop:
            judged = judge(until(end, n), Terms(risk))
            left, low_risk = judged.inputs_to_stop, judged.inputs_left
            if left and low_risk and left.low is not None and left.high is not None:
                yield StopCase(
                    campaign.subject,
                    stop / n,
                    float(np.log10((n + left.value) / stop)),
                    n + left.low <= stop <= n + left.high,
                    float(np.log10((n + low_risk.value) / stop)),
                )
            n = int(n * 1.5)


def moment(risk: float) -> Stops:
    """Whoever looks at the 95 % interval all the time: no promise, but when it first clears."""

    def stops(campaign: Campaign) -> int | None:
        return next((n for n, high in _moments(campaign) if high < risk), None)

    return stops


@cache
def _moments(campaign: Campaign) -> list[tuple[int, float]]:
    """The upper end of the 95 % interval whenever there is a hundredth more inputs."""
    estimator, end = find(DEFAULT), last(campaign)
    found, n = [], 100
    while n <= end.n:
        found.append((n, estimator(until(end, n)).high or 0.0))
        n = int(n * 1.01) + 1
    return found


def at_data_points(risk: float, estimator: str) -> Stops:
    """Our rule with another estimator, which needs counts that are kept at doublings only."""
    rule = AcceptedRisk(risk, estimator=estimator)

    def stops(campaign: Campaign) -> int | None:
        since = 0
        for o in campaign.observations:
            if o.n > last(campaign).n:
                break
            try:
                if rule(o, since).stop:
                    return o.n
            except NotEstimable:
                return None
            since = o.n
        return None

    return stops


def nothing_new(inputs: int) -> Stops:
    """After so many inputs without a discovery."""

    def stops(campaign: Campaign) -> int | None:
        end = last(campaign)
        times = np.concatenate(
            [[0], end.discoveries if end.discoveries is not None else [], [end.n]]
        )
        quiet = np.flatnonzero(np.diff(times) >= inputs)
        return int(times[quiet[0]] + inputs) if len(quiet) else None

    return stops


def saturation(growth: float) -> Stops:
    """When the last half of the inputs added less than that share to all discoveries.

    After Green Fuzzing (Lipp et al., ISSTA 2023), whose stop is the saturation of the functions that a
    trained model calls vulnerable. Which those are is not known here: all coverage stands for them.
    """

    def stops(campaign: Campaign) -> int | None:
        end = last(campaign)
        times = end.discoveries if end.discoveries is not None else np.zeros(0)
        n = 200
        while n <= end.n:
            before, now = np.searchsorted(times, [n / 2, n], side="right")
            if now - before < growth * now:
                return n
            n = int(n * 1.01) + 1
        return None

    return stops


def fixed(inputs: int) -> Stops:
    """After so many inputs, whatever was found."""
    return lambda campaign: inputs if inputs <= last(campaign).n else None
