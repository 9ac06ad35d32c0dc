"""A campaign of one target, as ``fuzzwise fuzz`` runs it: one long turn, judged while it lasts.

It has the same parts as a campaign of many: a session in an executor, the judge, a store. There is
nothing to schedule, so that the turn is as long as the limits allow; the store gets an epoch every
few seconds, so that the history of the target is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path

from fuzzwise.campaign.executor import Executor, Result, Turn
from fuzzwise.campaign.finished import NO_LOOK, finished, on_cores, run_entry
from fuzzwise.campaign.places import bug_found
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.contract import NothingYet, TargetPlan, Totals
from fuzzwise.engines.leftovers import Guard
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.judge import Judgement, Terms, hold_back, judge
from fuzzwise.store.contract import Choice, FinishedTurn, Store, StoreFull
from fuzzwise.store.places import open_store
from fuzzwise.store.states import ALONE, BROKEN, RETIRED, WAITING, Stopped
from fuzzwise.text import many
from fuzzwise.triage.workers import Workers

TICK = 0.1
"""Seconds between two looks at the counts."""

EPOCH = 10.0
"""Seconds between two entries in the store."""

LAST_WORDS = 10.0
"""Seconds that the turn has to end once it is asked to."""

LAST_LOOK = 60.0
"""Seconds to examine, in the end, crashes that are not examined yet."""


@dataclass(frozen=True)
class Limits:
    """What ends it: a risk that is accepted, inputs in all, or seconds of this call."""

    terms: Terms = field(default_factory=Terms)
    inputs: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Standing:
    """The target at one moment; in the end, with the judgement that the stop rests on."""

    totals: Totals
    judgement: Judgement
    stopped: Stopped | None = None


class Single:
    """One call of ``fuzzwise fuzz``."""

    def __init__(self, plan: TargetPlan, folder: Path, limits: Limits, seed: int = 1) -> None:
        self._plan = plan
        self._folder = folder.absolute()
        self._limits = limits
        self._seed = seed
        self.is_interrupted = False
        self.latest = Totals.nothing()
        """The target as it was last seen."""
        self._generation, self._looked = "", 0
        self._deadline = inf
        self._before = Totals.nothing()

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self.is_interrupted = True

    def run(self, going_on: Callable[[], None], watch: Callable[[Standing], None]) -> Standing:
        """Fuzz until a limit says stop; how it stands then.

        ``going_on`` is called where the folder holds counts already, ``watch`` several times a
        second. BadInput where the target cannot be fuzzed, NothingYet where it was interrupted
        before its first input.
        """
        plan, folder = self._plan, self._folder
        with open_store(folder) as store, Guard(folder):
            self._check(store)
            with Workers(max(1, plan.jobs)) as workers:
                session = engine_named(plan.engine).open_session(plan, folder, self._seed, workers)
                executor = Threads({plan.name: session}, plan.jobs)
                before = executor.totals(plan.name)
                if before is not None and before.observation.n > 0:
                    going_on()
                book = _Book(store, plan, folder, self._limits)
                book.begin(before)
                self._generation, self._looked = book.looked(before)
                try:
                    return self._fuzz(executor, book, before, watch)
                except BadInput as problem:
                    book.fail(str(problem))
                    raise
                finally:
                    executor.close(1.0 if self.is_interrupted else LAST_LOOK)

    def _check(self, store: Store) -> None:
        """Refuse a folder that holds another campaign; one without an input is taken over."""
        known = store.memory() if store.has_runs() else {}
        if not any(memory.inputs for memory in known.values()):
            return
        if store.state().scheduler != ALONE:
            raise BadInput(
                f"{self._folder} holds a campaign of `fuzzwise run`. Use another folder with --out."
            )
        if self._plan.name not in known:
            raise BadInput(
                f"{self._folder} holds a campaign of {' and '.join(known)}, and the target is "
                f"{self._plan.name}. Use another folder with --out."
            )

    def _fuzz(
        self,
        executor: Executor,
        book: _Book,
        before: Totals | None,
        watch: Callable[[Standing], None],
    ) -> Standing:
        self._before = before or Totals.nothing()
        left = inf if self._limits.seconds is None else self._limits.seconds
        self._deadline = time.monotonic() + left
        if left > 0:
            executor.start(Turn(self._plan.name, book.epoch, left, self._plan.jobs))
        while True:
            result = self._wait(executor, left > 0)
            now = result.totals if result else executor.totals(self._plan.name)
            if result is None and _is_same(now, before) and not (now and now.doing):
                now = None  # nothing is told yet: what was known may be of another build
            self.latest = now or self.latest
            standing = self._look(now or Totals.nothing(), book, ended=result is not None)
            if now is not None and (now.observation.n or now.doing):
                watch(standing)
            if standing.stopped:
                return self._end(executor, book, standing, result)
            if now is not None:
                book.write(now, standing.judgement)

    def _wait(self, executor: Executor, has_turn: bool) -> Result | None:
        """The end of the turn, if it comes within a tick; BadInput where it went wrong."""
        if not has_turn:
            return Result(Turn(self._plan.name, 0, 0.0, 0), executor.totals(self._plan.name))
        found = executor.wait(TICK)
        if found and found[0].problem:
            raise BadInput(found[0].problem)
        return found[0] if found else None

    def _look(self, totals: Totals, book: _Book, *, ended: bool) -> Standing:
        if totals.observation.n and totals.generation != self._generation:
            self._generation, self._looked = totals.generation, 0
        judgement = judge(
            totals.observation,
            self._limits.terms,
            looked=self._looked,
            unsettled=totals.unsettled,
        )
        said = ("", totals.doing, *totals.warnings)
        if judgement.held_back not in said:
            totals = replace(totals, warnings=(*totals.warnings, judgement.held_back))
        if judgement.looked and judgement.decision and judgement.decision.estimate:
            self._looked = totals.observation.n
            book.look(totals.generation, self._looked, judgement.decision.estimate.high)
        return Standing(totals, judgement, self._stopped(totals, judgement, ended))

    def _stopped(self, totals: Totals, judgement: Judgement, ended: bool) -> Stopped | None:
        limits, n = self._limits, totals.observation.n
        if judgement.reached and judgement.decision:
            return Stopped("accepted-risk", judgement.decision.detail)
        if limits.inputs is not None and n >= limits.inputs and (ended or not totals.doing):
            return Stopped("input-budget", self._inputs_used(totals, limits.inputs))
        if self.is_interrupted:
            return Stopped("interrupted", "Interrupted by the user; all counts are kept.")
        used = self._used(totals)
        is_late = time.monotonic() >= self._deadline or used >= (limits.seconds or inf)
        if limits.seconds is not None and (ended or is_late):
            return Stopped(
                "time-budget", f"The budget of {many(round(limits.seconds), 'second')} is used."
            )
        if ended:
            return Stopped("ended", "The target ended by itself.")
        return None

    def _used(self, totals: Totals) -> float:
        """Seconds of this call: new counts have no others."""
        seconds = totals.observation.seconds or 0.0
        if totals.generation == self._before.generation:
            return seconds - (self._before.observation.seconds or 0.0)
        return seconds

    def _inputs_used(self, totals: Totals, budget: int) -> str:
        if _is_same(totals, self._before):
            return (
                f"The budget of {budget:,} inputs in all was used by earlier calls: nothing was "
                "fuzzed now. Ask for more of them with --inputs."
            )
        return f"The budget of {budget:,} inputs is used."

    def _end(
        self, executor: Executor, book: _Book, standing: Standing, result: Result | None
    ) -> Standing:
        """Let the turn end, and everything be examined; what was judged stays as it was judged."""
        executor.interrupt()
        deadline = time.monotonic() + LAST_WORDS
        while executor.running and time.monotonic() < deadline:
            executor.wait(deadline - time.monotonic())
        executor.close(1.0 if self.is_interrupted else LAST_LOOK)
        final = executor.totals(self._plan.name) or (result and result.totals) or standing.totals
        assert standing.stopped is not None
        if final.observation.n == 0:
            raise NothingYet(_nothing_ran(self._plan, standing))
        if standing.stopped.reason == "accepted-risk":
            # Inputs were still counted after the look. What is told is what the stop rests on.
            final = replace(final, observation=standing.judgement.observation)
            judgement = standing.judgement
        else:
            judgement = judge(final.observation, self._limits.terms, looked=final.observation.n)
            if why := standing.judgement.held_back:
                judgement = hold_back(judgement, why)
        final = replace(final, warnings=standing.totals.warnings or final.warnings, doing="")
        book.end(final, judgement, standing.stopped)
        return Standing(final, judgement, standing.stopped)


def _nothing_ran(plan: TargetPlan, standing: Standing) -> str:
    """Why there is nothing to show, with what it was doing and what is known to be wrong."""
    totals, stopped = standing.totals, standing.stopped
    said = [totals.doing, *totals.warnings]
    why = f" ({'; '.join(filter(None, said))})" if any(said) else ""
    end = stopped.detail if stopped else ""
    return f"{plan.program} has not run a single input{why}. {end}".strip()


def _is_same(now: Totals | None, before: Totals | None) -> bool:
    """Whether nothing was counted since."""
    if now is None or before is None:
        return now is before
    return (now.generation, now.observation.n) == (before.generation, before.observation.n)


class _Book:
    """What the store is told of the one target."""

    def __init__(self, store: Store, plan: TargetPlan, folder: Path, limits: Limits) -> None:
        self._store = store
        self._plan = replace(plan, accepted_risk=limits.terms.accepted_risk)
        self._folder = folder
        self._limits = limits
        self._began = time.monotonic()
        self._before = store.seconds()
        self._next = EPOCH
        self._stored = ""
        self._look = ("", NO_LOOK)
        self.epoch = 0

    def begin(self, known: Totals | None) -> None:
        """A new run; what the folder knows and the store does not is taken up."""
        limits, plan = self._limits, self._plan
        campaign = CampaignPlan(
            *(plan.name, self._folder, (plan,), limits.seconds, plan.jobs, ALONE, EPOCH),
            confidence=limits.terms.confidence,
        )
        has_ended = self._store.has_ended()
        budget = None if limits.seconds is None else self._before + limits.seconds
        self._store.begin_run(run_entry(campaign, budget))
        if self._before > 0:
            self._event("resumed", "The campaign goes on.")
        for note in self._store.notes:
            self._event("recovered", note)
        self._store.set_state(plan.name, WAITING, "", "")
        if known is not None and not has_ended:
            self.looked(known)
            judgement = judge(known.observation, limits.terms, looked=known.observation.n)
            self._store.recover(self._now, plan.name, self._finished(known, judgement))
        self.epoch = self._store.start_epoch(self._now, plan.name, Choice("the only target"))

    def looked(self, known: Totals | None) -> tuple[str, int]:
        """The present counts, and the inputs at the stop rule's last look at them."""
        memory = self._store.memory()[self._plan.name]
        self._stored = memory.generation
        if known is None or known.generation != memory.generation:
            return "", 0
        self._look = memory.generation, (memory.looked, memory.looked_high)
        return memory.generation, memory.looked

    def look(self, generation: str, n: int, high: float | None) -> None:
        """The stop rule had a look; of new counts, the store learns it together with them."""
        self._look = generation, (n, high)
        if generation == self._stored:
            self._store.set_looked(self._plan.name, n, high)

    def write(self, totals: Totals, judgement: Judgement) -> None:
        """Every now and then, and with new counts, an epoch ends, and the next one begins."""
        is_new = totals.observation.n > 0 and totals.generation != self._stored
        if time.monotonic() - self._began < self._next and not is_new:
            return
        self._next += 0 if is_new else EPOCH
        self._store.finish_epoch(self.epoch, self._now, self._finished(totals, judgement))
        self.epoch = self._store.start_epoch(self._now, self._plan.name, Choice("it goes on"))

    def end(self, totals: Totals, judgement: Judgement, stopped: Stopped) -> None:
        """The run has ended."""
        store, name = self._store, self._plan.name
        store.finish_epoch(self.epoch, self._now, self._finished(totals, judgement))
        if stopped.reason == "accepted-risk":
            store.set_state(name, RETIRED, stopped.reason, stopped.detail)
            store.event(self._now, "retired", name, stopped.detail)
        self._event("stopped", stopped.detail)
        store.end_run(self._now, stopped)

    def fail(self, problem: str) -> None:
        """The target could not be fuzzed; a store that is full as well says no more."""
        with suppress(StoreFull):
            self._store.fail_epoch(self.epoch, self._now)
            self._store.set_state(self._plan.name, BROKEN, "broken", problem)
            self._event("stopped", problem)
            self._store.end_run(self._now, Stopped("nothing-to-fuzz", problem))

    @property
    def _now(self) -> float:
        """Seconds of the campaign."""
        return self._before + time.monotonic() - self._began

    def _event(self, kind: str, detail: str) -> None:
        self._store.event(self._now, kind, "", detail)

    def _finished(self, totals: Totals, judgement: Judgement) -> FinishedTurn:
        """What the store takes of it, with the latest look at the same counts.

        A view of this call tells time by the clock; the store, of any target, time on cores.
        """
        place = partial(bug_found, self._folder, self._folder, self._plan)
        generation, look = self._look
        self._stored = totals.generation
        look = look if generation == totals.generation else NO_LOOK
        return replace(finished(totals, on_cores(judgement, totals), place), looked=look)
