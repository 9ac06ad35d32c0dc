"""Which files a fuzzing process starts from."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable
from pathlib import Path

from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.files import content_hash, files_of, write_whole
from fuzzwise.received import MOST_DATA, read_limited

MOST_KNOWN = 64
"""Known seeds given to a process that goes on with a campaign; all others are in the state."""

SAME_FOR = 1.0
"""Seconds for which a choice of seeds holds: to look at all files costs more than a short life."""


class SeedFiles:
    """The user's files, and the corpus that the campaign has made.

    A file is executed once in a campaign: its species are then in the state, and so are the bytes
    of those that were kept. libFuzzer itself needs some of the known ones: its mutations take
    parts of them, and the largest tells it how long an input may be.
    """

    def __init__(
        self, folder: CampaignFolder, corpus: Iterable[Path], at_once: int | None = None
    ) -> None:
        """``at_once``: how many files a process is given at most, where all take too long."""
        self._folder = folder
        self._corpus = tuple(corpus)
        self._given = folder.state / "given"
        self._at_once = at_once
        self._pending: list[str] = []
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
        words = self._listed(skipped, rng, everything)
        self._option = time.monotonic() + SAME_FOR, set(skipped), words
        return words

    def _listed(self, skipped: set[str], rng: random.Random, everything: bool) -> list[str]:
        given = self._names_given()
        own = self._own()
        theirs = files_of(self._corpus)
        known = [*own, *(path for path in theirs if name_of(path) in given)]
        fresh = [path for path in theirs if name_of(path) not in given]
        self.waiting = len(fresh)
        most_known = MOST_KNOWN
        if self._at_once is not None:
            fresh, most_known = fresh[: (self._at_once + 1) // 2], max(1, self._at_once // 2)
        self._pending = [name_of(path) for path in fresh]
        if (given and not everything) or self._at_once is not None:
            known = _sample(known, min(most_known, MOST_KNOWN), rng)
        files = [path for path in [*fresh, *known] if name_of(path) not in skipped]
        if not files:
            return []
        listing = self._folder.state / "seed-files"
        names = ",".join(str(without_comma(path.absolute(), self._folder.state)) for path in files)
        # Another job, started just before, may be about to read it.
        write_whole(listing, names.encode(errors="surrogateescape"), to_disk=False)
        return [f"-seed_inputs=@{listing.resolve()}"]

    def among(self, names: set[str]) -> set[str]:
        """Those of the names that are of files which a process may be given."""
        own = {name for name in names if (self._folder.corpus / name).exists()}
        return own | (names - own and names & {name_of(path) for path in files_of(self._corpus)})

    def executed(self) -> None:
        """The process has made inputs of its own: it is through with the files it was given."""
        if self._pending or not self._given.exists():
            with self._given.open("a") as file:
                file.writelines(f"{name}\n" for name in self._pending)
            self.waiting -= len(self._pending)
            self._pending = []

    def _own(self) -> list[Path]:
        with os.scandir(self._folder.corpus) as entries:
            return [Path(path) for path in sorted(e.path for e in entries if e.is_file())]

    def _names_given(self) -> set[str]:
        try:
            given = read_limited(self._given, MOST_DATA, follow=False)
            return {"", *given.decode(errors="replace").splitlines()}
        except OSError:
            return set()


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


def _sample(files: list[Path], most: int, rng: random.Random) -> list[Path]:
    if len(files) <= most:
        return files
    largest = max(files, key=lambda path: path.stat().st_size)
    return [largest, *rng.sample(files, most - 1)]
