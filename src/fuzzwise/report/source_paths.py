"""Paths as a reader on another machine knows them: from the sources, or from the campaign."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

from fuzzwise.text import base_name

_INSTALLED = re.compile(r".*/((?:site|dist)-packages/.+)")
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/build/", "/proc/", "/sys/", "/dev/")
_BEGINS = r"(?<![\w./~-])"
_PARTS = r"/[\w.+@=,~%:-]+(?:/[\w.+@=,~%:-]+)*"
_ABSOLUTE = re.compile(_BEGINS + _PARTS)
_ABSOLUTE_ANYWHERE = re.compile(rf"(?:{_BEGINS}|(?<=[\s'\"]-[A-Za-z])){_PARTS}/?")
"""Also behind an option of one letter, as in -I/usr/include."""
_HOMELY = re.compile(r"(?<![\w./~-])~\w*/")
MOST_CHARACTERS = 4096


class SourcePaths:
    """Makes paths relative: to the campaign's folder, or to the tree that the sources are in.

    The tree is what has the repository around a file, or the present folder; where neither is
    known, as on another machine, the deepest folder that all ``files`` have in common. Files of
    the system, and of no such tree, stay as they are; where ``share`` is set, they are named
    without their folders, and the present folder, which tells of its user, is no tree.
    """

    def __init__(self, folder: Path, files: Iterable[str] = (), *, share: bool = False) -> None:
        self._folders = _names_of(folder)
        self._share = share
        known = [file for file in files if file.startswith("/") and len(file) <= MOST_CHARACTERS]
        lost = {str(PurePosixPath(file).parent) for file in known if self._is_lost(file)}
        self._common = os.path.commonpath(lost) if lost else ""
        self._known = self._known_folders(known)
        self._pattern = _any_of(self._known, anywhere=share)

    def __call__(self, path: str) -> str:
        """A path, relative where that is possible."""
        if not path.startswith("/"):
            return path
        if len(path) > MOST_CHARACTERS:
            return base_name(path) if self._share else path
        near = os.path.normpath(path)
        for folder in self._folders:
            if (within := _below(folder, near)) is not None:
                return within
        if installed := _INSTALLED.fullmatch(near):
            return installed[1]
        for tree in self._trees(near):
            if tree and tree != "/" and (within := _below(tree, near)) is not None:
                return within
        return base_name(near) if self._share else path

    def in_text(self, text: str) -> str:
        """A text with all its absolute paths made relative.

        A path with spaces in it is recognised where its folder is known: that of the campaign, of
        one of the files, and where a report is shared, of the present folder and of the home.
        """
        if self._share:
            text = _HOMELY.sub("/", text.replace("file://", ""))
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: self._known[found[0]], text)
        pattern = _ABSOLUTE_ANYWHERE if self._share else _ABSOLUTE
        return pattern.sub(lambda found: self._with_place(found[0]), text)

    def _trees(self, near: str) -> tuple[str, ...]:
        if self._share:
            return (_repository(near), self._common)
        return (_repository(near), os.getcwd(), self._common)  # noqa: PTH109

    def _known_folders(self, files: Iterable[str]) -> dict[str, str]:
        """What stands in a text for each folder that is known: a folder, or the root."""
        known = dict.fromkeys((f"{folder}/" for folder in self._folders), "")
        if not self._share:
            return known
        at_home = (os.path.expanduser("~"), os.getcwd())  # noqa: PTH109, PTH111
        for path in (*self._folders, *files, *(f"{folder}/." for folder in at_home)):
            for above in PurePosixPath(path).parents:
                if len(above.parts) > 2:  # of two parts, as /home, is seen by its form
                    known.setdefault(f"{above}/", "/")
        for file in files:
            known[f"{os.path.dirname(file)}/"] = self(file).removesuffix(base_name(file))  # noqa: PTH120
        return {folder: near for folder, near in known.items() if folder != "/"}

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


def _names_of(folder: Path) -> tuple[str, ...]:
    """A folder as it is called, and as it is really called."""
    names = (str(folder.absolute()), os.path.realpath(folder))
    return tuple(dict.fromkeys(name for name in names if name != "/"))


def _any_of(folders: Iterable[str], *, anywhere: bool) -> re.Pattern[str] | None:
    longest = sorted(folders, key=len, reverse=True)
    if not longest:
        return None
    begins = "" if anywhere else _BEGINS
    return re.compile(rf"{begins}(?:{'|'.join(map(re.escape, longest))})")


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
