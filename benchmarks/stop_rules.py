"""When rules stop recorded campaigns: ours and those that others use, at any input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.judge import Terms, judge, until
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

    def at(self, n: float) -> float:
        """Δ after n inputs."""
        return exp(float(np.interp(log(n), np.log(self.n), np.log(self.delta))))

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
    return Truth(np.array([n for n, _ in seen], dtype=float), np.array(delta))


def last(campaign: Campaign) -> Observation:
    """All that is known of it in the end: until where the truth was measured."""
    return [o for o in campaign.observations if o.truth and o.truth.inputs][-1]


def accepted_risk(risk: float) -> Stops:
    """Our rule, at each of its looks."""
    return at_looks(risk, "our rule")


EVEN = 0.03
"""The part of the error that each look has where all looks have the same: chosen on constant rates."""

Bound = Callable[[AcceptedRisk, Observation, int], float]
"""What has to be below the accepted risk at a look."""


def _ours(rule: AcceptedRisk, observation: Observation, look: int) -> float:
    return rule.bound_at(observation, look).high or 0.0


def _own_interval(rule: AcceptedRisk, observation: Observation, look: int) -> float:
    return find(DEFAULT)(observation, rule.confidence_at(look)).high or 0.0


def _even(rule: AcceptedRisk, observation: Observation, _: int) -> float:
    return find(DEFAULT)(observation, 1 - 2 * EVEN * (1 - rule.confidence)).high or 0.0


def _moment(rule: AcceptedRisk, observation: Observation, _: int) -> float:
    return find(DEFAULT)(observation, rule.confidence).high or 0.0


BOUNDS: dict[str, Bound] = {
    "our rule": _ours,
    "the interval, with errors that add up (before)": _own_interval,
    "the interval, with the same error at each look": _even,
    "the interval of the moment": _moment,
}
"""Ways to decide at the looks of our rule."""


def at_looks(risk: float, name: str) -> Stops:
    """One of these ways, at each of the looks."""
    rule, bound = AcceptedRisk(risk), BOUNDS[name]

    def stops(campaign: Campaign) -> int | None:
        end = last(campaign)
        looks = ((j, rule.inputs_at(j)) for j in range(1, rule.look(end.n) + 1))
        return next((n for j, n in looks if bound(rule, until(end, n), j) < risk), None)

    return stops


def ever_stops(
    rng: np.random.Generator, slope: float, confidence: float, names: Sequence[str], follow: float
) -> list[bool]:
    """Whether each of these ways ever stops a campaign that is above its accepted risk.

    Δ(n) = 0.01·(n/100,000)^slope is above the accepted 0.00999 until the end of the campaign, at 100,000
    inputs: every stop is wrong. With the slope 0 there is no lag that could hide an error. So many
    discoveries as ``follow`` says come after each on average, in a burst, and others are as much fewer.
    """
    size, risk = 100_000, 0.01
    expected = risk * size / (1 + slope) / (1 + follow)
    times = size * rng.random(rng.poisson(expected)) ** (1 / (1 + slope))
    behind = np.repeat(times, rng.poisson(follow, len(times)))
    times = np.concatenate([times, behind + rng.exponential(3 / risk, len(behind))])
    numbers = np.unique(np.ceil(times[times <= size])).astype(np.int64)
    whole = Observation(n=size, discoveries=numbers)
    rule = AcceptedRisk(0.999 * risk, confidence)
    looks = [(j, until(whole, rule.inputs_at(j))) for j in range(1, rule.look(size) + 1)]
    return [any(BOUNDS[name](rule, o, j) < rule.risk for j, o in looks) for name in names]


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
    estimator = find(DEFAULT)

    def stops(campaign: Campaign) -> int | None:
        end = last(campaign)
        n = 100
        while n <= end.n:
            if (estimator(until(end, n)).high or 0.0) < risk:
                return n
            n = int(n * 1.01) + 1
        return None

    return stops


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
