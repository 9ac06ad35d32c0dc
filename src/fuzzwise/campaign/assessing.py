"""What a turn says about a target: its risk, where it is going, and whether it may be retired."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fuzzwise.campaign.session import Totals
from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.forecast import as_seconds, inputs_left
from fuzzwise.model import Estimate, Observation
from fuzzwise.stopping import AcceptedRisk, Decision


@dataclass(frozen=True)
class Finding:
    """The risk of a target now; ``decision`` only where its stop rule had a look.

    ``seconds_left`` is until its risk is as low as accepted, ``seconds_to_decision`` until the
    stop rule can say so: it looks only now and then. 0 where no risk is accepted. ``held_back``:
    why the rule's stop does not count yet; it has another look at the next turn.
    """

    observation: Observation
    risk: Estimate | None
    trend: str
    seconds_left: Estimate | None
    seconds_to_decision: float
    discovery_rate: float
    decision: Decision | None
    held_back: str = ""


def find_out(
    totals: Totals, accepted_risk: float | None, confidence: float, looked: int
) -> Finding:
    """Look at a target's totals; ``looked`` is the n at which its stop rule was last asked.

    The clock of the observation is the time on cores, so that what is left is told in the same.
    """
    now = replace(totals.observation, seconds=totals.seconds)
    risk = _risk(now, confidence)
    left = decision = None
    to_decision, held_back = 0.0, ""
    if risk is not None and accepted_risk is not None and now.n > 0:
        rule = AcceptedRisk(accepted_risk, confidence)
        inputs = inputs_left(now, accepted_risk, confidence)
        left = as_seconds(inputs, now)
        to_decision = max(inputs.value, rule.next_look(now.n) - now.n) * totals.seconds / now.n
        decision = rule(now, looked)
        if decision.stop and totals.unsettled:
            decision, held_back = None, totals.unsettled
        elif decision.estimate is None:
            decision = None
    # What seeds that wait may show is a risk, but nothing that the next turn will find.
    found = _risk(replace(now, waiting=None), confidence)
    rate = found.risk * now.n / totals.seconds if found is not None and totals.seconds > 0 else 0.0
    return Finding(now, risk, trend(now, found), left, to_decision, rate, decision, held_back)


def recent_bugs(totals: Totals) -> int:
    """Bugs that were found in the second half of all inputs; those of earlier builds have none."""
    n = totals.observation.n
    return sum(n / 2 < bug.found_at <= n for bug in totals.bugs)


def trend(now: Observation, risk: Estimate | None) -> str:
    """Whether the risk falls, compared with what it was when half of the inputs were made."""
    if risk is None or now.discoveries is None or now.n < 2:
        return ""
    half = now.n // 2
    found = int(now.discoveries.searchsorted(half, side="right"))
    before = _risk(Observation(half, discoveries=now.discoveries[:found]), 0.95)
    if before is None or before.value <= 0:
        return ""
    change = risk.value / before.value
    return "falling" if change < 0.9 else "rising" if change > 1.1 else "level"


def _risk(observation: Observation, confidence: float) -> Estimate | None:
    if observation.n == 0:
        return None
    try:
        return find(DEFAULT)(observation, confidence)
    except NotEstimable:
        return None
