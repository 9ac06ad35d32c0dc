"""When the cores of machines are free, as far as who gives out turns can know: to look ahead.

A turn is given out a moment before a core is free for it, so that it is all ready by then. Times
are told, not measured: a turn is expected to take as long as it was given, and one that waits to
begin when the first that it can wait for ends.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

AHEAD = 1.0
"""Seconds before the end of a turn at which its cores can be given out again; at most its half."""

TOGETHER = 2
"""Turns for each core of a machine that can be there at once: at work, waiting, being stored."""


@dataclass
class _Entry:
    """A turn at a machine; it waits as long as ``begins`` is None."""

    cores: int
    seconds: float
    begins: float | None


class _Machine:
    """The turns at one machine, in the order in which they came."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.turns: dict[int, _Entry] = {}
        self.free = cores
        """As of the last look."""

    def begin(self, at: float) -> None:
        """Let those who wait begin, in order, as cores allow."""
        idle = self.cores - sum(e.cores for e in self.turns.values() if e.begins is not None)
        for entry in self.turns.values():
            if entry.begins is None:
                if entry.cores > idle:
                    return
                entry.begins = at
                idle -= entry.cores

    def look(self, now: float) -> float | None:
        """Count anew; when that has to be done again, if time alone changes something."""
        opens = self._opens(now)
        later = [at for at, _ in opens if at > now]
        taken = sum(cores for at, cores in opens if at > now)
        room = TOGETHER * self.cores - sum(entry.cores for entry in self.turns.values())
        self.free = max(0, min(self.cores - taken, room))
        return min(later, default=None)

    def ready(self, now: float) -> float:
        """When the next core is expected to have nothing to do."""
        if sum(entry.cores for entry in self.turns.values()) < self.cores:
            return now
        return min(self._ends(now))

    def _opens(self, now: float) -> list[tuple[float, int]]:
        """From when on the cores of each turn can be given out again."""
        entries = self.turns.values()
        return [
            (end - min(AHEAD, entry.seconds / 2), entry.cores)
            for entry, end in zip(entries, self._ends(now), strict=True)
        ]

    def _ends(self, now: float) -> list[float]:
        """When each turn is expected to end."""
        cores: list[float] = []
        ends = []
        for entry in self.turns.values():
            begins = entry.begins
            if begins is None:
                cores.sort()
                begins = cores[min(entry.cores, len(cores)) - 1] if cores else now
                del cores[: entry.cores]
            end = max(now, begins + entry.seconds)
            cores += [end] * entry.cores
            ends.append(end)
        return ends


class Timetable:
    """The turns at all machines, which are known by their addresses."""

    def __init__(self) -> None:
        self._machines: dict[str, _Machine] = {}
        self._looks: list[tuple[float, str]] = []
        self._free = 0
        self._open: set[str] = set()

    def there(self, machines: dict[str, int], now: float) -> None:
        """Which machines there are, with how many cores."""
        for address in self._machines.keys() - machines.keys():
            self._free -= self._machines.pop(address).free
            self._open.discard(address)
        for address, cores in machines.items():
            if address not in self._machines:
                self._machines[address] = _Machine(cores)
                self._free += cores
                self._look(address, now)

    def add(self, address: str, epoch: int, cores: int, seconds: float, now: float) -> None:
        """A turn goes to a machine."""
        if machine := self._machines.get(address):
            machine.turns[epoch] = _Entry(cores, seconds, None)
            machine.begin(now)
            self._look(address, now)

    def remove(self, address: str, epoch: int, ended: float, now: float) -> None:
        """A turn is there no longer; ``ended``: when it gave its cores back."""
        machine = self._machines.get(address)
        if machine and machine.turns.pop(epoch, None):
            machine.begin(ended)
            self._look(address, now)

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
        return self._looks[0][0] if self._looks else None

    def _pass(self, now: float) -> None:
        while self._looks and self._looks[0][0] <= now:
            _, address = heapq.heappop(self._looks)
            if address in self._machines:
                self._look(address, now)

    def _look(self, address: str, now: float) -> None:
        machine = self._machines[address]
        before = machine.free
        again = machine.look(now)
        self._free += machine.free - before
        (self._open.add if machine.free else self._open.discard)(address)
        if again is not None:
            heapq.heappush(self._looks, (again, address))
