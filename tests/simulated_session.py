"""A target that exists only on paper, for tests of what the manager decides about it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.triage.bug_book import Bug
from fuzzwise.triage.examine import Verdict

SPEED = 50_000.0


class SimulatedSession:
    """Makes SPEED inputs a second of a turn; discoveries and bugs come at given inputs.

    It takes ``patience`` times the turn's time by the clock. What it "keeps in its folder" is
    kept in ``self``, and given to the next session by ``after_restart``.
    """

    def __init__(
        self,
        discoveries: tuple[int, ...] = (),
        bugs: dict[int, str] | None = None,
        patience: float = 1.0,
        problem: str = "",
        deaf: bool = False,
    ) -> None:
        self._discoveries = np.array(discoveries, np.int64)
        self._bugs = bugs or {}
        self._patience = patience
        self.problem = problem
        self._deaf = deaf
        self._stop = threading.Event()
        self.generation = "first"
        self.n = 0
        self.seconds = 0.0
        self.turns: list[tuple[float, int]] = []
        self.busy = 0
        self.most_busy = 0
        self.warnings: tuple[str, ...] = ()
        self.unsettled = ""
        self.closed = False

    def totals(self) -> Totals | None:
        if self.n == 0:
            return None
        found = self._discoveries[self._discoveries <= self.n]
        bugs = tuple(
            Bug(
                f"{name:0>16}",
                "SEGV",
                "read",
                (name,),
                1,
                (f"{name:0>16}/crash-1",),
                at,
                at / SPEED,
            )
            for at, name in self._bugs.items()
            if at <= self.n
        )
        observation = Observation(self.n, self.seconds, species=10 + len(found), discoveries=found)
        return Totals(
            self.generation,
            observation,
            self.seconds,
            5 + len(found),
            bugs,
            len(bugs),
            self.warnings,
            self.unsettled,
        )

    def turn(self, seconds: float, jobs: int) -> Totals:
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            if self.problem:
                raise BadInput(self.problem)
            self.turns.append((seconds, jobs))
            waiting = seconds * self._patience
            if self._deaf:
                time.sleep(waiting)
            else:
                self._stop.wait(waiting)
            self.n += round(SPEED * seconds * jobs)
            self.seconds += seconds * jobs
            totals = self.totals()
            assert totals is not None
            return totals
        finally:
            self.busy -= 1

    def interrupt(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.closed = True

    def reproduce(self, data: bytes) -> Verdict:
        return Verdict("none")

    def after_restart(self) -> SimulatedSession:
        """As a new process finds it."""
        self._stop = threading.Event()
        return self

    def build_anew(self) -> None:
        """Its counts begin again."""
        self.generation += "+"
        self.n, self.seconds = 0, 0.0


def plan_of(folder: Path, names: list[str], **settings: object) -> CampaignPlan:
    """A campaign on targets whose programs are small files."""
    targets = []
    for name in names:
        program = folder / f"{name}.program"
        program.write_text(name)
        corpus = folder / f"{name}.corpus"
        corpus.mkdir()
        targets.append(
            TargetPlan(name, "libfuzzer", (str(program),), (corpus,), accepted_risk=1e-3)
        )
    plan = CampaignPlan(
        name="paper",
        folder=folder / "out",
        targets=tuple(targets),
        budget=None,
        cores=2,
        scheduler="risk-rate",
        epoch=0.05,
    )
    return replace(plan, **settings)  # type: ignore[arg-type]
