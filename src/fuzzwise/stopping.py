"""When to stop: rules that look at an observation and return a decision with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log, log1p, sqrt
from typing import Protocol

from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.estimators.base import need_discoveries
from fuzzwise.estimators.bursts import USUAL
from fuzzwise.estimators.counted_mean import highest_mean, scatter_of
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.model import Estimate, Observation
from fuzzwise.text import many, upper_bound

FIRST_LOOK = 100
"""No look before so many inputs: the first data point of a campaign (RR section 4.3)."""

STEP = 1.1
"""Each look has this many times the inputs of the one before."""

EARLY = 4
"""How evenly the error is spent: more gives less to the first looks, and more to later ones."""

FURTHEST = 512
"""Looks ahead beyond which no campaign gets: 1.1^512 is 10^21."""

MOST_INPUTS = 1 << 62
"""Inputs beyond which none is counted: the numbers of discoveries have 64 bits."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to stop, why (a word for programs, a sentence for people), and on what grounds."""

    stop: bool
    reason: str
    detail: str
    n: int
    estimate: Estimate | None = None


class StopRule(Protocol):
    """Looks at an observation; ``since`` is the n of the observation it was shown before."""

    def __call__(self, observation: Observation, since: int = 0) -> Decision:
        """Decide."""
        ...


@dataclass(frozen=True, slots=True)
class AcceptedRisk:
    """Stop when the upper end of the interval of Δ̂ is below the accepted risk, and a count agrees.

    Looking often at an interval inflates its error, so the rule looks at fixed numbers of inputs,
    each 1.1 times the one before, and spends α_j = α·√c·(1/√(j+c-1) - 1/√(j+c)), c = 4, of the
    error α = 1 - confidence at the j-th look; these add up to α. The first look is where the rule
    could say stop for the first time, if there were no discovery at all: earlier ones would spend
    error on looks that cannot succeed.

    It is spent on a plain count of discoveries (``highest_mean``), which holds whatever the law by
    which Δ falls: so the chance that the rule ever stops a campaign whose Δ is above the accepted
    risk is at most α, as far as discoveries are independent and Δ does not rise. Bursts widen the
    bound by what the campaign's own past shows of them; with that the chance is not proven but
    simulated (docs/stop-study.md). The interval of the estimate, which is for a law that changes,
    has to be below the risk at the confidence itself. With all of that in one interval, the doubt
    grew with each look: the stop came at 1.4 times the inputs. Another estimator than the default
    decides by its own interval at 1 - α_j.
    """

    risk: float
    confidence: float = 0.95
    estimator: str = DEFAULT

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        if not 0 < self.risk < 1:
            raise BadInput(f"The accepted risk must be between 0 and 1, not {self.risk}.")
        if not 0 < self.confidence < 1:
            raise BadInput(f"The confidence must be between 0 and 1, not {self.confidence}.")

    @property
    def first_look(self) -> int:
        """The inputs at the first look: without any discovery, the Rule of Three allows a stop."""
        quiet = log(1 - self.confidence_at(1)) / log1p(-self.risk)
        if self.estimator == DEFAULT:
            quiet *= USUAL
        return max(FIRST_LOOK, floor(quiet) + 1)

    def inputs_at(self, look: int) -> int:
        """The inputs at that look; the first has the number 1."""
        return round(self.first_look * STEP ** (look - 1))

    def look(self, n: int) -> int:
        """The number of the latest look at or before n inputs; 0 before the first."""
        first = self.first_look
        if n < first:
            return 0
        near = floor(log(n / first) / log(STEP)) + 1
        # Rounding, here and of the inputs at a look, is off by one at most.
        return next(j for j in (near + 1, near, near - 1) if self.inputs_at(j) <= n)

    def next_look(self, n: int) -> int:
        """The inputs at which it looks next."""
        return self.inputs_at(self.look(n) + 1)

    def confidence_at(self, look: int) -> float:
        """The confidence of the interval at that look."""
        share = sqrt(EARLY) * (1 / sqrt(look + EARLY - 1) - 1 / sqrt(look + EARLY))
        return 1 - (1 - self.confidence) * share

    def bound_at(
        self, observation: Observation, look: int, scatter: float | None = None
    ) -> Estimate:
        """The estimate with the upper end that has to be below the accepted risk at that look.

        ``scatter``: how much more discoveries scatter than independent ones, where the observation
        itself does not tell.
        """
        confidence = self.confidence_at(look)
        own = self.confidence if self.estimator == DEFAULT else confidence
        estimate = find(self.estimator)(observation, own)
        if self.estimator == DEFAULT and estimate.high is not None and observation.n:
            counted = highest_mean(observation, 1 - confidence, scatter)
            return replace(estimate, high=max(estimate.high, counted))
        if estimate.high is None:
            raise BadInput(
                f"The estimator {self.estimator!r} has no interval, so it cannot decide when to "
                f"stop. Choose one that has, for example {DEFAULT!r}."
            )
        return estimate

    def earliest_stop(self, observation: Observation) -> int | None:
        """The inputs at the first look to come that says stop if nothing more is found.

        It is no forecast but nearly a bound: what is found until then delays it, unless it shows
        that discoveries come in smaller bursts. None where that is further away than any campaign
        gets.
        """
        return self._first_stop(observation, observation.n, FURTHEST)

    def stop_along(self, path: Observation, since: int, until: int) -> int | None:
        """The inputs at the first look in (since, until] that says stop; None where none does.

        ``path`` has the discoveries of a campaign up to ``until``, be they only expected, as ones
        that become rarer: from the look that says stop on, all are taken to.
        """
        return self._first_stop(path, since, self.look(until) - self.look(since))

    def _first_stop(self, path: Observation, since: int, most: int) -> int | None:
        """By steps that double, and then by halving, at most so many looks after ``since``.

        What is only expected has no bursts: they are taken to be as they were until then.
        """
        now, behind, ahead = self.look(since), 0, 1
        most = min(most, self.look(MOST_INPUTS) - now)
        scatter = scatter_of(_cut(path, since)) if path.discoveries is not None else None
        while ahead <= most and not self._stops(path, now + ahead, scatter):
            behind, ahead = ahead, 2 * ahead
        if ahead > most:
            if behind >= most or not self._stops(path, now + most, scatter):
                return None
            ahead = most
        while ahead - behind > 1:
            middle = (ahead + behind) // 2
            if self._stops(path, now + middle, scatter):
                ahead = middle
            else:
                behind = middle
        return self.inputs_at(now + ahead)

    def _too_early(self, n: int) -> str:
        return (
            f"No stop is possible before {self.first_look:,} inputs, even if none finds anything; "
            f"so far there are {n:,}."
        )

    def _stops(self, path: Observation, look: int, scatter: float | None) -> bool:
        then = _cut(path, self.inputs_at(look))
        return (self.bound_at(then, look, scatter).high or 0.0) < self.risk

    def __call__(self, observation: Observation, since: int = 0) -> Decision:
        """Decide, if a look lies between ``since`` and the present n.

        None does where there are fewer inputs than then: a look is not had twice.
        """
        n = observation.n
        look = self.look(n)
        if look == 0:
            return Decision(False, "accepted-risk", self._too_early(n), n)
        if look <= self.look(since):
            due = self.next_look(max(n, since))
            return Decision(False, "accepted-risk", f"Next look at {due:,} inputs.", n)
        estimate = self.bound_at(observation, look)
        high = estimate.high or 0.0
        if high < self.risk:
            # The same bound as in every table: that of this look is higher.
            shown = find(self.estimator)(observation, self.confidence).high or high
            bound = upper_bound(min(shown, high), self.risk)
            return Decision(
                True,
                "accepted-risk",
                f"The probability that the next input shows anything new is at most {bound}, below "
                f"the accepted risk {self.risk:g}, with {self.confidence:.0%} confidence after "
                f"{many(n, 'input')} (estimate {estimate.value:.2g}, {estimate.method}). A new bug "
                "is at most as likely, if each first shows together with something new.",
                n,
                estimate,
            )
        return Decision(
            False,
            "accepted-risk",
            f"At its latest look, after {many(n, 'input')}, the discovery probability is at most "
            f"{upper_bound(high, self.risk)} at the confidence of a look, which is not "
            f"below the accepted risk {self.risk:g}.",
            n,
            estimate,
        )


def _cut(path: Observation, n: int) -> Observation:
    """With the discoveries up to n alone."""
    times = path.discoveries
    known = None if times is None else times[: times.searchsorted(n, side="right")]
    return replace(path, n=n, discoveries=known)


@dataclass(frozen=True, slots=True)
class InputBudget:
    """Stop after that many inputs."""

    inputs: int

    def __call__(self, observation: Observation, since: int = 0) -> Decision:  # noqa: ARG002
        """Decide."""
        n = observation.n
        return Decision(
            n >= self.inputs, "input-budget", f"{n:,} of {self.inputs:,} inputs are used.", n
        )


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Stop after that many seconds."""

    seconds: float

    def __call__(self, observation: Observation, since: int = 0) -> Decision:  # noqa: ARG002
        """Decide; without a clock it cannot, and says so."""
        if observation.seconds is None:
            raise NotEstimable("A time budget needs the time of the observation (field seconds).")
        used = observation.seconds
        return Decision(
            used >= self.seconds,
            "time-budget",
            f"{used:,.0f} of {self.seconds:,.0f} seconds are used.",
            observation.n,
        )


@dataclass(frozen=True, slots=True)
class NoDiscovery:
    """Stop when nothing new was found for that many inputs, or for that many seconds."""

    inputs: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Exactly one of the two is to be given."""
        if (self.inputs is None) == (self.seconds is None):
            raise BadInput("A rule for no discovery needs a number of inputs or of seconds.")

    def __call__(self, observation: Observation, since: int = 0) -> Decision:  # noqa: ARG002
        """Decide."""
        times = need_discoveries(observation)
        n = observation.n
        if self.inputs is not None:
            quiet = n - int(times[-1]) if len(times) else n
            detail = f"Nothing new in the last {many(quiet, 'input')} (limit {self.inputs:,})."
            return Decision(quiet >= self.inputs, "no-discovery", detail, n)
        last = observation.last_discovery_seconds if len(times) else 0.0
        if observation.seconds is None or last is None or self.seconds is None:
            raise NotEstimable(
                "No discovery for some time needs the times of the observation and of its latest "
                "discovery (fields seconds and last_discovery_seconds)."
            )
        silent = observation.seconds - last
        detail = f"Nothing new in the last {silent:,.0f} seconds (limit {self.seconds:,.0f})."
        return Decision(silent >= self.seconds, "no-discovery", detail, n)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Stop as soon as one of the rules does; its decision is the reason."""

    rules: tuple[StopRule, ...]

    def __call__(self, observation: Observation, since: int = 0) -> Decision:
        """Decide."""
        decisions = [rule(observation, since) for rule in self.rules]
        for decision in decisions:
            if decision.stop:
                return decision
        return _joined(False, decisions, observation.n)


@dataclass(frozen=True, slots=True)
class AllOf:
    """Stop only when all of the rules do."""

    rules: tuple[StopRule, ...]

    def __call__(self, observation: Observation, since: int = 0) -> Decision:
        """Decide; without any rule there is no reason to stop."""
        decisions = [rule(observation, since) for rule in self.rules]
        stop = bool(decisions) and all(d.stop for d in decisions)
        return _joined(stop, decisions, observation.n)


def _joined(stop: bool, decisions: list[Decision], n: int) -> Decision:
    deciding = [d for d in decisions if d.stop == stop]
    estimate = next((d.estimate for d in deciding if d.estimate is not None), None)
    return Decision(
        stop,
        "+".join(d.reason for d in deciding) or "none",
        " ".join(d.detail for d in deciding) or "No rule was given.",
        n,
        estimate,
    )
