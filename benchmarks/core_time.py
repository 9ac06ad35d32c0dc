"""Commands that end when all their processes together have used so many seconds of a processor.

Helpers and guards of theirs are counted, too. So what else the machine does matters little.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from afl_campaign import ENVIRONMENT

MEMORY = Path("/dev/shm")
"""Where folders of short runs are: on a disk, new files take long while old ones are removed."""
LOOK = 0.1


def until(words: list[str], seconds: int, home: Path) -> None:
    """Run a command until its processes have used so much of a processor."""
    with (home / "said").open("wb") as said:
        started = subprocess.Popen(
            words,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
        try:
            while _used(started.pid) < seconds:
                time.sleep(LOOK)
                if started.poll() is not None:
                    raise SystemExit(f"{' '.join(words)} has ended: {(home / 'said').read_text()}")
        finally:
            started.send_signal(signal.SIGINT)
            try:
                started.wait(30)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def _used(root: int) -> float:
    """Seconds of processors that a process and all below it took, those that have ended included."""
    parents, times = {}, {}
    for pid, words in _processes():
        parents[pid], times[pid] = int(words[1]), sum(map(int, words[11:15]))
    ours = {root}
    before: set[int] = set()
    while ours != before:
        before = set(ours)
        ours |= {pid for pid, parent in parents.items() if parent in ours}
    return sum(times.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[tuple[int, list[str]]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                yield int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                continue
