"""Small recordings for tests, and a second, plain way to replay them."""

from __future__ import annotations

import numpy as np

from fuzzwise.lab.recording.recording import MARK, ConfigurationLog, Recording


def configuration(
    name: str, seconds: float, speed: float, crashes: list[tuple[int, int]], marks: int = 10
) -> ConfigurationLog:
    """A configuration of constant speed (runs a second) with crashes (run, bug)."""
    total = int(seconds * speed)
    points = {round(total * k / marks): MARK for k in range(1, marks + 1)}
    rows = sorted([*points.items(), *crashes], key=lambda row: (row[0], row[1] == MARK))
    runs = np.array([run for run, _ in rows], np.int64)
    times = np.round(runs / speed * 1e6).astype(np.int64)
    times[-1] = round(seconds * 1e6)
    return ConfigurationLog(name, runs, times, np.array([bug for _, bug in rows], np.int64))


def random_recording(
    rng: np.random.Generator, configurations: int, bugs: int, *, shared: bool, seconds: float = 100
) -> Recording:
    """Bugs that come back, at speeds that differ by orders of magnitude."""
    logs = []
    for i in range(configurations):
        speed = float(10 ** rng.uniform(0, 2))
        total = int(seconds * speed)
        mine = range(bugs) if shared else range(i, bugs, configurations)
        crashes = [
            (int(run), bug)
            for bug in mine
            if rng.random() < 0.5
            for run in np.unique(rng.integers(1, total + 1, rng.integers(1, 5)))
        ]
        logs.append(configuration(f"c{i}", seconds, speed, crashes))
    return Recording(tuple(logs), tuple(f"bug {b}" for b in range(bugs)))


class PlainConfiguration:
    """A configuration that is fuzzed for one epoch at a time, by reading its log point by point."""

    def __init__(self, log: ConfigurationLog) -> None:
        self.points = list(zip(log.runs, log.microseconds, log.bugs, strict=True))
        self.run = self.clock = 0
        self.counts: dict[int, int] = {}

    @property
    def exhausted(self) -> bool:
        return not self.points

    def fuzz(self, runs: int | None, microseconds: int | None) -> tuple[int, int, list[int]]:
        """Runs and microseconds done, and the bugs shown, repeats included."""
        start_run, start_clock = self.run, self.clock
        shown = []
        before = getattr(self, "before", (0, 0))
        while self.points:
            run, clock, bug = self.points[0]
            if runs is not None and run > start_run + runs:
                part = (start_run + runs - before[0]) / (run - before[0])
                self.run = start_run + runs
                self.clock = before[1] + int((clock - before[1]) * part)
                break
            if microseconds is not None and clock > start_clock + microseconds:
                part = (start_clock + microseconds - before[1]) / (clock - before[1])
                self.clock = start_clock + microseconds
                self.run = before[0] + int((run - before[0]) * part)
                break
            self.points.pop(0)
            before = (run, clock)
            self.run, self.clock = run, clock
            if bug != MARK:
                shown.append(int(bug))
                self.counts[int(bug)] = self.counts.get(int(bug), 0) + 1
        self.before = before
        return int(self.run - start_run), int(self.clock - start_clock), shown
