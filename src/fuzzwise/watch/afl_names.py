"""Names of files in an AFL++ queue: how each entry came to be.

``id:000123,src:000045,time:T,execs:E,op:havoc,rep:2[,+cov]`` was found by mutation, after T
milliseconds and E executions. ``id:000003,time:0,execs:0,orig:NAME`` was there at the start.
``id:000062,sync:NAME,src:000008`` was taken over from another fuzzer. AFL 2.x and early AFL++ leave
out execs, and time.

When a campaign is resumed, 4.04c numbers the whole queue anew and keeps the name of each entry that
was found before as ``id:000059,time:0,execs:0,orig:id:000016,src:000002,time:43,execs:479,…``: the
one it had at first, however often it is resumed. Those first numbers of all entries that were ever
found are one sequence: the order in which they were found, over all resumes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from fuzzwise.model import Ints
from fuzzwise.text import number

SEED, FOUND, IMPORTED = 0, 1, 2

UNKNOWN = -1

_NAME = re.compile(
    r"id[:_](?P<id>\d{6,12})"
    r"(?:,time:\d{1,18},execs:\d{1,18})?"
    r"(?:(?P<orig>,orig:)(?:id[:_](?P<first>\d{6,12})(?=,s(?:rc|ync):))?)?"
    r"(?:,(?P<how>src|sync):[^,]*(?P<rest>.*))?",
    re.DOTALL,
)
_TIME = re.compile(r",time:(\d{1,18})")
_EXECS = re.compile(r",execs:(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Entry:
    """A queue entry; ``number`` is the one it had when it was new, ``resumed`` if it has another.

    ``milliseconds`` and ``execs`` are -1 where the name does not tell.
    """

    number: int
    kind: int
    resumed: bool
    milliseconds: int = UNKNOWN
    execs: int = UNKNOWN


def entry(name: str) -> Entry | None:
    """The entry of a name; None for a file that is none."""
    found = _NAME.match(name)
    if found is None:
        return None
    own, orig, first, how, rest = found.group("id", "orig", "first", "how", "rest")
    if orig and first is None:
        return Entry(int(own), SEED, resumed=False)
    kept = int(own if first is None else first)
    if how == "sync":
        return Entry(kept, IMPORTED, resumed=first is not None)
    if how is None:
        return Entry(kept, SEED, resumed=False)
    return Entry(
        kept, FOUND, first is not None, _value(_TIME.match(rest)), _value(_EXECS.search(rest))
    )


def _value(found: re.Match[str] | None) -> int:
    if found is None:
        return UNKNOWN
    value = number(found[1])
    return UNKNOWN if value is None else value


@dataclass(frozen=True, eq=False)
class Queue:
    """All entries of a queue, column by column, in the order of their first numbers."""

    numbers: Ints
    kinds: Ints
    resumed: Ints
    milliseconds: Ints
    execs: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def only(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Queue:
        """Some of the entries."""
        return Queue(
            numbers=self.numbers[chosen],
            kinds=self.kinds[chosen],
            resumed=self.resumed[chosen],
            milliseconds=self.milliseconds[chosen],
            execs=self.execs[chosen],
        )

    def with_kinds(self, kinds: Ints) -> Queue:
        """The same entries, of other kinds."""
        return replace(self, kinds=kinds)


def queue(entries: list[Entry]) -> Queue:
    """Entries as columns. Where a number was given twice, the one from before a resume is first."""
    rows = np.array(
        [(e.number, e.kind, e.resumed, e.milliseconds, e.execs) for e in entries], dtype=np.int64
    ).reshape(len(entries), 5)
    rows = rows[np.lexsort((-rows[:, 2], rows[:, 0]))]
    return Queue(*(rows[:, i] for i in range(5)))
