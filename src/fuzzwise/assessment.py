"""All that can be said about a campaign at its latest observation, in one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT, estimate_all
from fuzzwise.estimators.richness import Chao, ChaoReach, GrowthReach
from fuzzwise.forecast import as_seconds, inputs_left
from fuzzwise.model import Estimate, Observation
from fuzzwise.snapshot import Campaign
from fuzzwise.stopping import AcceptedRisk, Decision

T = TypeVar("T")


@dataclass(frozen=True)
class Assessment:
    """Estimates, richness, reach and, for an accepted risk, the decision and what is left.

    ``reach_species`` and ``reach_discoveries`` are what the campaign has if it is run as long
    again. A part that the observation does not allow is None, or NotEstimable with the reason.
    """

    observation: Observation
    estimates: dict[str, Estimate | NotEstimable]
    richness: Estimate | None
    reach_species: Estimate | None
    reach_discoveries: Estimate | None
    accepted_risk: float | None = None
    inputs_left: Estimate | None = None
    decision: Decision | None = None

    @property
    def risk(self) -> Estimate | None:
        """The default estimate, if the observation allows it."""
        risk = self.estimates[DEFAULT]
        return risk if isinstance(risk, Estimate) else None

    @property
    def seconds_left(self) -> Estimate | None:
        """The inputs left, at the speed of the campaign so far."""
        return as_seconds(self.inputs_left, self.observation) if self.inputs_left else None


def assess(
    campaign: Campaign, accepted_risk: float | None = None, confidence: float = 0.95
) -> Assessment:
    """Assess a campaign that has at least one observation."""
    now = campaign.observations[-1]
    left = decision = None
    if accepted_risk is not None:
        left = _possible(partial(inputs_left, now, accepted_risk, confidence))
        decision = last_word(campaign, AcceptedRisk(accepted_risk, confidence))
    return Assessment(
        observation=now,
        estimates=estimate_all(now, confidence),
        richness=_possible(partial(Chao(), now, confidence)),
        reach_species=_possible(partial(ChaoReach(), now, now.n, confidence)),
        reach_discoveries=_possible(partial(GrowthReach(), now, now.n, confidence)),
        accepted_risk=accepted_risk,
        inputs_left=left,
        decision=decision,
    )


def last_word(campaign: Campaign, rule: AcceptedRisk) -> Decision | None:
    """The rule's stop, or else its last look, when it is shown the observations in order."""
    since = 0
    latest: Decision | None = None
    for observation in campaign.observations:
        decision = _possible(partial(rule, observation, since))
        since = observation.n
        if decision is None:
            continue
        if decision.stop:
            return decision
        if latest is None or decision.estimate is not None:
            latest = decision
    return latest


def _possible(compute: Callable[[], T]) -> T | None:
    """The result, or None where the observation does not allow it."""
    try:
        return compute()
    except NotEstimable:
        return None
