"""Sessions of which each breaks one clause of the contract, and is sound otherwise."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzwise.engines.contract import Totals
from fuzzwise.engines.leftovers import VARIABLE
from paper_session import KeptSession

WAITED_FOR = 3.0
"""Seconds after which somebody is found out by what does not come."""


class Hasty(KeptSession):
    """Makes its folder when it is made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        if not folder.exists():
            folder.mkdir(parents=True)


class Differences(KeptSession):
    """Tells what a turn has added."""

    def turn(self, seconds: float, jobs: int) -> Totals:
        before = self.read() or {"n": 0, "seconds": 0.0}
        told = super().turn(seconds, jobs)
        counts = {"generation": told.generation, "n": told.observation.n - before["n"]}
        self.keep(counts | {"seconds": told.seconds - before["seconds"]})
        found = self.totals()
        assert found is not None
        return found


class Forgetful(KeptSession):
    """What it tells is not in the folder when it tells it."""

    counts: dict[str, Any]

    def keep(self, counts: dict[str, Any]) -> None:
        if not self.file.exists():
            super().keep(counts)
        self.counts = dict(counts)

    def read(self) -> dict[str, Any] | None:
        return dict(self.counts) if hasattr(self, "counts") else super().read()


class Renaming(KeptSession):
    """Begins another generation with every turn."""

    def keep(self, counts: dict[str, Any]) -> None:
        super().keep(counts | {"generation": os.urandom(4).hex()})

    def turn(self, seconds: float, jobs: int) -> Totals:
        super().turn(seconds, jobs)
        told = self.totals()
        assert told is not None
        return told


class Falling(KeptSession):
    """Who opens it later finds less."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.known = 0

    def turn(self, seconds: float, jobs: int) -> Totals:
        told = super().turn(seconds, jobs)
        self.known = told.observation.n
        return told

    def read(self) -> dict[str, Any] | None:
        counts = super().read()
        return counts if not counts or self.known else counts | {"n": counts["n"] // 2}


class Endless(KeptSession):
    """Does not look at the clock."""

    slack = WAITED_FOR

    def is_over(self, start: float, seconds: float) -> bool:
        return super().is_over(start, seconds + 3600)


class Deaf(KeptSession):
    """Does not hear an interrupt once it is at work."""

    slack = WAITED_FOR

    def is_over(self, start: float, seconds: float) -> bool:
        if self.latest:
            self.stop.clear()
        return super().is_over(start, seconds)


class Stuck(KeptSession):
    """An interrupt ends all turns that come."""

    seconds = 1.0
    """Of its turns: one that ends at once is told from a whole one on a busy machine, too."""
    stuck = False

    def interrupt(self) -> None:
        super().interrupt()
        self.stuck = self.read() is not None and self.latest is None

    def is_over(self, start: float, seconds: float) -> bool:
        return self.stuck or super().is_over(start, seconds)


class Missing(KeptSession):
    """An interrupt between turns is not heard."""

    slack = WAITED_FOR

    def interrupt(self) -> None:
        if self.latest:
            super().interrupt()


class Silent(KeptSession):
    """Tells nothing new in the midst of a turn."""

    slack = WAITED_FOR

    def totals(self) -> Totals | None:
        counts = self.read()
        return self.told(counts) if counts else None


class Ahead(KeptSession):
    """Tells more in the midst of a turn than comes of it."""

    def totals(self) -> Totals | None:
        if not self.latest:
            return super().totals()
        seen = self.latest.observation
        return replace(self.latest, observation=replace(seen, n=seen.n + 10**9))


class Stingy(KeptSession):
    """Does not count the time in which it does nothing."""

    slack = 30.0

    def turn(self, seconds: float, jobs: int) -> Totals:
        time.sleep(1.2)
        return super().turn(seconds, jobs)


class Littering(KeptSession):
    """Leaves a process behind."""

    def close(self) -> None:
        mark = {VARIABLE: f"{self.folder.resolve()}/scratch"}
        subprocess.run(["sh", "-c", "sleep 60 > /dev/null &"], env={**os.environ, **mark})


class Counting(KeptSession):
    """Counts the input that was only to be tried."""

    def reproduce(self, data: bytes) -> Any:
        counts = self.read()
        assert counts is not None
        self.keep(counts | {"n": counts["n"] + 1})
        return super().reproduce(data)


class Blind(KeptSession):
    """Does not see a crash when it is shown again."""

    def reproduce(self, data: bytes) -> Any:
        return super().reproduce(b"")


class Abrupt(KeptSession):
    """Has errors that are nobody's sentence."""

    def turn(self, seconds: float, jobs: int) -> Totals:
        self.folder.mkdir(parents=True, exist_ok=True)
        return super().turn(seconds, jobs)


class Trusting(KeptSession):
    """Begins again under the same name where its counts are damaged."""

    def keep(self, counts: dict[str, Any]) -> None:
        super().keep(counts | {"generation": "always"})

    def told(self, counts: dict[str, Any]) -> Totals:
        return super().told(counts | {"generation": "always"})
