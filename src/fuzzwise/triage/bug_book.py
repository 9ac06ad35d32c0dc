"""Crashing inputs of one target, kept as files and put together into bugs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fuzzwise.triage.examine import Verdict, from_report

MOST_INPUTS = 100
"""Inputs kept for one bug; a bug that is hit at every turn must not fill the disk."""

RECORD = "bug.json"
REPORT = "report.txt"


@dataclass(frozen=True)
class Bug:
    """A set of crashes with the same stack hash.

    ``inputs`` are files relative to the book's folder. ``found_at`` and ``seconds``: the inputs
    and the time that the target had had when it first showed the bug.
    """

    id: str
    kind: str
    severity: str
    frames: tuple[str, ...]
    count: int
    inputs: tuple[str, ...]
    found_at: int
    seconds: float
    summary: str = ""
    file: str = ""
    line: int | None = None
    flaky: bool = False


class BugBook:
    """All bugs of a target: FOLDER/ID holds the inputs, the report and the record of each.

    Files come before the record that names them, and a record is written whole or not at all. One
    that is damaged all the same is made again from the files beside it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bugs: dict[str, Bug] = {}
        for home in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (home / REPORT).is_file() and (bug := _read(home)):
                self.bugs[bug.id] = bug

    def add(
        self, seen: Verdict, files: Sequence[Path], n: int, seconds: float, count: int = 1
    ) -> Bug:
        """Record crashes of one bug: the files are moved into the bug's folder."""
        found = seen.bug
        assert found is not None
        home = self._folder / found.id
        home.mkdir(parents=True, exist_ok=True)
        report = home / REPORT
        if not report.exists():
            _write(report, seen.report)
        known = self.bugs.get(found.id) or Bug(
            *(found.id, found.kind, found.severity, found.frames, 0, (), n, round(seconds, 3)),
            *(seen.summary, seen.file, seen.line),
        )
        kept = list(known.inputs)
        for file in files:
            name = f"{found.id}/{file.name}"
            if name in kept or len(kept) >= MOST_INPUTS:
                file.unlink()
                continue
            shutil.move(file, home / file.name)
            kept.append(name)
        bug = replace(known, count=known.count + count, inputs=tuple(kept))
        self.put(bug)
        return bug

    def put(self, bug: Bug) -> None:
        """Write the record of a bug."""
        self.bugs[bug.id] = bug
        _write(self._folder / bug.id / RECORD, json.dumps(asdict(bug), indent=1))


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(text, errors="replace")
    partial.replace(path)


def _read(home: Path) -> Bug | None:
    try:
        row = json.loads((home / RECORD).read_text())
        return Bug(**row | {"frames": tuple(row["frames"]), "inputs": tuple(row["inputs"])})
    except (OSError, ValueError, TypeError, KeyError):
        return _made_again(home)


def _made_again(home: Path) -> Bug | None:
    """A bug from its report and its inputs; the times of its discovery are lost."""
    seen = from_report((home / REPORT).read_text(errors="replace"))
    if seen.bug is None:
        return None
    names = sorted(
        f"{home.name}/{path.name}"
        for path in home.iterdir()
        if path.name not in (RECORD, REPORT) and not path.name.endswith(".part")
    )
    found = seen.bug
    return Bug(
        *(home.name, found.kind, found.severity, found.frames, max(1, len(names)), tuple(names)),
        *(0, 0.0, seen.summary, seen.file, seen.line),
    )
