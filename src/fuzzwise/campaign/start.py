"""A campaign from its plan to its end: builds, opens, runs, and tells how it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Protocol

from fuzzwise.campaign.build import build_all
from fuzzwise.campaign.executor import Executor
from fuzzwise.campaign.manager import LAST_WORDS, Manager
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.seeds import unpack_seeds
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.leftovers import Guard
from fuzzwise.errors import BadInput
from fuzzwise.store.places import open_store
from fuzzwise.store.states import ALONE, CampaignState
from fuzzwise.triage.workers import Workers

FLEET_LAST_WORDS = 4.5
"""Seconds that turns elsewhere have to end, and to be stored."""


class Watch(Protocol):
    """Somebody who looks on."""

    def update(self) -> None:
        """Called several times a second."""
        ...


Watching = Callable[
    [Callable[[], CampaignState], CampaignState | None], AbstractContextManager[Watch]
]
"""From a way to read the campaign, and what it was before this run, to a view of it."""


class Running:
    """One call of ``fuzzwise run``."""

    def __init__(self, plan: CampaignPlan) -> None:
        self._plan = plan
        self._manager: Manager | None = None
        self._interrupted = False

    def interrupt(self) -> None:
        """End soon, and keep everything."""
        self._interrupted = True
        if self._manager:
            self._manager.interrupt()

    def run(
        self, seconds: float | None, say: Callable[[str], None], watching: Watching
    ) -> CampaignState:
        """Build what has to be built and run the campaign; how it stands in the end."""
        plan = self._plan
        with open_store(plan.folder, plan.store, say) as store, Guard(plan.folder):
            before = store.state() if store.has_runs() else None
            if before and before.scheduler == ALONE:
                raise BadInput(
                    f"{plan.folder} holds a campaign of `fuzzwise fuzz`. Use another folder, "
                    "by out in the file or by --out."
                )
            broken = build_all(plan, say)
            plan, notes = unpack_seeds(plan, say)
            with self._where(plan, say) as (executor, last_words):
                plan = replace(plan, cores=max(1, executor.cores))
                self._manager = Manager(plan, store, executor, last_words=last_words)
                if self._interrupted:
                    self._manager.interrupt()
                with watching(self._manager.state, before) as watch:
                    stopped = self._manager.run(seconds, watch.update, broken, notes)
            # On a full disk the store does not know yet that the run has ended.
            return replace(store.state(), running=False, stopped=stopped)

    @contextmanager
    def _where(
        self, plan: CampaignPlan, say: Callable[[str], None]
    ) -> Iterator[tuple[Executor, float]]:
        """Where turns run, and how many seconds they have to end there."""
        if plan.fleet is None:
            from fuzzwise.campaign.fleet.moving import bring_home, has_been_away

            if has_been_away(plan.folder):
                bring_home(plan, say)
            with Workers(plan.cores) as workers:
                yield Threads(open_sessions(plan, workers), plan.cores), LAST_WORDS
            return
        if several := [target.name for target in plan.targets if target.builds]:
            raise BadInput(
                f"{several[0]} has several builds: these share a folder, so that they run on one "
                "machine. Leave the fleet out, or keep one build."
            )
        from fuzzwise.campaign.fleet.begin import joined

        with joined(plan, plan.fleet, say, lambda: self._interrupted) as executor:
            yield executor, FLEET_LAST_WORDS
