"""The smallest session that keeps to the whole contract: a target on paper, counts in a file."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from fuzzwise.engines.contract import Totals
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.model import Observation
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Verdict

SPEED = 10_000
STEP = 0.01


class KeptSession:
    """Makes SPEED inputs a second; every 100th shows a species, and every 200th crashes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "counts.json"
        self.stop = threading.Event()
        self.latest: Totals | None = None

    def turn(self, seconds: float, jobs: int) -> Totals:
        try:
            counts = self.read() or {"generation": os.urandom(4).hex(), "n": 0, "seconds": 0.0}
            self.folder.mkdir(parents=True, exist_ok=True)
            start = clock = time.monotonic()
            while not self.is_over(start, seconds):
                self.stop.wait(STEP)
                now = time.monotonic()
                counts["seconds"] += jobs * (now - clock)
                counts["n"] += round(SPEED * jobs * (now - clock))
                self.latest, clock = self.told(counts), now
            self.keep(counts)
            return self.told(counts)
        except OSError as error:
            raise BadInput(f"{self.folder}: the counts cannot be kept ({error}).") from error
        finally:
            self.latest = None
            self.stop.clear()

    def is_over(self, start: float, seconds: float) -> bool:
        return self.stop.is_set() or time.monotonic() - start >= seconds

    def totals(self) -> Totals | None:
        if self.latest:
            return self.latest
        counts = self.read()
        return self.told(counts) if counts else None

    def interrupt(self) -> None:
        self.stop.set()

    def close(self) -> None:
        pass

    def reproduce(self, data: bytes) -> Verdict:
        if not data.startswith(b"bad"):
            return Verdict("none")
        return Verdict("crash", BugIdentity("0" * 16, "SEGV", "read", ("f",)))

    def read(self) -> dict[str, Any] | None:
        """What is kept; None where there is nothing, or damage."""
        try:
            counts: dict[str, Any] = json.loads(self.file.read_bytes())
        except (OSError, ValueError):
            return None
        return counts

    def keep(self, counts: dict[str, Any]) -> None:
        write_whole(self.file, json.dumps(counts).encode())

    def told(self, counts: dict[str, Any]) -> Totals:
        n, seconds = counts["n"], counts["seconds"]
        found = np.arange(100, n + 1, 100)
        seen = Observation(n, seconds, species=len(found), discoveries=found)
        return Totals(counts["generation"], seen, seconds, len(found), (), n // 200)
