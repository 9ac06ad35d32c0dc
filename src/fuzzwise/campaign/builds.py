"""One target that was built for several engines: one session, in whose turns the builds take turns.

To everybody else it is a target like any other. Each build has a session of its own, in a folder of
its own below that of the target. Which of them has the next turn is for a scheduler of the same
policy as the campaign's to say, to which each build is worth what it added: its own discoveries,
of what no build had shown when it was last given the others' seeds.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fuzzwise.campaign.build_sums import read_sums, summed, write_sums
from fuzzwise.campaign.changes import glance
from fuzzwise.campaign.failures import failures
from fuzzwise.campaign.finished import recent_bugs, runs_since_discovery
from fuzzwise.campaign.shared_corpus import SharedCorpus
from fuzzwise.engines.contract import BuildTotals, Session, TargetPlan, Totals
from fuzzwise.errors import BadInput
from fuzzwise.schedulers.base import EpochResult, Policy, Scheduler
from fuzzwise.schedulers.risk_rate import RiskRate
from fuzzwise.triage.examine import Verdict

AT_LEAST = 60.0
"""A build is given the others' seeds when its time has doubled since the last time, or has grown by
so many seconds: AFL++ has to be started again for it, and executes its whole queue then."""

EVEN = 0.2
"""The part of the credit that builds get alike, where the policy has one for targets: what a build
does not find, the others may find in the same code, so that little is lost by leaving it alone."""

NOT_SHARED = "it was not given yet what the other builds of the target have found"

_FULL = os.strerror(errno.ENOSPC)

Open = Callable[[TargetPlan, Path], Session]
"""From a build, as it is now, and its folder to a session of it."""


@dataclass
class Part:
    """One build, and what is kept in mind of it; ``problem`` is why it cannot be fuzzed."""

    plan: TargetPlan
    session: Session
    takes_shared: bool
    known: Totals | None = None
    shared_at: float | None = None
    problem: str = ""
    seen: tuple[object, ...] = ()

    @property
    def name(self) -> str:
        """The name of the build, and of its folder."""
        return self.plan.name


class Builds:
    """A session over those of the builds."""

    def __init__(
        self, plan: TargetPlan, folder: Path, policy: Policy, seed: int, open_build: Open
    ) -> None:
        self._folder = folder
        self._open_build = open_build
        self._shared = SharedCorpus(folder)
        self._parts = [self._opened(build) for build in plan.builds]
        among = replace(policy, even=EVEN) if isinstance(policy, RiskRate) else policy
        self._scheduler = Scheduler(among, len(self._parts), np.random.default_rng(seed))
        self._lock = threading.Lock()  # of the three below
        self._now: Part | None = None
        self._stop = self._closing = False
        self._last = self._parts[0]
        self._has_begun = False

    def interrupt(self) -> None:
        """End the present turn at once, or the next one."""
        with self._lock:
            self._stop = not self._closing
            for part in self._parts if self._closing else [self._now] if self._now else []:
                part.session.interrupt()

    def close(self) -> None:
        """Close the sessions of all builds."""
        with self._lock:
            self._closing = True
        try:
            for part in self._parts:
                part.session.close()
                part.known = None  # the last crashes may have been examined just now
        finally:
            with self._lock:
                self._stop = self._closing = False

    def reproduce(self, data: bytes) -> Verdict:
        """Run the builds on an input, until one of them shows a bug."""
        for part in self._parts:
            verdict = part.session.reproduce(data)
            if verdict.bug is not None:
                break
        return verdict

    def totals(self) -> Totals | None:
        """What is known of all builds."""
        told = {part.name: totals for part in self._parts if (totals := self._told(part))}
        if not told:
            return None
        sums = read_sums(self._folder).after(told)
        builds = [self._build_totals(part, told.get(part.name)) for part in self._parts]
        return summed(sums, builds, builds[self._parts.index(self._last)].totals.doing)

    def turn(self, seconds: float, jobs: int) -> Totals:
        """A turn of one build; BadInput where no build can be fuzzed."""
        try:
            self._begin()
            self._turn(seconds, jobs)
            self._write_sums()
        except OSError as error:
            raise BadInput(f"{self._folder}: the target cannot go on ({error}).") from error
        finally:
            with self._lock:
                self._now, self._stop = None, False
        return self.totals() or Totals.nothing()

    def _turn(self, seconds: float, jobs: int) -> None:
        arm = self._scheduler.choose()
        part = self._last = self._parts[arm]
        try:
            self._bring(part)
            with self._lock:
                self._now = part
                if self._stop:
                    part.session.interrupt()
            self._learn(arm, part.session.turn(seconds, jobs))
        except BadInput as error:
            self._broke(arm, str(error))

    def _begin(self) -> None:
        """What earlier turns have left, and builds that could not be fuzzed but have changed."""
        self._write_sums()
        for arm, part in enumerate(self._parts):
            if not self._has_begun and (known := self._told(part)) and known.seconds > 0:
                self._scheduler.recall(arm, _epoch(Totals.nothing(), known, set()))
            if part.problem and part.seen != glance(part.plan):
                part.problem = ""
                self._scheduler.resume(arm)
        self._has_begun = True

    def _learn(self, arm: int, totals: Totals) -> None:
        part = self._parts[arm]
        before = part.known or Totals.nothing()
        others = (other.known for other in self._parts if other.known and other is not part)
        shown = {bug.id for other in others for bug in other.bugs}
        part.known = totals
        self._scheduler.learn(arm, _epoch(before, totals, shown))
        self._scheduler.not_yet(arm)

    def _broke(self, arm: int, problem: str) -> None:
        """A build cannot be fuzzed: the others go on, and none of their risks is accepted."""
        part = self._parts[arm]
        self._scheduler.not_yet(arm)
        others = [other for other in self._parts if other is not part and not other.problem]
        if others and _FULL not in problem:
            part.problem, part.seen = problem, glance(part.plan)
            self._scheduler.pause(arm)
            return
        for number, other in enumerate(self._parts):  # the next turn tries all of them again
            other.problem = ""
            self._scheduler.resume(number)
        raise BadInput(f"{part.plan.engine}: {problem}")

    def _bring(self, part: Part) -> None:
        """Give a build the others' seeds, where it is time."""
        used, before = part.known.seconds if part.known else 0.0, part.shared_at
        if before is not None and before <= used < before + min(before, AT_LEAST):
            return
        part.shared_at = used
        self._shared.bring(part.name)
        if not part.takes_shared and self._shared.given(part.name):
            part.session.close()
            opened = self._opened(part.plan)
            part.session, part.takes_shared = opened.session, True

    def _opened(self, build: TargetPlan) -> Part:
        """A build with its session; one that was given nothing yet has no corpus for it."""
        given = self._shared.given(build.name) > 0
        corpus = (*build.corpus, *([self._shared.folder(build.name)] if given else []))
        session = self._open_build(replace(build, corpus=corpus), self._folder / build.name)
        return Part(build, session, given)

    def _told(self, part: Part) -> Totals | None:
        """What is known of a build; of one that has no turn, what its last one told."""
        if part is self._now:
            return part.session.totals() or part.known
        if part.known is None:
            part.known = part.session.totals()
        return part.known

    def _build_totals(self, part: Part, totals: Totals | None) -> BuildTotals:
        known = totals or Totals.nothing()
        unsettled = part.problem or known.unsettled
        if not unsettled and self._shared.waiting(part.name):
            unsettled = NOT_SHARED
        problem = (f"cannot be fuzzed: {part.problem}",) if part.problem else ()
        known = replace(known, unsettled=unsettled, warnings=(*known.warnings, *problem))
        imported = self._shared.given(part.name)
        return BuildTotals(part.name, part.plan.engine, known, imported)

    def _write_sums(self) -> None:
        told = {part.name: totals for part in self._parts if (totals := self._told(part))}
        before = read_sums(self._folder)
        if (now := before.after(told)) is not before:
            write_sums(self._folder, now)


def _epoch(before: Totals, after: Totals, shown: set[str]) -> EpochResult:
    """What a build's turn showed; ``shown`` are bugs that others had shown before.

    Its size is what it has added: what it was given is the others' merit.
    """
    failed = failures(after).since(failures(before))  # bugs stay when the counts begin again
    if after.generation != before.generation:
        before = Totals.nothing()
    seconds = after.seconds - before.seconds
    fresh = {bug.id for bug in after.bugs} - {bug.id for bug in before.bugs}
    own = 1 + _late(after, 0)
    return EpochResult(
        runs=after.observation.n - before.observation.n,
        seconds=seconds,
        bugs=len(fresh),
        new_bugs=len(fresh - shown),
        singletons=sum(bug.count == 1 for bug in after.bugs),
        kept=own,
        discovery_rate=2 * _late(after, after.observation.n / 2) / (after.seconds or 1.0),
        recent_bugs=recent_bugs(after),
        species=own,
        discoveries=_late(after, before.observation.n),
        runs_since=runs_since_discovery(after.observation),
        crashes=failed.crashes,
        stalls=failed.stalls,
    )


def _late(totals: Totals, n: float) -> int:
    """Its discoveries after n inputs."""
    found = totals.observation.discoveries
    return 0 if found is None else int((found > n).sum())
