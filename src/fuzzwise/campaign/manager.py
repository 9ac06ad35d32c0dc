"""The loop that ties engines, scheduler, stop rule and store together.

On every free core the scheduler's choice gets an epoch. What comes of it goes to the store, to the
scheduler and to the target's stop rule; a target whose risk is accepted is retired, and its time
goes to the others. One thread, the caller's, makes all decisions; turns run in others.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fuzzwise.campaign.executor import Executor, Result, Turn
from fuzzwise.campaign.finished import (
    NO_LOOK,
    finished,
    judged,
    recent_bugs,
    run_entry,
    runs_since_discovery,
)
from fuzzwise.campaign.places import bug_found, target_folder
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.roster import Member, Roster
from fuzzwise.engines.contract import Totals
from fuzzwise.engines.starting import EXECUTING, SOON
from fuzzwise.judge import Judgement, Terms
from fuzzwise.schedulers.base import LEAST_LOOK, EpochResult, Scheduler
from fuzzwise.schedulers.registry import policies
from fuzzwise.store.contract import Added, Choice, FinishedTurn, Store, StoreFull
from fuzzwise.store.states import BROKEN, RETIRED, WAITING, CampaignState, EventState, Stopped
from fuzzwise.text import many

TICK = 0.25
"""Seconds between two looks at what is going on."""

SAVE_EVERY = 1.0
LOOK_EVERY = 5.0
"""Seconds between two looks for changed programs and corpora, and at the disk."""

LEAST_SPACE = 16 << 20
"""Free bytes on the disk below which no epoch is started."""

NO_SPACE = f"The disk is full: no epoch starts until {LEAST_SPACE >> 20} MiB are free."

LEAST_TURN = 0.1
"""Seconds below which a turn at the end of the budget is not worth its start."""

LAST_WORDS = 1.5
"""Seconds that turns have to end once they are asked to."""

_NO_SPACE = os.strerror(errno.ENOSPC)


@dataclass(frozen=True)
class _Chosen:
    """Who is to have a turn, why, for how long and on how many cores."""

    member: Member
    why: Choice
    seconds: float
    cores: int


@dataclass(frozen=True)
class _Look:
    """A result with what is known after it; None where nothing is."""

    result: Result
    member: Member
    totals: Totals | None = None
    judgement: Judgement | None = None
    turn: FinishedTurn | None = None


class Manager:
    """A campaign at work."""

    def __init__(
        self,
        plan: CampaignPlan,
        store: Store,
        executor: Executor,
        clock: Callable[[], float] = time.monotonic,
        last_words: float = LAST_WORDS,
    ) -> None:
        """``executor`` can run each target of the plan; ``clock`` never goes back.

        ``last_words``: seconds that turns have to end once they are asked to.
        """
        self._plan = plan
        self._store = store
        self._executor = executor
        self._clock = clock
        self._last_words = last_words
        rng = np.random.default_rng(plan.seed)
        self._scheduler = Scheduler(policies()[plan.scheduler], len(plan.targets), rng)
        self._roster = Roster(plan, self._scheduler, self._write)
        self._results: deque[Result] = deque()
        self._writes: deque[Callable[[Store, float], None]] = deque()
        self._no_space = False
        self._notice: EventState | None = None
        self._interrupted = False
        self._made = 0
        self._before = 0.0
        self._start = clock()

    def interrupt(self) -> None:
        """End soon, and keep everything."""
        self._interrupted = True

    def state(self) -> CampaignState:
        """The campaign as it is now, with what could not be written down yet."""
        state = self._store.state()
        return replace(state, events=(*state.events, self._notice)) if self._notice else state

    def run(
        self,
        seconds: float | None,
        watch: Callable[[], None],
        broken: Mapping[str, str] | None = None,
        notes: Mapping[str, Sequence[str]] | None = None,
    ) -> Stopped:
        """Fuzz for so long, or as long as the budget allows, or until nothing is left to do.

        ``watch`` is called several times a second; ``broken`` has targets that cannot be fuzzed,
        with the reason; ``notes`` are sentences about targets that were made ready.
        """
        plan, store = self._plan, self._store
        self._before, self._start = store.seconds(), self._clock()
        budget = plan.budget if seconds is None else self._before + seconds
        has_ended = store.has_ended()
        store.begin_run(run_entry(plan, budget))
        if self._before > 0:
            self._event("resumed", "", "The campaign goes on.")
        for note in store.notes:
            self._event("recovered", "", note)
        self._recover(everything=not has_ended)
        self._roster.remember(store.memory())
        for name, problem in (broken or {}).items():
            # Only another program can help where the build failed.
            self._roster.broke(self._roster.by_name[name], problem, float("inf"))
        for name, sentences in (notes or {}).items():
            for sentence in sentences:
                self._event("warning", name, sentence)
        used = budget is not None and self._before >= budget
        stopped = self._loop(budget, watch)
        stopped = self._end(stopped, used=used)
        watch()
        return stopped

    @property
    def _now(self) -> float:
        """Seconds of the campaign."""
        return self._before + self._clock() - self._start

    # ── the loop ──────────────────────────────────────────────────────────────────────────────

    def _loop(self, budget: float | None, watch: Callable[[], None]) -> Stopped:
        next_save = next_look = self._now
        while True:
            now = self._now
            if stopped := self._over(budget, now):
                return stopped
            if now >= next_look:
                next_look = now + LOOK_EVERY
                self._look_at_disk()
                self._roster.look_around(now)
            if now >= next_save:
                next_save = now + SAVE_EVERY
                self._write(lambda store, at: store.tick(at))
                self._look_at_turns()
            self._tell_news()
            self._start_turns(budget)
            watch()
            left = TICK if budget is None else min(TICK, max(0.0, budget - self._now))
            self._wait(left)
            self._take_results()

    def _over(self, budget: float | None, now: float) -> Stopped | None:
        if self._interrupted:
            return Stopped("interrupted", "Interrupted by the user; everything is kept.")
        if budget is not None and now >= budget:
            return Stopped("time-budget", f"The time of {many(round(budget), 'second')} is used.")
        if self._executor.running or self._results or self._roster.count(WAITING):
            return None
        broken, retired = self._roster.count(BROKEN), self._roster.count(RETIRED)
        if not retired:
            return Stopped("nothing-to-fuzz", "No target can be fuzzed.")
        but = f", but {broken} cannot be fuzzed" if broken else ""
        return Stopped(
            "all-retired", f"The risk of {many(retired, 'target')} is as low as accepted{but}."
        )

    def _start_turns(self, budget: float | None) -> None:
        """Give out the cores that are free; those that become free meanwhile come next time."""
        now = self._now
        chosen = self._chosen(budget, now)
        choices = [(one.member.name, one.why) for one in chosen]
        try:
            epochs = self._store.start_epochs(now, choices)
        except StoreFull:
            for one in chosen:
                self._scheduler.resume(one.member.arm)
            self._run_out_of_space()
            return
        for one, epoch in zip(chosen, epochs, strict=True):
            self._executor.start(Turn(one.member.name, epoch, one.seconds, one.cores))

    def _chosen(self, budget: float | None, now: float) -> list[_Chosen]:
        """Who is to have the cores that are free."""
        scheduler, free = self._scheduler, self._executor.free
        chosen: list[_Chosen] = []
        left = float("inf") if budget is None else budget - now
        if left < max(LEAST_TURN, self._executor.ahead) or self._no_space:
            return chosen  # on cores that are about to be left, it would not even begin
        while free > 0 and scheduler.is_anyone_available():
            arm = scheduler.choose()
            member = self._roster.members[arm]
            scheduler.pause(arm)
            epoch_seconds = self._plan.epoch * member.plan.weight
            look = max(epoch_seconds * scheduler.next_turn(arm), LEAST_LOOK)
            seconds, cores = min(left, epoch_seconds, look), min(member.plan.jobs, free)
            chosen.append(_Chosen(member, self._why(arm), seconds, cores))
            free -= cores
        return chosen

    def _why(self, arm: int) -> Choice:
        """Why a target was chosen."""
        scheduler = self._scheduler
        if scheduler.started(arm) == 1:
            return Choice("first turn")
        belief, best = scheduler.belief(arm), scheduler.next_best(arm)
        if best is None:
            return Choice("no other is free", belief or None)
        other = scheduler.belief(best)
        if belief == 0 and other == 0:
            return Choice(f"turn of {scheduler.policy.name}")
        reason = "expected most" if belief >= other else f"drawn by {scheduler.policy.name}"
        return Choice(reason, belief, self._roster.members[best].name, other)

    def _wait(self, seconds: float) -> None:
        """Wait for results; where the disk is full, that is no problem of their targets."""
        for result in self._executor.wait(seconds):
            is_ours = _NO_SPACE in result.problem or (result.problem and self._lacks_space())
            if is_ours:
                self._run_out_of_space()
            self._results.append(replace(result, problem="") if is_ours else result)

    # ── results ───────────────────────────────────────────────────────────────────────────────

    def _take_results(self) -> None:
        """Save what came of turns, in order; on a full disk they wait."""
        try:
            self._save_results()
            while self._writes:
                self._writes[0](self._store, self._now)
                self._writes.popleft()
        except StoreFull:
            self._run_out_of_space()

    def _save_results(self) -> None:
        """All of them at once; nobody learns of one before it is kept."""
        if not self._results:
            return
        looks = [self._look(result) for result in self._results]
        turns = {look.result.turn.epoch: look.turn for look in looks}
        added = self._store.finish_epochs(self._now, turns)
        for look in looks:
            self._learn(look, added[look.result.turn.epoch])
            self._results.popleft()

    def _look(self, result: Result) -> _Look:
        """What is known after a turn, and what there is to say of it."""
        member = self._roster.by_name[result.turn.target]
        totals = None if result.lost else result.totals or self._executor.totals(member.name)
        if totals is None:
            return _Look(result, member)
        judgement = self._judge(member, totals)
        looked = member.look(totals.generation, judgement)
        turn = replace(self._finished(member, totals, judgement), looked=looked)
        return _Look(result, member, totals, judgement, turn)

    def _learn(self, look: _Look, added: Added) -> None:
        """Take in what a turn has added: the scheduler, the views and the roster."""
        member, result, totals = look.member, look.result, look.totals
        cost = result.took * result.turn.cores
        if totals and look.judgement and look.turn:
            self._scheduler.learn(member.arm, _learned(member, totals, look.judgement, added))
            self._tell(member, look.turn, added.new_bugs)
            self._roster.took(member, totals.generation, look.judgement)
            self._made += added.inputs
        if result.problem:
            at = self._roster.retry_at(member, self._now, cost)
            self._roster.broke(member, result.problem, at)
        elif added.inputs:
            member.works()
        elif not (result.lost or self._no_space or (totals and totals.doing.startswith(EXECUTING))):
            self._roster.idled(member, self._now, cost)
        if member.state == WAITING:
            self._scheduler.resume(member.arm)

    def _judge(self, member: Member, totals: Totals) -> Judgement:
        looked = member.looked if totals.generation == member.generation else 0
        return judged(totals, Terms(member.plan.accepted_risk, self._plan.confidence), looked)

    def _finished(self, member: Member, totals: Totals, judgement: Judgement) -> FinishedTurn:
        folder = self._plan.folder
        home = target_folder(folder, member.name)
        return finished(totals, judgement, partial(bug_found, folder, home, member.plan))

    def _tell(self, member: Member, turn: FinishedTurn, new_bugs: tuple[str, ...]) -> None:
        for bug in (found.bug for found in turn.bugs):
            if bug.id in new_bugs:
                place = f" in {bug.frames[0]}" if bug.frames else ""
                self._event("bug", member.name, f"{bug.kind}{place} ({bug.severity}), {bug.id}")
        for warning in member.not_said(turn.warnings):
            self._event("warning", member.name, warning)

    def _tell_news(self) -> None:
        for sentence in self._executor.news():
            self._event("fleet", "", sentence)

    def _look_at_turns(self) -> None:
        """Tell what cannot wait until the end of a turn: that a target does not start."""
        for turn in self._executor.running:
            member = self._roster.by_name[turn.target]
            totals = self._executor.totals(turn.target)
            for warning in member.not_said(totals.warnings if totals else ()):
                self._event("warning", member.name, warning)

    def _recover(self, *, everything: bool) -> None:
        """Take up what the targets' folders know and the store does not.

        ``everything``: the machine may have gone down, and taken the end of the store with it; or
        the store is new. Otherwise only targets with an epoch under way can know more.
        """
        memory = self._store.memory()
        for member in self._roster.members:
            if not (everything or memory[member.name].in_flight):
                continue
            totals = self._executor.totals(member.name)
            if totals is not None:
                turn = self._finished(member, totals, self._judge(member, totals))
                if totals.generation != memory[member.name].generation:
                    turn = replace(turn, looked=NO_LOOK)  # what is stored is of other counts
                taken = self._store.recover(self._now, member.name, turn)
                self._tell(member, turn, taken.new_bugs)

    def _is_late(self, turn: Turn) -> bool:
        """Whether a turn has gone on for a while without a single input of its target, ever."""
        totals = self._executor.totals(turn.target)
        has_run = totals is not None and totals.observation.n
        return not has_run and self._executor.under_way(turn) >= SOON

    # ── saving ────────────────────────────────────────────────────────────────────────────────

    def _event(self, kind: str, target: str, detail: str) -> None:
        self._write(lambda store, at: store.event(at, kind, target, detail))

    def _write(self, write: Callable[[Store, float], None]) -> None:
        """Write to the store now or, on a full disk, later; always in order."""
        self._writes.append(write)
        if not self._results:
            self._take_results()

    def _look_at_disk(self) -> None:
        if self._lacks_space():
            self._run_out_of_space()
        elif self._no_space:
            self._no_space = False
            self._take_results()

    def _lacks_space(self) -> bool:
        try:
            return shutil.disk_usage(self._plan.folder).free < LEAST_SPACE
        except OSError:
            return False

    def _run_out_of_space(self) -> None:
        """Start no epoch; say so once, also while it cannot be written down."""
        if self._no_space:
            return
        self._no_space = True
        notice = EventState(self._now, "warning", "", NO_SPACE)
        self._notice = notice

        def write(store: Store, _: float) -> None:
            store.event(notice.at, notice.kind, notice.target, notice.detail)
            self._notice = None

        self._write(write)

    def _end(self, stopped: Stopped, *, used: bool) -> Stopped:
        """Let the turns end, and save everything; ``used``: there was no time to begin with."""
        running = self._executor.running
        late = {t.target: self._executor.under_way(t) for t in running if self._is_late(t)}
        self._executor.interrupt()
        deadline = self._clock() + self._last_words
        while self._executor.running and (left := deadline - self._clock()) > 0:
            self._wait(left)
        self._executor.close(max(0.0, deadline - self._clock()))
        self._wait(0.0)
        self._no_space = False
        self._take_results()
        for name, seconds in late.items():
            self._roster.was_late(name, seconds)
        self._tell_news()
        if stopped.reason == "time-budget" and not self._made:
            stopped = Stopped("nothing-ran", _nothing_ran(stopped, used=used))
        self._write(lambda store, at: store.event(at, "stopped", "", stopped.detail))
        self._write(lambda store, at: store.end_run(at, stopped))
        if not self._writes:
            return stopped
        return Stopped(
            stopped.reason,
            f"{stopped.detail} The disk is full: the end of this run could not be saved. Make "
            "space; the next run takes up what the folders of the targets hold.",
        )


def _nothing_ran(stopped: Stopped, *, used: bool) -> str:
    if used:
        return f"{stopped.detail} Raise the budget, or go on for a while with --time."
    return f"No target ran an input. {stopped.detail}"


def _learned(member: Member, totals: Totals, judgement: Judgement, added: Added) -> EpochResult:
    """What the scheduler learns of an epoch; a target with a larger share counts its time less."""
    weight, failed = member.plan.weight, member.failed(totals)
    return EpochResult(
        runs=added.inputs,
        seconds=added.seconds / weight,
        bugs=len(added.fresh_bugs),
        new_bugs=len(added.new_bugs),
        singletons=sum(bug.count == 1 for bug in totals.bugs),
        kept=totals.corpus if member.finds_coverage else 0,
        discovery_rate=judgement.discovery_rate * weight if member.finds_coverage else 0.0,
        seconds_left=(judgement.seconds_to_decision or 0.0) / weight,
        recent_bugs=recent_bugs(totals),
        species=(totals.observation.species or 0) if member.finds_coverage else 0,
        discoveries=added.discoveries if member.finds_coverage else 0,
        runs_since=runs_since_discovery(totals.observation) if member.finds_coverage else 0,
        crashes=failed.crashes,
        stalls=failed.stalls,
    )
