"""A campaign on one target at work: what it shows, and what ends it; the same for every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.stopping import AcceptedRisk, Decision
from fuzzwise.triage.bug_book import Bug


class NothingYet(BadInput):
    """The campaign was interrupted before its first input."""


@dataclass
class Progress:
    """The campaign at one moment, for whoever watches."""

    observation: Observation
    corpus: int
    bugs: tuple[Bug, ...]
    lost: int = 0
    measuring: bool = False
    decision: Decision | None = None
    stopped: Decision | None = None
    warnings: tuple[str, ...] = ()


class Supervisor(Protocol):
    """Keeps a campaign on one target going."""

    @property
    def resumed(self) -> bool:
        """Whether the folder held a campaign already."""
        ...

    def run(self, watch: Callable[[Progress], None]) -> Progress:
        """Fuzz until a limit says stop, or ``interrupt`` is called."""
        ...

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        ...


@dataclass(frozen=True)
class Limits:
    """What ends a campaign: a risk that is accepted, a number of inputs, or seconds."""

    accepted_risk: float | None = None
    confidence: float = 0.95
    inputs: int | None = None
    seconds: float | None = None


class Judge:
    """Holds a campaign against its limits; ``since`` is the n at which it last asked the rule.

    ``held_back``: why the rule's stop does not count yet, "" where it has not said stop.
    """

    def __init__(self, limits: Limits, since: int = 0) -> None:
        self._limits = limits
        self.since = since
        self.latest: Decision | None = None
        self.held_back = ""

    def __call__(
        self,
        observation: Observation,
        seconds: float,
        *,
        measuring: bool = False,
        unsettled: str = "",
    ) -> Decision | None:
        """The reason to stop now, if there is one.

        ``unsettled``: why a low risk is not to be accepted yet, if so.
        """
        limits, n = self._limits, observation.n
        if limits.accepted_risk is not None and not measuring:
            rule = AcceptedRisk(limits.accepted_risk, limits.confidence)
            decision = rule(observation, self.since)
            self.held_back = unsettled if decision.stop else ""
            if not self.held_back:
                self.since = n
                if decision.estimate is not None:
                    self.latest = decision
                if decision.stop:
                    return decision
        if limits.inputs is not None and n >= limits.inputs and not measuring:
            detail = f"The budget of {limits.inputs:,} inputs is used."
            return Decision(True, "input-budget", detail, n)
        if limits.seconds is not None and seconds >= limits.seconds:
            detail = f"The budget of {limits.seconds:,.0f} seconds is used."
            return Decision(True, "time-budget", detail, n)
        return None


def interrupted(n: int) -> Decision:
    """The user has asked it to stop."""
    return Decision(True, "interrupted", "Interrupted by the user; all counts are kept.", n)
