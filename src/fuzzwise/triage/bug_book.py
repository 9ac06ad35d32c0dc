"""Crashing inputs of one target, kept as files and put together into bugs."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders, see_to_disk, write_whole
from fuzzwise.received import read_limited
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Verdict, from_report
from fuzzwise.triage.kinds import UNKNOWN
from fuzzwise.triage.stack_hash import stack_hash

MOST_INPUTS = 100
"""Inputs kept for one bug; a bug that is hit at every turn must not fill the disk."""

ENTRY = frozenset({"LLVMFuzzerTestOneInput", "one_input"})
"""Functions in which every harness has its bugs: the harness itself, and who calls it of ours."""

RECORD = "bug.json"
REPORT = "report.txt"


@dataclass(frozen=True)
class Bug:
    """A set of crashes with the same stack hash.

    ``inputs`` are files relative to the book's folder. ``found_at`` and ``seconds``: the inputs
    and the time that the target had had when it first showed the bug. ``flaky``: whether its input
    does not show it every time; None where nobody has tried.
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
    flaky: bool | None = None


class BugBook:
    """All bugs of a target: FOLDER/ID holds the inputs, the report and the record of each.

    Files come before the record that names them, and a record is written whole or not at all. One
    that is damaged all the same is made again from the files beside it.

    ``program`` is what the target is called. Without any frame, an id says no more than what kind
    of bug it is, and with none but the function that every harness has, not even that; two programs
    that hang have two bugs, so the program goes into such an id. Who gives none only reads.
    """

    def __init__(self, folder: Path, program: str = "") -> None:
        self._folder = folder
        self._program = program
        self.bugs: dict[str, Bug] = {}
        for home in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not home.is_symlink() and home.is_dir() and (bug := _read(home)):
                self.bugs[bug.id] = bug
        for bug in [bug for bug in self.bugs.values() if program and not bug.frames]:
            self._name_anew(bug)

    def id_of(self, found: BugIdentity) -> str:
        """The id by which the book knows a bug; one of an older fuzzwise stays as it was."""
        names_a_place = not ENTRY.issuperset(found.frames) or found.id in self.bugs
        return found.id if names_a_place else own_id(found.id, self._program)

    def add(
        self, seen: Verdict, files: Sequence[Path], n: int, seconds: float, count: int = 1
    ) -> Bug:
        """Record crashes of one bug: the files are moved into the bug's folder."""
        found = seen.bug
        assert found is not None
        bug = self.id_of(found)
        home = self._folder / bug
        make_folders(home)
        report = home / REPORT
        if not report.exists():
            write_whole(report, seen.report.encode(errors="replace"))
        known = self.bugs.get(bug) or Bug(
            *(bug, found.kind, found.severity, found.frames, 0, (), n, round(seconds, 3)),
            *(seen.summary, seen.file, seen.line),
        )
        return self._keep(replace(known, count=known.count + count), files)

    def keep(self, bug: str, files: Sequence[Path]) -> Bug:
        """Move further inputs into the folder of a bug that is known."""
        return self._keep(self.bugs[bug], files)

    def path(self, name: str) -> Path:
        """Where an input of a bug is."""
        return self._folder / name

    def _name_anew(self, bug: Bug) -> None:
        """Give a bug without frames that an older fuzzwise has written the id that it has now."""
        own = own_id(bug.id, self._program)
        by_kind = {stack_hash((), kind=kind) for kind in (bug.kind, UNKNOWN)}
        if bug.id not in by_kind or (self._folder / own).exists():
            return
        names = tuple(f"{own}/{name.partition('/')[2]}" for name in bug.inputs)
        with suppress(OSError):  # a folder that may only be read keeps its names
            (self._folder / bug.id).rename(self._folder / own)
            see_to_disk(self._folder)
            del self.bugs[bug.id]
            self.put(replace(bug, id=own, inputs=names))

    def _keep(self, known: Bug, files: Sequence[Path]) -> Bug:
        kept = list(known.inputs)
        sources: dict[Path, None] = {}
        for file in dict.fromkeys(files):  # small seeds have the same mutant more than once
            name = f"{known.id}/{file.name}"
            if name in kept or len(kept) >= MOST_INPUTS:
                file.unlink()
                continue
            shutil.move(file, self._folder / name)
            sources[file.parent] = None
            kept.append(name)
        bug = replace(known, inputs=tuple(kept))
        self.put(bug)
        see_to_disk(*sources)  # what was moved away is not found there again
        return bug

    def put(self, bug: Bug) -> None:
        """Write the record of a bug.

        After a power cut a bug that was told of is there, with its first input; that it is hit once
        more, and further inputs, are not worth a wait for the disk.
        """
        known = self.bugs.get(bug.id)
        leads = known is None or known.inputs[:1] != bug.inputs[:1]
        if leads and bug.inputs:
            with suppress(FileNotFoundError):  # inputs are the user's to remove
                see_to_disk(self.path(bug.inputs[0]))
        self.bugs[bug.id] = bug
        record = json.dumps(asdict(bug), indent=1).encode()
        write_whole(self._folder / bug.id / RECORD, record, to_disk=leads)


def own_id(bug: str, program: str) -> str:
    """The id of a bug that no function of its own tells from others, in a program."""
    text = f"{program}\n{bug}".encode(errors="replace")
    return hashlib.sha256(text).hexdigest()[:16]


_DECODER = msgspec.json.Decoder(Bug)
"""Made once: msgspec crashes where two threads make out a type at the same time."""


def _read(home: Path) -> Bug | None:
    try:
        content = read_limited(home / RECORD, follow=False)
        bug = _DECODER.decode(content)
    except (OSError, BadInput, ValueError, RecursionError):
        return _made_again(home)
    return bug if bug.id == home.name else _made_again(home)


def _made_again(home: Path) -> Bug | None:
    """A bug from its report and its inputs; the times of its discovery are lost."""
    try:
        content = read_limited(home / REPORT, follow=False)
    except (OSError, BadInput):
        return None
    seen = from_report(content.decode(errors="replace"))
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
