"""What the builds of one target give each other: each gets the seeds that the others have kept.

A seed is a file that is called by its content, in the folder ``corpus`` of a build. What a build is
given lies in a folder of its own, ``shared/BUILD`` of the target; it is part of the build's corpus,
so that it counts as seeds and not as discoveries. All of it can be made again from the others.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from fuzzwise.files import make_folders

CORPUS, SHARED = "corpus", "shared"

_NAME = re.compile("[0-9a-f]{40}")


class SharedCorpus:
    """The seeds of a target's builds, in the folder of the target."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def folder(self, build: str) -> Path:
        """Where the files are that a build is given."""
        return self._home / SHARED / build

    def given(self, build: str) -> int:
        """How many files a build was given so far."""
        return sum(1 for _ in _names(self.folder(build)))

    def waiting(self, build: str) -> dict[str, Path]:
        """What others have kept and a build was not given yet, by name.

        Others are also builds that the campaign file no longer has, and the target itself, from
        when it had one build alone.
        """
        own = self._home / build / CORPUS
        known = {*_names(own), *_names(self.folder(build))}
        found: dict[str, Path] = {}
        for folder in (self._home / CORPUS, *sorted(self._home.glob(f"*/{CORPUS}"))):
            if folder != own:
                found |= {name: folder / name for name in _names(folder) if name not in known}
        return found

    def bring(self, build: str) -> None:
        """Give a build what waits for it."""
        folder = self.folder(build)
        make_folders(folder)
        for name, path in self.waiting(build).items():
            try:
                os.link(path, folder / name, follow_symlinks=False)
            except OSError:  # not every file system has links
                shutil.copyfile(path, folder / name, follow_symlinks=False)


def _names(folder: Path) -> Iterator[str]:
    """The seeds in a folder; nothing else that may lie there."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield entry.name
    except OSError:  # there is none yet
        return
