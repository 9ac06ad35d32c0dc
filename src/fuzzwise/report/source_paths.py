"""Paths as a reader on another machine knows them: from the sources, or from the campaign."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

_INSTALLED = re.compile(r".*/((?:site|dist)-packages/.+)")
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/build/", "/proc/", "/sys/", "/dev/")
_ABSOLUTE = re.compile(r"(?<![\w./~-])/[\w.+@=,~%:-]+(?:/[\w.+@=,~%:-]+)*")
MOST_CHARACTERS = 4096


class SourcePaths:
    """Makes paths relative: to the campaign's folder, or to the tree that the sources are in.

    The tree is what has the repository around a file, or the present folder; where neither is
    known, as on another machine, the deepest folder that all ``files`` have in common. Files of
    the system, and of no such tree, stay as they are.
    """

    def __init__(self, folder: Path, files: Iterable[str] = ()) -> None:
        self._folder = str(folder.absolute())
        lost = {str(PurePosixPath(file).parent) for file in files if self._is_lost(file)}
        self._common = os.path.commonpath(lost) if lost else ""

    def __call__(self, path: str) -> str:
        """A path, relative where that is possible."""
        if not path.startswith("/") or len(path) > MOST_CHARACTERS:
            return path
        near = os.path.normpath(path)
        if (within := _below(self._folder, near)) is not None:
            return within
        if installed := _INSTALLED.fullmatch(near):
            return installed[1]
        for tree in (_repository(near), os.getcwd(), self._common):  # noqa: PTH109
            if tree and tree != "/" and (within := _below(tree, near)) is not None:
                return within
        return path

    def in_text(self, text: str) -> str:
        """A text with all its absolute paths made relative."""
        return _ABSOLUTE.sub(lambda found: self._with_place(found[0]), text)

    def _with_place(self, word: str) -> str:
        """A path that may have a line and a column behind it."""
        path, colon, place = word.partition(":")
        return f"{self(path)}{colon}{place}"

    def _is_lost(self, file: str) -> bool:
        return (
            file.startswith("/")
            and not file.startswith(_SYSTEM)
            and not _INSTALLED.fullmatch(file)
            and len(file) <= MOST_CHARACTERS
            and not _repository(os.path.normpath(file))
        )


def _below(tree: str, path: str) -> str | None:
    return path[len(tree) + 1 :] if path.startswith(f"{tree.rstrip('/')}/") else None


def _repository(path: str) -> str:
    """The folder of the repository that a file is in, by git; "" where there is none."""
    return "" if path.startswith(_SYSTEM) else _root(os.path.dirname(path))  # noqa: PTH120


@cache
def _root(folder: str) -> str:
    try:
        if (Path(folder) / ".git").exists():
            return folder
    except (OSError, ValueError):
        return ""
    above = os.path.dirname(folder)  # noqa: PTH120
    return "" if above == folder else _root(above)
