"""The targets of a campaign: who waits, who is retired, who is broken, and who comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fuzzwise.campaign.changes import glance, signature
from fuzzwise.campaign.failures import NO_FAILURES, Failures, failures
from fuzzwise.campaign.finished import NO_LOOK
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.judge import Judgement
from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.store.contract import Store, TargetMemory
from fuzzwise.store.states import BROKEN, RETIRED, WAITING

RETRY = 60.0
"""Seconds until a broken target gets another try, at least; doubled each time it fails again."""

RETRIES_TAKE = 0.02
"""Share of all cores that the tries of broken targets may take together: the others get the rest.

A target that fails after half a minute, because it never starts, is tried seldom."""

EMPTY_TURNS = 3
"""Turns in a row without an input after which a target is broken, whatever its engine says."""

Write = Callable[[Callable[[Store, float], None]], None]


@dataclass
class Member:
    """A target, and what the manager keeps in mind of it."""

    arm: int
    plan: TargetPlan
    state: str = WAITING
    generation: str = ""
    looked: int = 0
    signature: str = ""
    seen: tuple[object, ...] = ()
    problem: str = ""
    retry_at: float = float("inf")
    retry_after: float = RETRY
    empty_turns: int = 0
    is_on_trial: bool = False
    _failed: Failures | None = NO_FAILURES
    _said: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Its name."""
        return self.plan.name

    @cached_property
    def finds_coverage(self) -> bool:
        """Whether its species are coverage."""
        return engine_named(self.plan.parts[0].engine).finds_coverage

    def works(self) -> None:
        """It ran inputs, without a problem."""
        self.retry_after = RETRY
        self.empty_turns = 0
        self.is_on_trial = False

    def failed(self, totals: Totals) -> Failures:
        """How often it has failed since this was asked before.

        Of what it had shown before a campaign went on, nobody knows when it came: that is left out.
        """
        now = failures(totals)
        before, self._failed = self._failed or now, now
        return now.since(before)

    def forget_failures(self) -> None:
        """It goes on from an earlier run: what is told next is the measure of what comes after."""
        self._failed = None

    def look(self, generation: str, judgement: Judgement) -> tuple[int, float | None] | None:
        """What there is to be remembered of the stop rule's look: inputs, the risk's upper end.

        None where it had none, and the counts are those that it last looked at.
        """
        decision = judgement.decision
        if judgement.looked and decision and decision.estimate:
            return decision.n, decision.estimate.high
        return NO_LOOK if generation != self.generation else None

    def not_said(self, sentences: Iterable[str]) -> list[str]:
        """Those that were not said before; numbers in them do not make another sentence."""
        fresh = []
        for sentence in sentences:
            words = re.sub(r"\d[\d,.]*", "#", sentence)
            if words not in self._said:
                self._said.add(words)
                fresh.append(sentence)
        return fresh


class Roster:
    """All members; a change of state goes to the scheduler and to the store."""

    def __init__(
        self,
        plan: CampaignPlan,
        scheduler: Scheduler,
        write: Write,
    ) -> None:
        self.members = [Member(arm, target) for arm, target in enumerate(plan.targets)]
        self.by_name = {member.name: member for member in self.members}
        self._scheduler = scheduler
        self._write = write
        self._cores = plan.cores

    def count(self, state: str) -> int:
        """How many targets are in a state."""
        return sum(member.state == state for member in self.members)

    def remember(self, memory: Mapping[str, TargetMemory]) -> None:
        """Go on from what an earlier run knew; what was broken gets another try, one by one."""
        for member in self.members:
            known = memory[member.name]
            member.generation, member.looked = known.generation, known.looked
            member.signature = known.signature
            if known.seconds > 0:
                self._scheduler.recall(member.arm, _recalled(member, known))
                member.forget_failures()
                self._scheduler.not_yet(member.arm)
            if known.state == BROKEN:
                member.state, member.retry_at = BROKEN, 0.0
                member.seen, member.signature = glance(member.plan), signature(member.plan)
                self._scheduler.pause(member.arm)
            elif known.state == RETIRED:
                member.state = RETIRED
                member.seen = glance(member.plan)
                self._scheduler.pause(member.arm)
                if why := self._why_return(member, known):
                    self._return(member, why)
        self._try_again(0.0)

    def took(self, member: Member, generation: str, judgement: Judgement) -> None:
        """A member had a turn, which the store knows of: perhaps its risk is low enough now."""
        if look := member.look(generation, judgement):
            member.looked, _ = look
        member.generation = generation
        if judgement.looked and judgement.decision and judgement.decision.stop:
            self._retire(member, judgement.decision.detail)

    def idled(self, member: Member, now: float, cost: float) -> None:
        """A member had a turn without an input, on cores for ``cost`` seconds."""
        member.empty_turns += 1
        if member.empty_turns >= EMPTY_TURNS:
            problem = f"It has run no input in {EMPTY_TURNS} turns in a row."
            self.broke(member, problem, self.retry_at(member, now, cost))

    def was_late(self, name: str, seconds: float) -> None:
        """The time was over, so long after the start of a member that has never run an input."""
        member = self.by_name[name]
        if member.state != BROKEN:
            problem = (
                f"It had run no input at the end of the time, {seconds:.0f} s after its start."
            )
            self.broke(member, problem, float("inf"))

    def retry_at(self, member: Member, now: float, cost: float) -> float:
        """When a member that failed, after so long on cores, gets its next try."""
        others = sum(other.state == BROKEN and other is not member for other in self.members)
        rest = cost * (others + 1) / (RETRIES_TAKE * self._cores)
        return now + max(member.retry_after, rest)

    def broke(self, member: Member, problem: str, retry_at: float) -> None:
        """A member cannot be fuzzed; said once, tried again then, or when its files change."""
        member.seen, member.signature = glance(member.plan), signature(member.plan)
        member.retry_at = retry_at
        member.retry_after *= 2
        member.empty_turns, member.is_on_trial = 0, False
        self._scheduler.not_yet(member.arm)  # its next try, when it is due, comes first
        self._scheduler.pause(member.arm)
        self._set_state(member, BROKEN, "broken", problem)
        if member.not_said([problem]):
            self._write(lambda store, at: store.event(at, "broken", member.name, problem))

    def look_around(self, now: float) -> None:
        """Bring back who has new files, and who is due for another try."""
        self._try_again(now)
        for member in self.members:
            if member.state != WAITING and (seen := glance(member.plan)) != member.seen:
                member.seen = seen
                if (new := signature(member.plan)) not in ("", member.signature):
                    member.signature = new
                    self._return(member, "Its program or its corpus has changed.")

    def _try_again(self, now: float) -> None:
        """Bring back who is due, one at a time: those that run do not wait for all of them."""
        due = [m for m in self.members if m.state == BROKEN and now >= m.retry_at]
        others = [m for m in self.members if m.state == WAITING]
        one = [] if any(m.is_on_trial for m in others) else due[:1]
        for member in one if others else due:
            member.retry_at, member.is_on_trial = float("inf"), True
            self._set_state(member, WAITING, "", "")
            self._scheduler.resume(member.arm)

    def _why_return(self, member: Member, known: TargetMemory) -> str:
        accepted = member.plan.accepted_risk
        if accepted is None:
            return "No risk is accepted any more."
        if known.looked_high is None or known.looked_high >= accepted:
            return f"The accepted risk is {accepted:g} now."
        if signature(member.plan) not in ("", known.signature):
            return "Its program or its corpus has changed."
        return ""

    def _retire(self, member: Member, detail: str) -> None:
        member.seen, member.signature = glance(member.plan), signature(member.plan)
        mark = member.signature
        self._scheduler.pause(member.arm)
        self._set_state(member, RETIRED, "accepted-risk", detail)
        self._write(lambda store, _: store.set_signature(member.name, mark))
        self._write(lambda store, at: store.event(at, "retired", member.name, detail))

    def _return(self, member: Member, why: str) -> None:
        self._set_state(member, WAITING, "", "")
        self._write(lambda store, at: store.event(at, "returned", member.name, why))
        self._scheduler.resume(member.arm)

    def _set_state(self, member: Member, state: str, reason: str, detail: str) -> None:
        member.state = state
        if state == BROKEN:
            member.problem = detail
        self._write(lambda store, _: store.set_state(member.name, state, reason, detail))


def _recalled(member: Member, known: TargetMemory) -> EpochResult:
    """All that an earlier run knew, as if it had come of one epoch."""
    weight = member.plan.weight
    rate = known.discovery_rate * weight
    expected = known.discovery_rate * known.seconds
    return EpochResult(
        runs=known.inputs,
        seconds=known.seconds / weight,
        bugs=known.bugs,
        new_bugs=known.new_bugs,
        singletons=known.singletons,
        kept=known.corpus if member.finds_coverage else 0,
        discovery_rate=rate if member.finds_coverage else 0.0,
        recent_bugs=0,  # when they were found is not remembered
        species=known.species if member.finds_coverage else 0,
        discoveries=known.discoveries if member.finds_coverage else 0,
        # Nor is the last discovery: by the rate, they were so far apart.
        runs_since=round(known.inputs / max(1.0, expected)) if member.finds_coverage else 0,
    )
