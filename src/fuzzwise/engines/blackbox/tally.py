"""What a session has counted so far, as one small file that is replaced whole.

Inputs follow from the numbers of their runs: a process that is killed runs again what it had not
written down, and comes to the same counts. So everything that belongs to runs is in here, and
only in here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from fuzzwise.files import write_whole
from fuzzwise.model import Observation
from fuzzwise.received import cannot_read, read_limited
from fuzzwise.validation import LARGEST

VERSION = 1
MOST_UNTRACED = 20
"""Crashes without a known stack that are examined in a turn."""

MOST_TRACES = 2000
"""Stacks that are told apart: crashes of a program that overwrites its stack are endless variety,
and count as crashes without a known stack then."""

MOST_TRIES = 6
"""Inputs with one stack that are examined before it counts as not showing again."""

MOST_KEPT = 5
"""Inputs with one stack that are kept."""

SILENT = ""
"""In place of a bug: what did not crash when it was examined."""


Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
"""What can be counted; a file that says more is damaged."""


class Crash(msgspec.Struct, frozen=True):
    """A run that crashed: enough to make its input again, and when it was."""

    lane: Count
    run: Count
    n: Count
    seconds: float
    length: Count


class Trace(msgspec.Struct):
    """Crashes with one stack; ``bug`` is None until one of them has been examined.

    ``waiting`` are those that can be examined, or only be kept where the bug is known already;
    ``kept`` counts the inputs that were kept.
    """

    first: Crash
    count: Count = 0
    bug: str | None = None
    tries: Count = 0
    kept: Count = 0
    waiting: list[Crash] = msgspec.field(default_factory=list)


class Shown(msgspec.Struct):
    """How often a bug was shown, and when first."""

    count: Count
    n: Count
    seconds: float


class Tally(msgspec.Struct):
    """All counts of one generation: of one build, one seed file and one way to mutate it.

    ``lanes`` are the runs done with each random seed. ``sample`` are crashes of the present turn
    without a known stack, every ``stride``-th; those to be examined are ``waiting``. ``earlier``
    counts crashes of the generations before, ``unchecked`` are bugs of which it is not known
    whether they show every time.
    """

    generation: str
    fingerprint: str
    version: int = VERSION
    began: str = ""
    checked: bool = False
    lanes: list[Count] = msgspec.field(default_factory=list)
    seconds: float = 0.0
    crashes: Count = 0
    traces: dict[str, Trace] = msgspec.field(default_factory=dict)
    seen: Count = 0
    stride: Count = 1
    sample: list[Crash] = msgspec.field(default_factory=list)
    waiting: list[Crash] = msgspec.field(default_factory=list)
    not_examined: Count = 0
    silent: Count = 0
    hangs: Count = 0
    out_of_memory: Count = 0
    hangs_kept: Count = 0
    bugs: dict[str, Shown] = msgspec.field(default_factory=dict)
    earlier: dict[str, Count] = msgspec.field(default_factory=dict)
    unchecked: list[str] = msgspec.field(default_factory=list)

    @property
    def n(self) -> int:
        """Runs of all lanes."""
        return sum(self.lanes)

    def crash(self, crash: Crash, trace: int) -> None:
        """Count a crash; ``trace`` is 0 where its stack is not known."""
        self.crashes += 1
        name = f"{trace:016x}"
        known = self.traces.get(name) if trace else None
        if known is None and (not trace or len(self.traces) >= MOST_TRACES):
            self._add_to_sample(crash)
            return
        if known is None:
            known = self.traces[name] = Trace(crash)
        known.count += 1
        if known.bug == SILENT:
            self.silent += 1
        elif known.bug is None:
            if known.tries + len(known.waiting) < MOST_TRIES:
                known.waiting.append(crash)
        else:
            self._show(known.bug, 1, crash)
            if known.kept + len(known.waiting) < MOST_KEPT:
                known.waiting.append(crash)

    def examined(self, trace: str, crash: Crash, bug: str) -> None:
        """Note the bug that a crash with this stack has shown (SILENT: none)."""
        known = self.traces[trace]
        known.tries += 1
        known.waiting.remove(crash)
        if bug:
            known.bug = bug
            self._show(bug, known.count, known.first)
        elif known.tries >= MOST_TRIES:
            known.bug = SILENT
            known.waiting.clear()
            self.silent += known.count

    def examined_alone(self, crash: Crash, bug: str) -> None:
        """Note the bug that a crash without a known stack has shown (SILENT: none)."""
        self.waiting.remove(crash)
        if bug:
            self._show(bug, 1, crash)
        else:
            self.silent += 1

    def choose(self) -> None:
        """End the sample of a turn: some of it, evenly spread, is to be examined."""
        room = max(0, MOST_UNTRACED - len(self.waiting))
        chosen = evenly(self.sample, room)
        self.waiting += chosen
        self.not_examined += len(self.sample) - len(chosen)
        self.sample, self.seen, self.stride = [], 0, 1

    def count_of(self, bug: str) -> int:
        """Crashes that showed a bug, those of earlier generations included; 0 if not known."""
        shown = self.bugs.get(bug)
        return self.earlier.get(bug, 0) + (shown.count if shown else 0)

    def rename(self, bug: str, name: str) -> None:
        """A bug is known by another name now."""
        for counts in (self.bugs, self.earlier):
            if bug in counts:
                counts[name] = counts.pop(bug)  # type: ignore[assignment]
        self.unchecked = [name if known == bug else known for known in self.unchecked]
        for trace in self.traces.values():
            trace.bug = name if trace.bug == bug else trace.bug

    def observation(self) -> Observation:
        """What estimators see: species are bugs, and a run shows one at most."""
        n = self.n
        counts = [shown.count for shown in self.bugs.values()]
        f1, f2, f3, f4 = (counts.count(times) for times in (1, 2, 3, 4))
        latest = max(self.bugs.values(), key=lambda shown: shown.n, default=None)
        return Observation(
            n=n,
            seconds=self.seconds,
            last_discovery_seconds=latest.seconds if latest else None,
            species=len(counts),
            f=(f1, f2, f3, f4),
            k=f1,
            discoveries=np.array(sorted(shown.n for shown in self.bugs.values()), np.int64),
        )

    def save(self, path: Path, *, to_disk: bool = False) -> None:
        """Write the file whole, so that there is always one that can be read.

        Many times a turn; at its end ``to_disk``, so that what was told outlives a power cut.
        """
        write_whole(path, msgspec.json.encode(self), to_disk=to_disk)

    def _show(self, bug: str, count: int, first: Crash) -> None:
        shown = self.bugs.get(bug)
        if shown is None:
            self.bugs[bug] = Shown(count, first.n, first.seconds)
            return
        shown.count += count
        if first.n < shown.n:  # its stack was examined late
            shown.n, shown.seconds = first.n, first.seconds

    def _add_to_sample(self, crash: Crash) -> None:
        self.seen += 1
        if (self.seen - 1) % self.stride:
            self.not_examined += 1
            return
        self.sample.append(crash)
        if len(self.sample) >= 2 * MOST_UNTRACED:
            self.not_examined += len(self.sample) // 2
            self.sample = self.sample[::2]
            self.stride *= 2


_DECODER = msgspec.json.Decoder(Tally)
"""Made once: msgspec crashes where two threads make out a type at the same time."""


def load(path: Path) -> Tally | None:
    """The tally of a file; None where there is none, or a damaged one."""
    try:
        tally = _DECODER.decode(read_limited(path, follow=False))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError as error:  # a folder in its place, or one's own file no longer
        raise cannot_read(path, error) from error
    return tally if tally.version == VERSION else None


def evenly(crashes: list[Crash], most: int) -> list[Crash]:
    """So many of a list, the first among them, with equal distances between them."""
    if len(crashes) <= most:
        return list(crashes)
    return [crashes[number * len(crashes) // most] for number in range(most)]


def smallest(crashes: Iterable[Crash]) -> Crash:
    """The crash with the shortest input, the earliest of those."""
    return min(crashes, key=lambda crash: (crash.length, crash.n))
