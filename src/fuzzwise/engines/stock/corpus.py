"""What a process of stock libFuzzer starts from: its own corpus, and the user's files.

libFuzzer writes what it finds to its first folder, and removes there what it has a smaller input
for; that is the target's own. The user's files are named one by one, in a list: it only reads them.
"""

from __future__ import annotations

import random
from pathlib import Path

from fuzzwise.engines.observer.seeds import name_of, without_comma
from fuzzwise.engines.stock.counts import StockFolder
from fuzzwise.files import files_of, write_whole


class Corpus:
    """The files of a target; ``at_once``: how many of the user's a process is given at most."""

    def __init__(
        self, folder: StockFolder, theirs: tuple[Path, ...], at_once: int | None = None
    ) -> None:
        self._folder = folder
        self._theirs = theirs
        self._at_once = at_once
        self.given = 0
        """Files that the latest process was given, its own and the user's."""
        self.chosen = 0
        """Files of the user among them."""
        self.left_out = 0
        """Files of the user that it was not given, for want of time."""

    def words(self, skipped: set[str], rng: random.Random) -> list[str]:
        """The words that name them; those in ``skipped`` end the target, and are left out."""
        files = [path for path in files_of(self._theirs) if name_of(path) not in skipped]
        own = sum(1 for path in self._folder.corpus.iterdir() if path.is_file())
        chosen = files
        if self._at_once is not None and len(files) > self._at_once:
            chosen = rng.sample(files, self._at_once)
        self.given, self.chosen = own + len(chosen), len(chosen)
        self.left_out = len(files) - len(chosen)
        listing = self._folder.state / "seed-files"
        names = ",".join(str(without_comma(path.absolute(), self._folder.state)) for path in chosen)
        write_whole(listing, names.encode(errors="surrogateescape"), to_disk=False)
        option = [f"-seed_inputs=@{listing.resolve()}"] if chosen else []
        return [*option, str(self._folder.corpus.resolve())]

    def among(self, names: set[str]) -> set[str]:
        """Those of the names that are of files which a process is given; its own are put aside."""
        own = {name for name in names if (self._folder.corpus / name).exists()}
        for name in own:
            self._folder.put_aside(self._folder.corpus / name)
        return own | (names - own and names & {name_of(path) for path in files_of(self._theirs)})

    def notes(self) -> tuple[str, ...]:
        """What is to be told of it."""
        if not self.left_out:
            return ()
        return (
            "its corpus takes too long to execute: only some of its files, chosen at random, are "
            "given to each process. A smaller one (libFuzzer's -merge=1 makes it) helps",
        )
