"""Which of the user's files were executed, and which end the target: known without reading them.

A file is known by its number, size and time, as these are found in its folder: to read twenty
thousand files only to learn that they are the same takes longer than to execute them. One that was
copied or touched is another file then, and is executed once more, which does no harm.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from fuzzwise.files import content_hash
from fuzzwise.received import MOST_DATA, read_limited


def mark_of(path: str) -> str:
    """What a file is known by; "" where it is gone."""
    try:
        return _mark(os.stat(path))  # noqa: PTH116
    except OSError:
        return ""


def _mark(info: os.stat_result) -> str:
    return f"{info.st_ino}-{info.st_size}-{info.st_mtime_ns}"


def marks_before(paths: Iterable[str], moment: int) -> list[str]:
    """The marks of files that are still as they were at a moment, in nanoseconds of the clock."""
    found = []
    for path in paths:
        try:
            info = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        if info.st_ctime_ns <= moment:
            found.append(_mark(info))
    return found


class Fatal:
    """Those of the user's files that end the target; what is known of them is in a file.

    They are named by their contents, as in the campaign's record, which may know more of them than
    the file does.
    """

    def __init__(self, kept: Path) -> None:
        self._kept = kept

    def among(self, names: set[str], sizes: set[int], paths: Sequence[str]) -> set[str]:
        """Those of the names that are of these files; ``sizes`` are the contents'.

        Only files of such a size are read.
        """
        found = set()
        for path in paths:
            try:
                is_likely = os.stat(path).st_size in sizes  # noqa: PTH116
                if is_likely and (name := content_hash(Path(path), "sha1")) in names:
                    found.add(name)
                    self._keep(name, mark_of(path))
            except OSError:
                continue
        return found

    def without(self, names: set[str], paths: Sequence[str]) -> list[str]:
        """The paths without those whose content has one of the names."""
        if not names:
            return list(paths)
        known = self._known()
        if names <= known.keys():
            marks = {mark for name in names for mark in known[name]}
            return [path for path in paths if mark_of(path) not in marks]
        kept = []
        for path in paths:
            try:
                name = content_hash(Path(path), "sha1")
            except OSError:
                continue
            if name in names:
                self._keep(name, mark_of(path))
            else:
                kept.append(path)
        for name in names - self._known().keys():
            self._keep(name, "")  # of no file of the user: it need not be looked for again
        return kept

    def _known(self) -> dict[str, set[str]]:
        try:
            lines = read_limited(self._kept, MOST_DATA, follow=False).decode(errors="replace")
        except OSError:
            return {}
        known: dict[str, set[str]] = {}
        for line in lines.splitlines():
            name, _, mark = line.partition(" ")
            known.setdefault(name, set()).add(mark)
        return known

    def _keep(self, name: str, mark: str) -> None:
        with self._kept.open("a") as file:
            file.write(f"{name} {mark}\n")
