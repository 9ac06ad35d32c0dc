"""An engine whose sessions only pretend to fuzz: they wait, and keep their counts in a small file."""

from __future__ import annotations

import json
import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NoReturn

import numpy as np

from fuzzwise.engines import registry
from fuzzwise.engines.contract import Engine, TargetPlan, Totals
from fuzzwise.files import write_whole
from fuzzwise.model import Observation
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.workers import Workers

NAME = "pretend"
SPEED = 1000


class PretendSession:
    """So many inputs a second, of which every hundredth is a discovery at first."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "state" / "counts"
        self._stop = threading.Event()

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Wait, and count."""
        before = self._read()
        self._stop.wait(seconds)
        self._stop.clear()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        now = before + seconds * jobs
        write_whole(self._file, json.dumps(now).encode(), to_disk=False)
        return _told(now)

    def totals(self) -> Totals | None:
        """What is in the file."""
        seconds = self._read()
        return _told(seconds) if seconds else None

    def interrupt(self) -> None:
        """End the turn."""
        self._stop.set()

    def close(self) -> None:
        """There is nothing to end."""

    def reproduce(self, data: bytes) -> Verdict:  # noqa: ARG002
        """No input does harm."""
        return Verdict("none")

    def _read(self) -> float:
        try:
            return float(json.loads(self._file.read_bytes()))
        except (OSError, ValueError):
            return 0.0


def _told(seconds: float) -> Totals:
    n = round(SPEED * seconds)
    found = np.unique(np.geomspace(1, max(n, 1), 60).astype(np.int64))
    seen = Observation(n, seconds, species=len(found), discoveries=found)
    return Totals("pretended", seen, seconds, len(found), (), 0)


def _open(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> PretendSession:  # noqa: ARG001
    return PretendSession(folder)


def _no(*_: object) -> NoReturn:
    raise NotImplementedError


ENGINE = Engine(
    finds_coverage=True,
    keys=(),
    read_target=_no,
    plan_fuzz=_no,
    open_session=_open,
    one_input=_no,
)


def register() -> None:
    """Make it known in this process, as an installed package would."""
    registry.engines()[NAME] = EntryPoint(NAME, "fleet_pretend:ENGINE", registry.GROUP)
