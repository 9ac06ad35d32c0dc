"""How many more inputs until the stop rule says stop: later than the risk is low enough."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from fuzzwise.estimators.intervals import normal_quantile
from fuzzwise.forecast import TooMany, expected_path, inputs_left
from fuzzwise.model import Estimate, Observation
from fuzzwise.stopping import AcceptedRisk


def inputs_to_stop(observation: Observation, rule: AcceptedRisk) -> Estimate:
    """Inputs until the rule says stop, if discoveries go on to become rarer as they did.

    The rule is shown the campaign as it is expected to be at each of its looks to come: the value
    is along the mean of the forecast, the interval along both ends of its band. ``inf`` is more
    than 100 times the present inputs, of which nothing can be told. NotEstimable where there is no
    forecast.
    """
    n, wide = observation.n, normal_quantile(rule.confidence)
    try:
        value, low = (_stop(observation, rule, deviations) for deviations in (0.0, -wide))
    except TooMany:
        return _no_sooner(inputs_left(observation, rule.risk, rule.confidence), observation, rule)
    try:
        high = _stop(observation, rule, wide)
    except TooMany:
        high = inf
    ends = min(low, value), max(high, value)
    return Estimate(value, *ends, rule.confidence, "bent-power-law", n)


def _stop(observation: Observation, rule: AcceptedRisk, deviations: float) -> float:
    path = expected_path(observation, deviations)
    stop = rule.stop_along(path, observation.n, path.n)
    return inf if stop is None else float(stop - observation.n)


def _no_sooner(left: Estimate, observation: Observation, rule: AcceptedRisk) -> Estimate:
    """The forecast of the risk, where so much is expected that a rule has no doubt of its own."""
    due = rule.earliest_stop(observation)
    least = inf if due is None else float(due - observation.n)
    low, high = max(left.low or 0.0, least), max(left.high or inf, least)
    return replace(left, value=max(left.value, least), low=low, high=high)
