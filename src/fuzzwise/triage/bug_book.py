"""Crashing inputs of one target, kept as files and put together into bugs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from fuzzwise.files import write_whole
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
            if home.is_dir() and (bug := _read(home)):
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
            write_whole(report, seen.report.encode(errors="replace"))
        known = self.bugs.get(found.id) or Bug(
            *(found.id, found.kind, found.severity, found.frames, 0, (), n, round(seconds, 3)),
            *(seen.summary, seen.file, seen.line),
        )
        return self._keep(replace(known, count=known.count + count), files)

    def keep(self, bug: str, files: Sequence[Path]) -> Bug:
        """Move further inputs into the folder of a bug that is known."""
        return self._keep(self.bugs[bug], files)

    def path(self, name: str) -> Path:
        """Where an input of a bug is."""
        return self._folder / name

    def _keep(self, known: Bug, files: Sequence[Path]) -> Bug:
        kept = list(known.inputs)
        for file in dict.fromkeys(files):  # small seeds have the same mutant more than once
            name = f"{known.id}/{file.name}"
            if name in kept or len(kept) >= MOST_INPUTS:
                file.unlink()
                continue
            shutil.move(file, self._folder / name)
            kept.append(name)
        bug = replace(known, inputs=tuple(kept))
        self.put(bug)
        return bug

    def put(self, bug: Bug) -> None:
        """Write the record of a bug; that it is hit once more is not worth a wait for the disk."""
        is_new = bug.id not in self.bugs
        self.bugs[bug.id] = bug
        record = json.dumps(asdict(bug), indent=1).encode()
        write_whole(self._folder / bug.id / RECORD, record, to_disk=is_new)


def _read(home: Path) -> Bug | None:
    try:
        bug = msgspec.json.decode((home / RECORD).read_bytes(), type=Bug)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return _made_again(home)
    return bug if bug.id == home.name else _made_again(home)


def _made_again(home: Path) -> Bug | None:
    """A bug from its report and its inputs; the times of its discovery are lost."""
    try:
        seen = from_report((home / REPORT).read_text(errors="replace"))
    except OSError:
        return None
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
