"""The one judgement of a target: how risky it is, where that is going, and whether it may stop.

``judge`` is a pure function of an observation. ``fuzz`` and ``run`` make one at each look at their
counts, ``watch`` one of each reading, ``estimate`` one of each snapshot file; all views show what
it said. It is the only place in which estimator, forecast and stop rule meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT, estimate_all, find
from fuzzwise.estimators.richness import Chao, ChaoReach, GrowthReach
from fuzzwise.estimators.waiting import why_unknown
from fuzzwise.forecast import as_seconds, inputs_left
from fuzzwise.model import Estimate, Ints, Observation
from fuzzwise.power_law import fit_growth
from fuzzwise.special import gammaincinv
from fuzzwise.stop_forecast import inputs_to_stop
from fuzzwise.stopping import AcceptedRisk, Decision
from fuzzwise.text import many, upper_bound

STEADY = 0.1
"""A change of the risk by no more than this share is none."""

T = TypeVar("T")


@dataclass(frozen=True)
class Terms:
    """What its user accepts: a risk, if any, and with which confidence it is to be below that."""

    accepted_risk: float | None = None
    confidence: float = 0.95

    @property
    def rule(self) -> AcceptedRisk | None:
        """The stop rule; None where no risk is accepted."""
        if self.accepted_risk is None:
            return None
        return AcceptedRisk(self.accepted_risk, self.confidence)


@dataclass(frozen=True)
class Judgement:
    """All that can be said about a target at one observation.

    ``risk`` is the default estimate, None where the observation does not allow it. ``trend``:
    falling, level, rising or "". ``decision`` is what the stop rule says, None where it was not its
    time to look or no risk is accepted. ``held_back``: why its stop does not count yet; the
    decision then says to go on, and the rule has another look next time. What is left is then not
    known, and neither inputs nor time are told.
    ``discovery_rate``: discoveries to expect in the next second.

    ``builds``: what was said of each of the builds of one target (``judge_together``).

    What is only shown in full reports is computed when it is asked for.
    """

    observation: Observation
    terms: Terms
    risk: Estimate | None = None
    trend: str = ""
    inputs_left: Estimate | None = None
    discovery_rate: float = 0.0
    decision: Decision | None = None
    held_back: str = ""
    builds: tuple[Judgement, ...] = ()

    @property
    def accepted_risk(self) -> float | None:
        """The risk that is accepted."""
        return self.terms.accepted_risk

    @property
    def looked(self) -> bool:
        """Whether the rule has spent one of its looks on this observation."""
        return (
            self.decision is not None and self.decision.estimate is not None and not self.held_back
        )

    @property
    def reached(self) -> bool:
        """Whether the accepted risk is reached; without one it never is."""
        return self.decision is not None and self.decision.stop

    @property
    def seconds_left(self) -> Estimate | None:
        """The inputs left, at the speed of the campaign so far."""
        return as_seconds(self.inputs_left, self.observation) if self.inputs_left else None

    @property
    def next_look(self) -> int | None:
        """The inputs at which the rule looks next; None without a rule, or where it waits."""
        rule = self.terms.rule
        return None if rule is None or self.held_back else rule.next_look(self.observation.n)

    @cached_property
    def earliest_stop(self) -> int | None:
        """The inputs at which the rule says stop if nothing more is found; None if never known."""
        rule = self.terms.rule
        if rule is None or self.observation.n == 0 or self.held_back:
            return None
        return _possible(partial(rule.earliest_stop, self.observation))

    @cached_property
    def inputs_to_stop(self) -> Estimate | None:
        """Inputs until the rule says stop, if discoveries go on to become rarer as they did.

        That is later than the risk is low enough, by what the rule needs to be sure. The lower end
        is no less than if nothing more is found; ``inf`` is more than can be told. None where
        there is no rule or no forecast.
        """
        rule = self.terms.rule
        if rule is None or self.observation.n == 0 or self.held_back:
            return None
        return _possible(partial(inputs_to_stop, self.observation, rule))

    @property
    def seconds_to_stop(self) -> Estimate | None:
        """The same in time on a core, at the speed of the campaign so far."""
        return as_seconds(self.inputs_to_stop, self.observation) if self.inputs_to_stop else None

    @property
    def seconds_to_next_look(self) -> float | None:
        """The time until the rule looks next, at the speed so far; None without one of them."""
        return self._seconds_until(self.next_look)

    @property
    def seconds_to_earliest_stop(self) -> float | None:
        """The time until the rule can say stop at the earliest, at the speed so far."""
        return self._seconds_until(self.earliest_stop)

    @property
    def seconds_to_decision(self) -> float | None:
        """The time until the rule says stop, as far as can be told: at the least, if no more can.

        None without a rule or a speed. Builds of one target take turns, so that theirs add up.
        """
        if self.builds:
            waits = [each.seconds_to_decision for each in self.builds if not each.reached]
            return None if None in waits else sum(filter(None, waits))
        forecast = self.seconds_to_stop
        return self.seconds_to_earliest_stop if forecast is None else forecast.value

    def _seconds_until(self, inputs: int | None) -> float | None:
        n, seconds = self.observation.n, self.observation.seconds
        if inputs is None or not n or not seconds:
            return None
        return (inputs - n) * seconds / n

    @cached_property
    def estimates(self) -> dict[str, Estimate | NotEstimable]:
        """Every estimate by name, or the reason why the observation does not allow it."""
        return estimate_all(self.observation, self.terms.confidence)

    @cached_property
    def richness(self) -> Estimate | None:
        """How many species there are."""
        return _possible(partial(Chao(), self.observation, self.terms.confidence))

    @cached_property
    def reach_species(self) -> Estimate | None:
        """The species that it has if it is run as long again."""
        n = self.observation.n
        return _possible(partial(ChaoReach(), self.observation, n, self.terms.confidence))

    @cached_property
    def reach_discoveries(self) -> Estimate | None:
        """The discoveries that it has if it is run as long again."""
        n = self.observation.n
        return _possible(partial(GrowthReach(), self.observation, n, self.terms.confidence))

    @cached_property
    def exponent(self) -> Estimate | None:
        """The b of the power law n^b by which its discoveries grow; None without any."""
        return growth_exponent(self.observation, self.terms.confidence)


def judge(
    observation: Observation, terms: Terms, *, looked: int = 0, unsettled: str = ""
) -> Judgement:
    """Judge a target that is at work; its clock is the observation's.

    ``looked`` is the n at which its stop rule had its last look. ``unsettled``: why its engine
    would not have a low risk accepted yet; seeds that wait, in the observation, are another reason.
    """
    rule = terms.rule
    decision = None
    if rule is not None and observation.n > 0:
        decision = _possible(partial(rule, observation, looked))
        if decision is not None and decision.estimate is None:
            decision = None
    return _held_back(_judged(observation, terms, decision), unsettled)


def judge_history(
    observation: Observation, terms: Terms, *, exact: bool = True, unsettled: str = ""
) -> Judgement:
    """Judge a campaign of which only the history is known, whoever asks and however often.

    ``exact``: whether each discovery has the number of its input; see ``latest_decision``.
    """
    rule = terms.rule
    decision = None if rule is None else latest_decision(observation, rule, exact=exact)
    return _held_back(_judged(observation, terms, decision), unsettled)


def hold_back(judged: Judgement, why: str) -> Judgement:
    """The judgement of a target whose stop is not to count yet, for nobody knows how long."""
    decision = judged.decision and replace(judged.decision, stop=False, detail=why)
    return replace(judged, decision=decision, held_back=why, inputs_left=None)


def judge_together(builds: Sequence[Judgement], seconds: Sequence[float]) -> Judgement:
    """One judgement of a target from those of its builds; ``seconds`` is the time each has had.

    The risk is that of the build of which it is highest, and none as long as one is unknown: of
    whichever build the next input is, a discovery is no more likely than that. The mean over the
    inputs would depend on how the time is divided, and a fast build that finds nothing would
    hide what a slow one still finds.

    The rule says stop where it says so of each. That needs no further share of its error: if the
    risk is above the accepted one, it is so in one of the builds, and of that one alone the rule
    would say stop with a chance of α at most.
    """
    worst = max(builds, key=lambda each: float("inf") if each.risk is None else each.risk.value)
    rates = zip(builds, seconds, strict=True)
    rate = sum(each.discovery_rate * spent for each, spent in rates) / (sum(seconds) or 1.0)
    why = next((each.held_back for each in builds if each.held_back), "")
    return replace(
        worst,
        inputs_left=None if why else worst.inputs_left,
        discovery_rate=rate,
        decision=_decided_together(builds),
        held_back=why,
        builds=tuple(builds),
    )


def _decided_together(builds: Sequence[Judgement]) -> Decision | None:
    """Stop where all do; the grounds are the highest bound of them, where each has one."""
    decisions = [each.decision for each in builds if each.decision is not None]
    if len(decisions) < len(builds):
        return None
    going_on = [decision for decision in decisions if not decision.stop]
    estimates = [each.estimate for each in decisions if each.estimate is not None]
    highest = max(estimates, key=lambda each: each.high or 1.0, default=None)
    on_grounds = next((each for each in decisions if each.estimate is highest), decisions[0])
    said = (going_on or [on_grounds])[0]
    return replace(
        said,
        detail=said.detail if going_on else f"Of each of its {len(builds)} builds: {said.detail}",
        n=sum(each.n for each in decisions),
        estimate=highest if len(estimates) == len(builds) else None,
    )


def judge_log(observations: Sequence[Observation], terms: Terms) -> Judgement:
    """Judge the latest of several observations of a campaign; there is at least one.

    The decision is the rule's stop, or else its last look, when it is shown them in order.
    """
    rule = terms.rule
    since, latest = 0, None
    for observation in observations:
        if rule is None:
            break
        said = _possible(partial(rule, observation, since))
        judged = _held_back(Judgement(observation, terms, decision=said))
        since = since if judged.held_back else observation.n
        decision = judged.decision
        if decision is None:
            continue
        if decision.estimate is not None or latest is None or not _looked(latest):
            latest = judged
        if decision.stop:
            break
    judged = _judged(observations[-1], terms, latest.decision if latest else None)
    return hold_back(judged, latest.held_back) if latest and latest.held_back else judged


def _looked(judged: Judgement) -> bool:
    return judged.decision is not None and judged.decision.estimate is not None


def latest_decision(
    observation: Observation, rule: AcceptedRisk, *, exact: bool = True
) -> Decision:
    """Whether the campaign may stop now: the rule's word at its latest look, unless refuted since.

    A file holds the whole history, so that an observation can be cut at any earlier input. The
    decision is the rule's at its latest look, after m ≤ n inputs, shown only the discoveries up to
    m, with the error that it spends there. So it is the same however often a script asks, and the
    chance that it ever says "stop" above the accepted risk is at most α: nobody can wait for a
    lucky moment between two looks.

    It never says "stop" on the strength of an earlier look that the latest one contradicts: the
    campaign has broken through to something since. Nor where the estimate of the moment is above
    the accepted risk again. Both only take stops away, so that the bound holds.

    Where discoveries are only known in groups (not ``exact``), those of the group that is cut at m
    can be too few on this side, since true ones come early in it. There the interval at n, which
    cuts no group at that end, has to be below the accepted risk as well. At the other end of the
    window the even spread moves discoveries into it: on the safe side.
    """
    n = observation.n
    latest = rule.look(n)
    if observation.discoveries is None:
        return Decision(
            False, "not-estimable", "The files do not say which inputs found something.", n
        )
    if latest == 0:
        return rule(observation)
    decision = rule(_at_look(observation, rule, latest))
    if decision.stop:
        return _unless_refuted(decision, observation, rule, latest, exact=exact)
    for look in range(latest - 1, 0, -1):
        earlier = rule(_at_look(observation, rule, look))
        if earlier.stop:
            more = f" It had been below after {many(earlier.n, 'input')}, but has found more since."
            return replace(decision, detail=decision.detail + more)
    return decision


def until(observation: Observation, n: int) -> Observation:
    """What an observer would have known after n inputs, as far as discoveries tell it.

    What waits is what waits now, since an earlier count of it is not kept. Of discoveries that are
    known in groups alone, those of the group that n is in may all have been made by then: they
    count as if they were.
    """
    times = observation.discoveries
    if times is None:
        raise NotEstimable("needs the inputs that found something (field discoveries)")
    share = n / observation.n if observation.n else 0.0
    seconds = None if observation.seconds is None else observation.seconds * share
    return Observation(
        n=n,
        seconds=seconds,
        discoveries=_made_by(times, observation.counted_at, n),
        waiting=observation.waiting,
        tried=observation.tried,
        counted_at=observation.counted_at,
    )


def _made_by(times: Ints, looks: Ints | None, n: int) -> Ints:
    """The discoveries up to n, and all of the group that n is in: at n at the latest."""
    sure = int(times.searchsorted(n, "right"))
    if looks is None:
        return times[:sure]
    after = int(looks.searchsorted(n, "left"))
    until = int(looks[after]) if after < len(looks) else n
    made = times[: times.searchsorted(until, "right")]
    # Strictly rising up to n, as far as there is room for all.
    latest = n - np.arange(len(made) - 1, -1, -1, dtype=np.int64)
    moved: Ints = np.minimum(made, latest)
    return moved[moved >= 1]


def growth_exponent(observation: Observation, confidence: float = 0.95) -> Estimate | None:
    """The b of n^b, with the interval of its pivot 2bS ~ χ²(2D); None without a discovery."""
    times = observation.discoveries
    fit = fit_growth(times, observation.n) if times is not None and observation.n else None
    if fit is None:
        return None
    tail = (1 - confidence) / 2
    low, high = gammaincinv(float(fit.discoveries), (tail, 1 - tail)) / fit.log_age_sum
    return Estimate(fit.exponent, float(low), float(high), confidence, "growth", observation.n)


def _judged(now: Observation, terms: Terms, decision: Decision | None) -> Judgement:
    confidence = terms.confidence
    risk = _risk(now, confidence)
    # What seeds that wait may show is a risk, but nothing that the next turn will find.
    found = _risk(replace(now, waiting=None), confidence)
    speed = now.n / now.seconds if now.seconds else 0.0
    left = None
    if terms.accepted_risk is not None and now.n > 0:
        left = _possible(partial(inputs_left, now, terms.accepted_risk, confidence))
    return Judgement(
        now,
        terms,
        risk=risk,
        trend=_trend(now, found),
        inputs_left=left,
        discovery_rate=found.risk * speed if found is not None else 0.0,
        decision=decision,
    )


def _held_back(judged: Judgement, unsettled: str = "") -> Judgement:
    """The judgement without a stop that is not to count yet."""
    now, decision = judged.observation, judged.decision
    if decision is None or not decision.stop:
        return judged
    why = unsettled or why_unknown(now.waiting, now.tried)
    if not why:
        return judged
    return hold_back(judged, why)


def _trend(now: Observation, risk: Estimate | None) -> str:
    """Whether the risk falls, compared with what it was when half of the inputs were made."""
    if risk is None or now.discoveries is None or now.n < 2:
        return ""
    before = _risk(until(replace(now, waiting=None), now.n // 2), 0.95)
    if before is None or before.value <= 0:
        return ""
    change = risk.value / before.value
    return "falling" if change < 1 - STEADY else "rising" if change > 1 + STEADY else "level"


def _risk(observation: Observation, confidence: float) -> Estimate | None:
    if observation.n == 0:
        return None
    return _possible(partial(find(DEFAULT), observation, confidence))


def _at_look(observation: Observation, rule: AcceptedRisk, look: int) -> Observation:
    return until(observation, rule.inputs_at(look))


def _unless_refuted(
    stop: Decision, observation: Observation, rule: AcceptedRisk, look: int, *, exact: bool
) -> Decision:
    now = rule.bound_at(observation, look)
    bound = now.value if exact or now.high is None else now.high
    if bound < rule.risk:
        return stop
    what = f"is {bound:.2g} again" if exact else f"is at most {upper_bound(bound, rule.risk)}"
    return Decision(
        False,
        "accepted-risk",
        f"After {many(stop.n, 'input')} it was below the accepted risk {rule.risk:g}, but now, "
        f"after {observation.n:,}, the discovery probability {what}.",
        observation.n,
        now,
    )


def _possible(compute: Callable[[], T]) -> T | None:
    """The result, or None where the observation does not allow it."""
    try:
        return compute()
    except NotEstimable:
        return None
