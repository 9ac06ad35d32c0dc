"""What is in a folder and who works in it; and how to damage what is in it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.leftovers import belonging
from fuzzwise.triage.processes import running

JUNK = b"\xff\x00 damaged for a test \x00\xff\n"


def files_in(folder: Path) -> set[Path]:
    """All files and folders below a folder."""
    return set(folder.rglob("*"))


def processes_in(folder: Path) -> list[int]:
    """Processes that carry the folder's mark (see ``engines.leftovers``), or work in it."""
    home = folder.resolve()
    found = set(belonging(folder))
    for process in running():
        with suppress(OSError):
            place = Path(f"/proc/{process.pid}/cwd").readlink()
            if place.is_relative_to(home):
                found.add(process.pid)
    return sorted(found)


def damage(folder: Path, *names: str) -> None:
    """Put junk in the place of files below a folder: of those names, or of all that are not empty.

    They are replaced, not changed: one that is linked from elsewhere keeps its content there.
    """
    for path in files_in(folder):
        if path.is_symlink() or not path.is_file() or (names and path.name not in names):
            continue
        if path.stat().st_size:
            path.unlink()
            path.write_bytes(JUNK)
