"""Whether a campaign that somebody else runs may stop, judged from its files alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy.special import gammaincinv

from fuzzwise.assessment import Assessment, assess
from fuzzwise.engines.aflplusplus.stats import ENOUGH
from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.model import Estimate, Observation
from fuzzwise.power_law import fit_growth
from fuzzwise.snapshot import Campaign
from fuzzwise.stopping import AcceptedRisk, Decision
from fuzzwise.watch.reading import Reading

GROUPED = (
    "The file says how many discoveries lie between two of its lines, not where: they are spread "
    "evenly. Risk falls, so most were earlier than that, and the estimate errs on the high side; "
    "the campaign may stop only if its latest count allows it as well as the latest look."
)


@dataclass(frozen=True)
class Judged:
    """What was read of a campaign, and what follows from it.

    ``exponent``: b of the power law n^b by which its discoveries grow; None without any. ``half``:
    the risk as it was after half of the inputs. ``notes``: what the reader had to say, then what
    limits the judgement.
    """

    reading: Reading
    assessment: Assessment
    exponent: Estimate | None
    half: Estimate | None
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether the accepted risk is reached; without one it never is."""
        decision = self.assessment.decision
        return decision is not None and decision.stop


def judge(reading: Reading, accepted_risk: float | None = None, confidence: float = 0.95) -> Judged:
    """Estimate all that the reading allows and, for an accepted risk, decide."""
    observation = reading.with_waiting
    assessment = assess(
        Campaign(reading.name, (observation,)), accepted_risk=accepted_risk, confidence=confidence
    )
    if accepted_risk is not None:
        rule = AcceptedRisk(accepted_risk, confidence)
        decision = verdict(observation, rule, exact=reading.exact)
        assessment = replace(assessment, decision=_unless_unknown(decision, reading))
    notes = reading.notes if reading.exact else (*reading.notes, GROUPED)
    half = None
    if observation.discoveries is not None and observation.n >= 2:
        half = find(DEFAULT)(until(observation, observation.n // 2), confidence)
    exponent = growth_exponent(observation, confidence)
    return Judged(reading, assessment, exponent, half, notes)


def verdict(observation: Observation, rule: AcceptedRisk, *, exact: bool = True) -> Decision:
    """Whether the campaign may stop now: the rule's word at its latest look, unless refuted since.

    A file holds the whole history, so that an observation can be cut at any earlier input. The
    verdict is the rule's at the latest doubling point m = 100·2^(j-1) ≤ n, shown only the
    discoveries up to m, with the error α/(j(j+1)) that it spends there. So it is the same however
    often a script asks, and the chance that it ever says "stop" above the accepted risk is at most
    Σ α/(j(j+1)) ≤ α: nobody can wait for a lucky moment between two looks.

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
        first = rule.next_look(n)
        detail = f"The first look is at {first:,} inputs; so far there are {n:,}."
        return Decision(False, "accepted-risk", detail, n)
    decision = rule(_at_look(observation, rule, latest))
    if decision.stop:
        return _unless_refuted(decision, observation, rule, latest, exact=exact)
    for look in range(latest - 1, 0, -1):
        earlier = rule(_at_look(observation, rule, look))
        if earlier.stop:
            more = f" It had been below after {earlier.n:,} inputs, but has found more since."
            return replace(decision, detail=decision.detail + more)
    return decision


def _unless_unknown(decision: Decision, reading: Reading) -> Decision:
    """No stop before enough seeds were tried: a few tell nothing of the many that wait."""
    untried = reading.untried
    if not decision.stop or untried is None or not untried.are_unknown:
        return decision
    tried = "It does not say how many it has mutated"
    if untried.tried is not None:
        tried = f"It has mutated {untried.tried:,} in all"
    detail = (
        f"The risk seems as low as accepted, but {untried}. {tried}: with fewer than {ENOUGH}, "
        "nothing is known of the others (docs/afl-study.md)."
    )
    return replace(decision, stop=False, detail=detail)


def until(observation: Observation, n: int) -> Observation:
    """What an observer would have known after n inputs, as far as discoveries tell it.

    What waits is what waits now, since an earlier count of it is not kept.
    """
    times = observation.discoveries
    if times is None:
        raise NotEstimable("needs the inputs that found something (field discoveries)")
    share = n / observation.n if observation.n else 0.0
    seconds = None if observation.seconds is None else observation.seconds * share
    return Observation(
        n=n,
        seconds=seconds,
        discoveries=times[: times.searchsorted(n, "right")],
        waiting=observation.waiting,
    )


def growth_exponent(observation: Observation, confidence: float = 0.95) -> Estimate | None:
    """The b of n^b, with the interval of its pivot 2bS ~ χ²(2D); None without a discovery."""
    times = observation.discoveries
    fit = fit_growth(times, observation.n) if times is not None and observation.n else None
    if fit is None:
        return None
    tail = (1 - confidence) / 2
    low, high = gammaincinv(float(fit.discoveries), (tail, 1 - tail)) / fit.log_age_sum
    return Estimate(fit.exponent, float(low), float(high), confidence, "growth", observation.n)


def _at_look(observation: Observation, rule: AcceptedRisk, look: int) -> Observation:
    return until(observation, rule.first_look << (look - 1))


def _unless_refuted(
    stop: Decision, observation: Observation, rule: AcceptedRisk, look: int, *, exact: bool
) -> Decision:
    now = find(rule.estimator)(observation, rule.confidence_at(look))
    bound = now.value if exact or now.high is None else now.high
    if bound < rule.risk:
        return stop
    what = f"is {bound:.2g} again" if exact else f"could still be {bound:.2g}"
    return Decision(
        False,
        "accepted-risk",
        f"After {stop.n:,} inputs it was below the accepted risk {rule.risk:g}, but now, after "
        f"{observation.n:,}, the discovery probability {what}.",
        observation.n,
        now,
    )
