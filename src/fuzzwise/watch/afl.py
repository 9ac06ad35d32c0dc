"""Campaigns of AFL++ (and AFL), read from an output folder with one or several instances."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from fuzzwise.engines.aflplusplus.stats import LARGEST, Untried, read_stats, stability, untried
from fuzzwise.errors import BadInput
from fuzzwise.received import cannot_read, open_regular
from fuzzwise.text import number, printable, seconds_of
from fuzzwise.watch import processes
from fuzzwise.watch.afl_names import IMPORTED, Entry, entry, queue
from fuzzwise.watch.afl_plot import PlotData
from fuzzwise.watch.afl_timeline import Timeline, timeline
from fuzzwise.watch.curve import Curve, observation, together
from fuzzwise.watch.reading import Process, Reading

SIGNS = ("fuzzer_stats", "plot_data", "fuzzer_setup", "cmdline")
"""Files of which an instance has at least one."""

QUEUES = ("queue", "_resume")
"""Its entries; while it starts again, those that it has not taken over yet are in the second."""


class AflFolder:
    """The output folder of a campaign (``-o``), or the folder of one of its instances."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._instances: dict[Path, _Instance] = {}

    def read(self) -> Reading:
        """The campaign as its files tell now; instances that joined it later included."""
        for folder in instances(self.path):
            self._instances.setdefault(folder, _Instance(folder))
        present = [instance for instance in self._instances.values() if instance.read()]
        if not present:
            raise BadInput(
                f"{printable(str(self.path))}: has no entry in a queue/ folder yet. Wait until "
                "afl-fuzz has started, or give its output folder (-o)."
            )
        starts = [instance.start for instance in present]
        first = min((start for start in starts if start is not None), default=0.0)
        begun = [0.0 if start is None else start - first for start in starts]
        curves = [
            _later(instance.timeline.curve, began)
            for instance, began in zip(present, begun, strict=True)
        ]
        timed = [
            began + instance.timeline.seconds
            for began, instance in zip(begun, present, strict=True)
            if instance.timeline.seconds is not None
        ]
        return Reading(
            kind="AFL++",
            name=self.path.resolve().name,
            path=self.path,
            observation=observation(together(curves), max(timed) if timed else None),
            version=next((v for i in present if (v := i.stats.get("afl_version", ""))), ""),
            corpus=max(i.seeds for i in present) + sum(i.found for i in present),
            crashes=sum(i.kept("crashes", "saved_crashes") for i in present),
            hangs=sum(i.kept("hangs", "saved_hangs") for i in present),
            processes=tuple(Process(pid) for i in present if (pid := i.pid()) is not None),
            exact=all(i.timeline.is_exact for i in present),
            untried=_untried(present),
            stability=min(
                (share for i in present if (share := stability(i.stats)) is not None), default=None
            ),
            notes=_notes(present),
        )


class _Instance:
    """One afl-fuzz: its folder, and what was read of it so far."""

    timeline: Timeline

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stats: dict[str, str] = {}
        self.found = self.seeds = self.imported = 0
        self._stats_time = 0.0
        self._plot = PlotData(folder / "plot_data")
        self._entries: dict[str, Entry | None] = {}
        self._folders_changed: tuple[int, ...] = ()
        self._is_settled = False
        self._kept: dict[str, tuple[int, int]] = {}

    def read(self) -> bool:
        """Read what is new; whether there is anything."""
        changed = self._look_at_queue()
        stats, when = read_stats(self.folder / "fuzzer_stats")
        if stats and (when != self._stats_time or stats != self.stats):
            # Half a file has some of the keys: the others keep what they had.
            self.stats = {**self.stats, **stats}
            self._stats_time = when
            changed = True
        before = len(self._plot.rows.seconds)
        rows = self._plot.read()
        if changed or len(rows.seconds) != before or not hasattr(self, "timeline"):
            entries = queue([e for e in self._entries.values() if e is not None])
            self.imported = int((entries.kinds == IMPORTED).sum())
            self.timeline = timeline(entries, rows, self.stats, self._is_resumed())
            self.found = len(self.timeline.curve.found)
            self.seeds = len(entries) - self.found - self.imported
        return bool(self._entries)

    @property
    def start(self) -> float | None:
        """When it began, in Unix time, as if it had run without a break."""
        update = seconds_of(self.stats.get("last_update", ""))
        ran = seconds_of(self.stats.get("run_time", ""))
        if update is not None and ran is not None:
            return max(0.0, update - ran)
        return seconds_of(self.stats.get("start_time", ""))

    def kept(self, folder: str, key: str) -> int:
        """Crashes or hangs: the files that there are, or the number in the stats if higher."""
        said = number(self.stats.get(key, "")) or 0
        return max(said, self._files_in(self.folder / folder))

    def pid(self) -> int | None:
        """The process that writes this folder, if it is still there."""
        pid = number(self.stats.get("fuzzer_pid", ""))
        if pid and pid < 1 << 31 and processes.is_afl_fuzz(pid, self._stats_time, self.folder):
            return pid
        return None

    def _look_at_queue(self) -> bool:
        """Learn new names; whether there were any. A folder without a change is not listed."""
        folders = [self.folder / name for name in QUEUES]
        changed = tuple(_changed(folder) for folder in folders)
        # A change within the same tick of the clock may have been missed: look twice.
        if changed == self._folders_changed and self._is_settled:
            return False
        self._is_settled = changed == self._folders_changed
        self._folders_changed = changed
        names = {name for folder in folders for name in _names(folder)}
        known = self._entries
        if not known.keys() <= names:
            known = self._entries = {name: known[name] for name in names if name in known}
        fresh = [name for name in names if name not in known]
        for name in fresh:
            known[name] = entry(name)
        return True

    def _is_resumed(self) -> bool | None:
        """Whether the instance went on with its own queue; None where nothing tells."""
        words = self.stats.get("command_line", "").split()
        if not words:
            return None
        if "-i-" in words or ("-i", "-") in pairwise(words):
            return True
        try:
            with open_regular(self.folder / "fuzzer_setup") as file:
                return b"AFL_AUTORESUME" in file.read(LARGEST)
        except OSError:
            return False

    def _files_in(self, folder: Path) -> int:
        changed = _changed(folder)
        if self._kept.get(folder.name, (0, 0))[0] != changed:
            count = sum(name.startswith("id") for name in _names(folder))
            self._kept[folder.name] = (changed, count)
        return self._kept[folder.name][1] if changed else 0


def instances(path: Path) -> list[Path]:
    """Folders of instances: the one given, or those in it."""
    if is_instance(path):
        return [path]
    inside = [path / name for name in _names(path) if not name.startswith(".")]
    return sorted(folder for folder in inside if is_instance(folder))


def is_instance(path: Path) -> bool:
    """Whether a folder is that of an afl-fuzz (only a queue: another fuzzer's)."""
    return any((path / name).is_dir() for name in QUEUES) and any(
        (path / name).is_file() for name in SIGNS
    )


def _untried(present: list[_Instance]) -> Untried:
    """That of the instance which has come furthest: what one has tried need not wait in others."""
    return min((untried(instance.stats) for instance in present), key=lambda seen: seen.share)


def _notes(present: list[_Instance]) -> tuple[str, ...]:
    found: list[str] = []
    lines = [instance.timeline for instance in present]
    if any(line.is_partial for line in lines):
        found.append(
            "Some entries have names of another queue's entries, so that discoveries before the "
            "latest resume cannot be told from the initial corpus: counted from there on."
        )
    if any(not line.is_exact for line in lines):
        found.append(
            "Names in the queue do not tell the number of executions (an old version?): "
            "discoveries are placed by time, or evenly, between rows of plot_data."
        )
    if any(not instance.stats for instance in present):
        found.append("There is no fuzzer_stats to read yet: counted up to the last entry or row.")
    elif any(line.is_behind for line in lines):
        found.append(
            "fuzzer_stats is older than the newest entry: inputs since that entry are not counted."
        )
    restarts = sum(line.restarts for line in lines)
    if restarts:
        found.append(
            f"The counter of executions fell {restarts:,} times: afl-fuzz was killed and went on "
            "from an older count. Executions that it forgot are not counted."
        )
    if any(line.clock_falls for line in lines):
        found.append("The clock was set back in between: times may be wrong, inputs are not.")
    if len(present) > 1:
        imported = sum(instance.imported for instance in present)
        found.append(
            f"{len(present):,} instances count as one campaign: their inputs add up, discoveries "
            f"stand in the order of their times. {imported:,} entries taken over from others count "
            "once, where they were found; what two found independently counts twice."
        )
    cycles = max(line.calibration for line in lines)
    found.append(
        f"Taken off the executions: {cycles} for each entry (calibration) and one for each "
        "imported one. Trimming is not taken off."
    )
    return tuple(found)


def _later(curve: Curve, seconds: float) -> Curve:
    return Curve(
        curve.times + seconds, curve.counts, curve.found, curve.found_times + seconds, curve.n
    )


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except PermissionError as error:
        raise cannot_read(folder, error) from error
    except OSError:
        return []
