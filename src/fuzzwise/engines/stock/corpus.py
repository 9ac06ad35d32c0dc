"""What a process of stock libFuzzer starts from: its own corpus, and the user's files.

libFuzzer writes what it finds to its first folder, and removes there what it has a smaller input
for; that is the target's own. The user's folders come behind it, or, where not all files of theirs
are given, a list of files: it only reads them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from fuzzwise.engines.observer.seed_marks import Fatal
from fuzzwise.engines.observer.seeds import in_list, name_of
from fuzzwise.engines.stock.counts import StockFolder
from fuzzwise.files import paths_of, write_whole


class Corpus:
    """The files of a target; ``at_once``: how many of the user's a process is given at most."""

    def __init__(
        self, folder: StockFolder, theirs: tuple[Path, ...], at_once: int | None = None
    ) -> None:
        self._folder = folder
        self._theirs = theirs
        self._at_once = at_once
        self._fatal = Fatal(folder.state / "fatal-files")
        self.given = 0
        """Files that the latest process was given, its own and the user's."""
        self.chosen = 0
        """Files of the user among them."""
        self.left_out = 0
        """Files of the user that it was not given, for want of time."""

    def words(self, skipped: set[str], rng: random.Random) -> list[str]:
        """The words that name them; those in ``skipped`` end the target, and are left out."""
        found = self._paths()
        files = self._fatal.without(skipped, found)
        own = sum(1 for path in self._folder.corpus.iterdir() if path.is_file())
        chosen = files
        if self._at_once is not None and len(files) > self._at_once:
            chosen = rng.sample(files, self._at_once)
        self.given, self.chosen = own + len(chosen), len(chosen)
        self.left_out = len(files) - len(chosen)
        if len(chosen) == len(found) and all(p.is_dir() for p in self._theirs):
            # libFuzzer reads a folder sooner than a list, and writes to the first one only.
            folders = [str(path.resolve()) for path in self._theirs] if chosen else []
            return [str(self._folder.corpus.resolve()), *folders]
        listing = self._folder.state / "seed-files"
        write_whole(listing, in_list(chosen, self._folder.state), to_disk=False)
        option = [f"-seed_inputs=@{listing.resolve()}"] if chosen else []
        return [*option, str(self._folder.corpus.resolve())]

    def among(self, artifacts: Sequence[Path]) -> set[str]:
        """The names of contents of files which a process is given; its own are put aside."""
        names = {name_of(path): path.stat().st_size for path in artifacts}
        own = {name for name in names if (self._folder.corpus / name).exists()}
        for name in own:
            self._folder.put_aside(self._folder.corpus / name)
        others = names.keys() - own
        sizes = {names[name] for name in others}
        return own | (self._fatal.among(others, sizes, self._paths()) if others else set())

    def _paths(self) -> list[str]:
        return paths_of(path.absolute() for path in self._theirs)

    def notes(self) -> tuple[str, ...]:
        """What is to be told of it."""
        if not self.left_out:
            return ()
        return (
            "its corpus takes too long to execute: only some of its files, chosen at random, are "
            "given to each process. A smaller one (libFuzzer's -merge=1 makes it) helps",
        )
