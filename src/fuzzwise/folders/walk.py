"""All files of a folder, within bounds; nothing is opened, and no link leads out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.folders.model import FoundFile, Tree
from fuzzwise.received import cannot_read
from fuzzwise.store.places import is_campaign
from fuzzwise.text import printable

MOST = 200_000
"""Files and folders that are looked at."""

_LEFT_OUT = {
    "__extra_build": "other builds of OSS-Fuzz, which it leaves out too",
    "__pycache__": "what Python has compiled",
}


def walk(folder: Path, say: Callable[[str], None] = lambda _: None) -> tuple[Tree, list[FoundFile]]:
    """The files below a folder; and what of it is not looked into, or is no file.

    BadInput where it cannot be read, or holds more than anybody would look through.
    """
    home = _absolute(folder)
    files: list[Path] = []
    others: list[FoundFile] = []
    ahead = [home]
    seen = 0
    while ahead:
        here = ahead.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            if here == home:
                raise cannot_read(folder, error) from error
            others.append(FoundFile(here, "", f"cannot be read ({error.strerror})"))
            continue
        seen += len(entries)
        if seen > MOST:
            raise BadInput(
                f"{printable(str(folder))}: has more than {MOST:,} files. Give the folder with the "
                "targets themselves, or write a campaign file with patterns."
            )
        for entry in entries:
            path = here / entry.name
            if why := _why_not(path, entry, home):
                others.append(FoundFile(path, "", why))
            elif entry.is_dir(follow_symlinks=False):
                ahead.append(path)
            else:
                files.append(path)
    return Tree(home, tuple(sorted(files)), say), others


def _absolute(folder: Path) -> Path:
    """Its path from the root, with links on the way as they were given."""
    home = Path(os.path.abspath(folder))  # noqa: PTH100
    try:
        str(home).encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{printable(str(folder))}: its path is not in UTF-8, and cannot stand in a campaign "
            "file. Rename it."
        ) from None
    return home


def _why_not(path: Path, entry: os.DirEntry[str], home: Path) -> str:
    """Why something is not looked at; "" where it is."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        return "its name is not in UTF-8, and cannot stand in a campaign file; rename it"
    if entry.is_symlink():
        return "" if _leads_inside(path, home) else "a link that leads to no file of the folder"
    if entry.is_dir(follow_symlinks=False):
        return _why_not_into(path)
    return "" if entry.is_file(follow_symlinks=False) else "neither a file nor a folder"


def _leads_inside(link: Path, home: Path) -> bool:
    try:
        return link.is_file() and link.resolve(strict=True).is_relative_to(home.resolve())
    except (OSError, RuntimeError):  # to itself
        return False


def _why_not_into(folder: Path) -> str:
    if folder.name.startswith("."):
        return "hidden"
    if folder.name in _LEFT_OUT:
        return _LEFT_OUT[folder.name]
    if folder.name.startswith("__centipede_"):
        return "Centipede's builds with sanitizers, which no engine of fuzzwise takes"
    if is_campaign(folder):
        return f"a campaign of fuzzwise; fuzzwise status {printable(folder.name)} tells of it"
    if (folder / "fuzzer_stats").is_file() or (folder / "default" / "fuzzer_stats").is_file():
        return f"what AFL++ has written; fuzzwise watch {printable(folder.name)} tells of it"
    return ""
