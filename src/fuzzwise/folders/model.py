"""What is found in a folder: targets, and for every other file what it was taken for or why not.

A kind of folder is one module with a function ``find`` from a ``Tree`` to a ``Found``. It looks at
the files that nobody before it has taken, and accounts for those that are of its kind; what it does
not know it leaves to the others. ``recognise`` has the list of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

TARGET, SEEDS = "target", "seeds"


@dataclass(frozen=True)
class FoundTarget:
    """A target as a [[target]] of a campaign file has it.

    ``keys`` are in the order of the file; a Path among the values is absolute, and written as it
    is from the file. ``name`` is a wish: two targets are never called the same in the end.
    ``remarks`` are sentences about what is not as somebody might expect.
    """

    name: str
    engine: str
    keys: Mapping[str, Any]
    limits: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundFile:
    """A file, or a folder with all that is in it, and what it is.

    ``taken_for`` is a word or two, "" where it is not used; ``why`` says more, and always where it
    is not. ``target`` is the name of the target's file that it belongs to, if it is one.
    """

    path: Path
    taken_for: str
    why: str = ""
    target: str = ""


@dataclass(frozen=True)
class Found:
    """All that one look at a folder has shown."""

    targets: tuple[FoundTarget, ...] = ()
    files: tuple[FoundFile, ...] = ()

    def __add__(self, other: Found) -> Found:
        return Found((*self.targets, *other.targets), (*self.files, *other.files))


@dataclass(frozen=True)
class Tree:
    """The files of a folder that are not accounted for yet; paths are absolute, in order.

    ``say`` is told of what takes long, before it begins.
    """

    folder: Path
    files: tuple[Path, ...]
    say: Callable[[str], None] = lambda _: None

    def without(self, taken: Iterable[FoundFile]) -> Tree:
        """What is left."""
        gone = {each.path for each in taken}
        left = (
            path for path in self.files if path not in gone and gone.isdisjoint(self._above(path))
        )
        return replace(self, files=tuple(left))

    def shown(self, path: Path) -> str:
        """A path of the folder as its user would say it."""
        try:
            return str(path.relative_to(self.folder)) or "."
        except ValueError:
            return str(path)

    @cached_property
    def known(self) -> frozenset[Path]:
        """The files, to look one up."""
        return frozenset(self.files)

    def files_below(self, folder: Path) -> int:
        """How many files a folder has in it, at any depth."""
        return self._below[folder]

    @cached_property
    def _below(self) -> Counter[Path]:
        return Counter(folder for path in self.files for folder in self._above(path))

    def _above(self, path: Path) -> Iterable[Path]:
        for folder in path.parents:
            if folder == self.folder:
                return
            yield folder
