"""Which files a fuzzing process starts from."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.seed_marks import Fatal, mark_of, marks_before
from fuzzwise.files import content_hash, paths_of, write_whole
from fuzzwise.received import MOST_DATA, read_limited
from fuzzwise.text import base_name

MOST_KNOWN = 64
"""Known seeds given to a process that goes on with a campaign; all others are in the state."""

SAME_FOR = 1.0
"""Seconds for which a choice of seeds holds: to look at all files costs more than a short life."""

SAME_SHARE = 20.0
"""How many times longer than the look took a choice holds at least."""


MANY = 1_000
"""Files from which on libFuzzer is given folders, if all that is in them is to be executed."""

_LONGEST_PATH = 4095 - len("/.")
"""Bytes of the longest path that Linux takes, or so."""

_NAME = re.compile("[0-9a-f]{40}")
_NAMES = "names"
"""Stands among the marks of files that were given if there are names of contents, too."""


class SeedFiles:
    """The user's files, and the corpus that the campaign has made.

    A file is executed once in a campaign: its species are then in the state, and so are the bytes
    of those that were kept. libFuzzer itself needs some of the known ones: its mutations take
    parts of them, and the largest tells it how long an input may be.
    """

    def __init__(
        self,
        folder: CampaignFolder,
        corpus: Iterable[Path],
        at_once: int | None = None,
        *,
        takes_folders: bool = True,
    ) -> None:
        """``at_once``: how many files a process is given at most, where all take too long.

        ``takes_folders``: whether the program can be given folders, as libFuzzer can.
        """
        self._folder = folder
        self._corpus = tuple(corpus)
        self._given = folder.state / "given"
        self._fatal = Fatal(folder.state / "fatal-files")
        self._at_once = at_once
        self._takes_folders = takes_folders
        self._pending: list[str] = []
        self._looked = 0
        self.files = 0
        """Files that the latest process was given."""
        self.waiting = 0
        """Files of the user that no process was given yet."""
        self._option: tuple[float, set[str], list[str]] | None = None

    def option(self, skipped: set[str], rng: random.Random, *, everything: bool) -> list[str]:
        """The option that names the files; as a list of them, so that libFuzzer writes none.

        ``everything`` is for schedules of libFuzzer's own, which choose among these files only.
        Processes that follow each other within ``SAME_FOR``, as they do where a target crashes
        often, are given the same ones.
        """
        if self._option and not self._pending:
            until, left_out, words = self._option
            if time.monotonic() < until and left_out == skipped:
                return words
        began = time.monotonic()
        words = self._listed(skipped, rng, everything)
        now = time.monotonic()
        until = now + max(SAME_FOR, SAME_SHARE * (now - began))
        self._option = until, set(skipped), words
        return words

    def _listed(self, skipped: set[str], rng: random.Random, everything: bool) -> list[str]:
        given = self._marks_given()
        self._looked = time.time_ns()
        own = [path for path in self._own() if base_name(path) not in skipped]
        # Of files that end the target, some may be seeds of the campaign, known by their names.
        theirs = self._fatal.without(skipped - self._seeds_among(skipped), self._theirs())
        fresh = [path for path in theirs if not _is_given(path, given)] if given else theirs
        known = [*own, *sorted(set(theirs).difference(fresh))] if given else own
        self.waiting = len(fresh)
        most_known = MOST_KNOWN
        if self._at_once is not None:
            fresh, most_known = fresh[: (self._at_once + 1) // 2], max(1, self._at_once // 2)
        self._pending = fresh
        if (given and not everything) or self._at_once is not None:
            known = _sample(known, min(most_known, MOST_KNOWN), rng)
        self.files = len(fresh) + len(known)
        if not self.files:
            return []
        whole = not given and self._at_once is None and not skipped and self.files >= MANY
        if whole and self._takes_folders and all(path.is_dir() for path in self._corpus):
            return self._folders()
        listing = self._folder.state / "seed-files"
        # Another job, started just before, may be about to read it.
        write_whole(listing, in_list([*fresh, *known], self._folder.state), to_disk=False)
        return [f"-seed_inputs=@{listing.resolve()}"]

    def _folders(self) -> list[str]:
        """The words that name whole folders: a list of many files takes libFuzzer much longer.

        It would write all that it finds to the first one; there it cannot.
        """
        nothing = self._folder.state.resolve() / "no-files"
        nothing.mkdir(exist_ok=True)
        folders = [*self._corpus, self._folder.corpus]
        return ["-reload=0", unwritable(nothing), *(str(path.resolve()) for path in folders)]

    def among(self, artifacts: Sequence[Path]) -> set[str]:
        """The names of those contents that are of files which a process may be given."""
        names = {name_of(path): path.stat().st_size for path in artifacts}
        own = self._seeds_among(names.keys())
        sizes = {size for name, size in names.items() if name not in own}
        others = names.keys() - own
        return own | (self._fatal.among(others, sizes, self._theirs()) if others else set())

    def executed(self) -> None:
        """The process has made inputs of its own: it is through with the files it was given."""
        if self._pending or not self._given.exists():
            with self._given.open("a") as file:
                file.writelines(f"{mark}\n" for mark in marks_before(self._pending, self._looked))
            self.waiting -= len(self._pending)
            self._pending = []

    def _theirs(self) -> list[str]:
        return paths_of(path.absolute() for path in self._corpus)

    def _own(self) -> list[str]:
        folder = self._folder.corpus.absolute()
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file())

    def _seeds_among(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if (self._folder.corpus / name).exists()}

    def _marks_given(self) -> set[str]:
        try:
            given = read_limited(self._given, MOST_DATA, follow=False)
            lines = {"", *given.decode(errors="replace").splitlines()}
            return lines | {_NAMES} if any(map(_NAME.fullmatch, lines)) else lines
        except OSError:
            return set()


def unwritable(folder: Path) -> str:
    """Another name of a folder, which can be read by it, but not written to by anybody.

    It is as long as names may be, so that one of a file in it is too long.
    """
    name = str(folder)
    return name + "/." * ((_LONGEST_PATH - len(os.fsencode(name))) // 2)


def in_list(paths: Sequence[str], state: Path) -> bytes:
    """The content of a file that lists files for libFuzzer."""
    names = ",".join(paths)
    if names.count(",") >= len(paths):
        names = ",".join(str(without_comma(Path(path), state)) for path in paths)
    return names.encode(errors="surrogateescape")


def _is_given(path: str, given: set[str]) -> bool:
    """By its mark; an older fuzzwise has kept the names of contents."""
    return mark_of(path) in given or (_NAMES in given and name_of(Path(path)) in given)


def without_comma(path: Path, state: Path) -> Path:
    """The file under a name that fits into libFuzzer's list; AFL++'s names have commas.

    That is a link in the folder ``state``, which may come from elsewhere: one that leads to another
    file is made anew.
    """
    if "," not in str(path):
        return path
    link = state / "seed-links" / name_of(path)
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink() or link.readlink() != path:
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    return link.absolute()


def name_of(path: Path) -> str:
    """The name of a file's content, as libFuzzer gives it."""
    return content_hash(path, "sha1")


def _sample(files: list[str], most: int, rng: random.Random) -> list[str]:
    if len(files) <= most:
        return files
    largest = max(files, key=_size)
    return [largest, *rng.sample(files, most - 1)]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0  # gone meanwhile
