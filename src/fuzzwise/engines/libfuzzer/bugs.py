"""Crashing inputs, kept and put together into bugs."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fuzzwise.triage.crash import identify

MOST_INPUTS = 100
"""Inputs kept for one bug; a bug that is hit at every turn must not fill the disk."""


@dataclass(frozen=True)
class Bug:
    """A set of crashes with the same stack hash."""

    id: str
    kind: str
    severity: str
    frames: tuple[str, ...]
    count: int
    inputs: tuple[str, ...]
    found_at: int
    seconds: float


class BugBook:
    """All bugs of a campaign, on disk: the file is written whole after each crash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "bugs.json"
        self.bugs: dict[str, Bug] = {}
        if self._file.exists():
            for row in json.loads(self._file.read_text()):
                row["frames"], row["inputs"] = tuple(row["frames"]), tuple(row["inputs"])
                self.bugs[row["id"]] = Bug(**row)

    def add(self, output: str, kind: str, artifacts: list[Path], n: int, seconds: float) -> Bug:
        """Record a crash with its report and its input; the bug it belongs to."""
        found = identify(output)
        name = found.kind if kind == "crash" else kind
        home = self._folder / found.id
        home.mkdir(parents=True, exist_ok=True)
        kept = []
        full = len(self.bugs[found.id].inputs) >= MOST_INPUTS if found.id in self.bugs else False
        for artifact in artifacts:
            if full:
                artifact.unlink()
                continue
            shutil.move(artifact, home / artifact.name)
            kept.append(f"{found.id}/{artifact.name}")
        report = home / "report.txt"
        if not report.exists():
            report.write_text(output, errors="replace")
        known = self.bugs.get(found.id)
        if known is None:
            severity = "resource" if kind in ("timeout", "out-of-memory") else found.severity
            known = Bug(found.id, name, severity, found.frames, 0, (), n, round(seconds, 3))
        inputs = (*known.inputs, *(name for name in kept if name not in known.inputs))
        bug = replace(known, count=known.count + 1, inputs=inputs)
        self.bugs[bug.id] = bug
        self._write()
        return bug

    def _write(self) -> None:
        partial = self._file.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps([asdict(bug) for bug in self.bugs.values()], indent=1))
        partial.replace(self._file)
