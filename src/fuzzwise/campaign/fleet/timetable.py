"""When the cores of machines are free, as far as who gives out turns can know: to look ahead.

A turn is given out a moment before a core is free for it, so that it is all ready by then. Times
are told, not measured: a turn is expected to take as long as it was given, and one that waits to
begin when the first that it can wait for ends.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

AHEAD = 1.0
"""Seconds before the end of a turn at which its cores can be given out again; at most its half."""

TOGETHER = 2
"""Turns for each core of a machine that can be there at once: at work, waiting, being stored."""


@dataclass(eq=False)
class _Entry:
    """A turn at a machine; where it waits, ``begins`` is expected.

    ``behind``: the turns for whose cores it waits, each with its end. ``is_open``: its cores can be
    given out again.
    """

    epoch: int
    cores: int
    seconds: float
    begins: float
    waits: bool = True
    behind: list[tuple[float, int]] = field(default_factory=list)
    is_open: bool = False

    @property
    def ends(self) -> float:
        """When it is expected to end."""
        return self.begins + self.seconds

    @property
    def opens(self) -> float:
        """From when on its cores can be given out again."""
        return self.ends - min(AHEAD, self.seconds / 2)


class _Machine:
    """The turns at one machine; nothing here looks at all of them, since there may be hundreds."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.turns: dict[int, _Entry] = {}
        self._waiting: deque[_Entry] = deque()
        self._there = 0
        """Cores of all turns; below, of those that are at work, and of those that are not open."""
        self._at_work = 0
        self._taken = 0
        self._ends: list[tuple[float, int]] = []
        """When turns at work end behind which nobody waits, the first one first."""

    @property
    def free(self) -> int:
        """Cores that can be given out."""
        return max(0, min(self.cores - self._taken, TOGETHER * self.cores - self._there))

    def add(self, entry: _Entry, now: float) -> None:
        """A turn comes; it begins if there are cores for it and nobody waits."""
        self.turns[entry.epoch] = entry
        self._there += entry.cores
        self._taken += entry.cores
        self._waiting.append(entry)
        if not self._begin(now):
            self._line_up(entry, now)

    def remove(self, epoch: int, ended: float) -> list[_Entry]:
        """A turn is there no longer, and has left its cores then; those who begin for that."""
        entry = self.turns.pop(epoch)
        self._there -= entry.cores
        if not entry.is_open:
            self._taken -= entry.cores
        if entry.waits:
            self._waiting.remove(entry)
            self._step_out(entry)
        else:
            self._at_work -= entry.cores
        return self._begin(ended)

    def open(self, entry: _Entry, now: float) -> bool:
        """Whether the cores of a turn, whose time for that has come, can be given out again.

        Not while it waits: those before it take longer than was expected.
        """
        if entry.waits:
            entry.begins = now
        else:
            entry.is_open = True
            self._taken -= entry.cores
        return entry.is_open

    def ready(self, now: float) -> float:
        """When the next core is expected to have nothing to do."""
        if self._there < self.cores:
            return now
        while self._ends and self._ends[0][1] not in self.turns:
            heapq.heappop(self._ends)
        return max(now, self._ends[0][0]) if self._ends else float("inf")

    def _begin(self, at: float) -> list[_Entry]:
        """Let those who wait begin, in order, as cores allow."""
        begun = []
        while self._waiting and self._waiting[0].cores <= self.cores - self._at_work:
            entry = self._waiting.popleft()
            self._step_out(entry)
            entry.waits, entry.begins = False, at
            self._at_work += entry.cores
            heapq.heappush(self._ends, (entry.ends, entry.epoch))
            begun.append(entry)
        return begun

    def _line_up(self, entry: _Entry, now: float) -> None:
        """Have a turn wait for those that end first."""
        found = 0
        while found < entry.cores and self._ends:
            end, epoch = heapq.heappop(self._ends)
            if before := self.turns.get(epoch):
                entry.behind.append((end, epoch))
                entry.begins = max(now, end)
                found += before.cores

    def _step_out(self, entry: _Entry) -> None:
        """A turn waits for nobody any more; others can wait for those it waited for."""
        for end in entry.behind:
            heapq.heappush(self._ends, end)
        entry.behind = []


class Timetable:
    """The turns at all machines, which are known by their addresses."""

    def __init__(self) -> None:
        self._machines: dict[str, _Machine] = {}
        self._looks: list[tuple[float, str, int]] = []
        """When the cores of which turn can be given out again; also of some that have gone."""
        self._free = 0
        self._open: set[str] = set()

    def there(self, machines: dict[str, int], now: float) -> None:
        """Which machines there are, with how many cores."""
        self._pass(now)
        for address in self._machines.keys() - machines.keys():
            self._free -= self._machines.pop(address).free
            self._open.discard(address)
        for address, cores in machines.items():
            if address not in self._machines:
                self._machines[address] = _Machine(cores)
                self._free += cores
                self._open.add(address)

    def add(self, address: str, epoch: int, cores: int, seconds: float, now: float) -> None:
        """A turn goes to a machine."""
        if machine := self._machines.get(address):
            entry = _Entry(epoch, cores, seconds, now)
            with self._counted(address, machine):
                machine.add(entry, now)
            self._look_at(address, entry)

    def remove(self, address: str, epoch: int, ended: float, now: float) -> None:
        """A turn is there no longer; ``ended``: when it gave its cores back."""
        self._pass(now)
        machine = self._machines.get(address)
        if machine and epoch in machine.turns:
            with self._counted(address, machine):
                begun = machine.remove(epoch, ended)
            for entry in begun:
                self._look_at(address, entry)

    def free(self, now: float) -> int:
        """Cores of all machines that can be given out."""
        self._pass(now)
        return self._free

    def free_at(self, address: str, now: float) -> int:
        """Cores of a machine that can be given out."""
        self._pass(now)
        machine = self._machines.get(address)
        return machine.free if machine else 0

    def open(self, now: float) -> set[str]:
        """Machines that have cores to be given out."""
        self._pass(now)
        return self._open

    def ready(self, address: str, now: float) -> float:
        """When the next core of a machine is expected to have nothing to do."""
        return self._machines[address].ready(now)

    def next_change(self, now: float) -> float | None:
        """When there may be more cores to be given out, if time alone brings them."""
        self._pass(now)
        while self._looks and not self._is_due(*self._looks[0]):
            heapq.heappop(self._looks)
        return self._looks[0][0] if self._looks else None

    def _pass(self, now: float) -> None:
        """Give out the cores of all turns whose time for that has come."""
        while self._looks and self._looks[0][0] <= now:
            at, address, epoch = heapq.heappop(self._looks)
            if self._is_due(at, address, epoch):
                machine = self._machines[address]
                entry = machine.turns[epoch]
                with self._counted(address, machine):
                    opened = machine.open(entry, now)
                if not opened:
                    self._look_at(address, entry)

    def _is_due(self, at: float, address: str, epoch: int) -> bool:
        """Whether a turn is still there, and this is still when its cores are expected."""
        machine = self._machines.get(address)
        entry = machine.turns.get(epoch) if machine else None
        return entry is not None and not entry.is_open and entry.opens == at

    def _look_at(self, address: str, entry: _Entry) -> None:
        heapq.heappush(self._looks, (entry.opens, address, entry.epoch))

    @contextmanager
    def _counted(self, address: str, machine: _Machine) -> Iterator[None]:
        """Around a change of a machine: what it has free is counted in the sum of all."""
        before = machine.free
        yield
        self._free += machine.free - before
        (self._open.add if machine.free else self._open.discard)(address)
