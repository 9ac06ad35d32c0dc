"""Where AFL++ keeps things in the folder of a campaign, and the seeds that it starts from."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fuzzwise.engines.aflplusplus.stats import Untried, read_stats, stability, untried
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.seeds import name_of
from fuzzwise.files import files_of
from fuzzwise.model import Observation

OUTPUT = "afl"
INSTANCE = "default"
"""The name that afl-fuzz gives to a single instance."""

STATS = "fuzzer_stats"
"""Its statistics."""

NOTHING = b"\n"
"""The seed where there is no other: afl-fuzz wants one byte at least."""

_ENTRY = re.compile(r"id:(\d+)")

FINDS = {"crashes": "crash", "hangs": "timeout"}
"""Folders of afl-fuzz with inputs to examine, and what those are."""


class AflPlaces:
    """OUT/afl is the output folder of afl-fuzz, OUT/seeds what it was given to start from.

    OUT/to-examine has crashing inputs, and copies of seeds that crash, until they are examined.
    """

    def __init__(self, folder: CampaignFolder) -> None:
        self._folder = folder
        self.output = folder.out / OUTPUT
        self.queue = self.output / INSTANCE / "queue"
        self._resumed = self.output / INSTANCE / "_resume"
        self._stats = self.output / INSTANCE / STATS
        self.seeds = folder.out / "seeds"
        self.to_examine = folder.out / "to-examine"

    def can_go_on(self) -> bool:
        """Whether afl-fuzz has a queue there."""
        return any(_has_entry(place) for place in (self.queue, self._resumed))

    def gather(self, corpus: Iterable[Path], skipped: Collection[str]) -> None:
        """Put the seeds in their folder: the user's, and what earlier counts have left.

        ``skipped`` are the names (hashes) of those that end the target.
        """
        shutil.rmtree(self.seeds, ignore_errors=True)
        self.put_finds_aside()
        shutil.rmtree(self.output, ignore_errors=True)
        self.seeds.mkdir(parents=True)
        for name, path in self.not_given([*corpus, self._folder.corpus], skipped).items():
            _copy(path, self.seeds / name)
        if not any(self.seeds.iterdir()):
            (self.seeds / "nothing").write_bytes(NOTHING)

    def drop_cut_off_stats(self) -> None:
        """Remove statistics without their beginning, behind which afl-fuzz refuses to go on.

        It writes them in place, so that a kill or a full disk can leave half of a file.
        """
        if not {"start_time", "last_update"} <= read_stats(self._stats)[0].keys():
            self._stats.unlink(missing_ok=True)

    def not_given(self, corpus: Iterable[Path], skipped: Collection[str]) -> dict[str, Path]:
        """Files that afl-fuzz was not given yet, by their names (hashes)."""
        found = {}
        for path in files_of(corpus):
            with suppress(OSError):  # gone meanwhile
                name = name_of(path)
                given = name in skipped or (self.seeds / name).exists()
                if path.stat().st_size and not given:
                    found[name] = path
        return found

    def add(self, corpus: Iterable[Path], skipped: Collection[str]) -> None:
        """Put such files into the queue from which afl-fuzz goes on, behind all others.

        It executes the whole queue when it starts. Names are those that it gives to seeds.
        """
        queue = self._resumed if _has_entry(self._resumed) else self.queue
        taken = (_ENTRY.match(path.name) for path in queue.iterdir())
        number = max((int(entry[1]) for entry in taken if entry), default=-1)
        self.seeds.mkdir(parents=True, exist_ok=True)
        for name, path in self.not_given(corpus, skipped).items():
            number += 1
            _copy(path, queue / f"id:{number:06},time:0,execs:0,orig:{name}")
            _copy(path, self.seeds / name)

    def count_seeds(self) -> int:
        """How many files afl-fuzz was given to start from."""
        return sum(1 for _ in self.seeds.iterdir()) if self.seeds.is_dir() else 0

    def untried(self) -> Untried:
        """Entries that wait for their first turn, as AFL++ last wrote it."""
        return untried_in(self._folder.out) or Untried()

    def stability(self) -> float | None:
        """The share of the edges that an input shows every time, as AFL++ last wrote it."""
        return stability_in(self._folder.out)

    def with_waiting(self, observation: Observation) -> Observation:
        """The observation with the share of favored entries that wait, and how many were tried."""
        seen = self.untried()
        return replace(observation, waiting=seen.share, tried=seen.tried)

    def forget_queue(self) -> None:
        """Have the next start begin with the seeds, and not with the queue."""
        shutil.rmtree(self.queue, ignore_errors=True)
        shutil.rmtree(self._resumed, ignore_errors=True)

    def begin_again(self) -> None:
        """Put the counts aside, with the output folder that belongs to them."""
        self._folder.begin_again(self.output)

    def finds(self) -> Iterator[tuple[Path, str]]:
        """Crashing and hanging inputs that nobody has examined yet, with what AFL++ calls them."""
        for home in (self.output / INSTANCE, self.to_examine):
            for name, kind in FINDS.items():
                for place in sorted(home.glob(f"{name}*")):
                    yield from ((path, kind) for path in sorted(place.glob("id:*")))

    def put_finds_aside(self) -> None:
        """Keep what nobody has examined yet.

        afl-fuzz that goes on renames folders that are not empty, to the second, and gives up where
        that was done in this second already.
        """
        for path, kind in list(self.finds()):
            home = self.to_examine / ("hangs" if kind == "timeout" else "crashes")
            if home not in path.parents:
                home.mkdir(parents=True, exist_ok=True)
                path.replace(home / f"id:kept,{name_of(path)}")
        for name in FINDS:
            for place in (self.output / INSTANCE).glob(f"{name}*"):
                (place / "README.txt").unlink(missing_ok=True)
                if place.name != name:
                    with suppress(OSError):  # something that is not ours
                        place.rmdir()


def untried_in(out: Path) -> Untried | None:
    """What waits in the queue of the target in that folder; None where it is not one of AFL++."""
    if not (out / OUTPUT).is_dir():
        return None
    return untried(read_stats(out / OUTPUT / INSTANCE / STATS)[0])


def stability_in(out: Path) -> float | None:
    """The stability of the target in that folder; None where AFL++ has not said it."""
    return stability(read_stats(out / OUTPUT / INSTANCE / STATS)[0])


def _has_entry(place: Path) -> bool:
    try:
        with os.scandir(place) as entries:
            return any(entry.is_file() for entry in entries)
    except OSError:
        return False


def _copy(source: Path, target: Path) -> None:
    """Not a link: afl-fuzz makes links of its own, and trims what they lead to."""
    shutil.copyfile(source, target)
