"""A campaign on a fleet of real processes, under random faults; then everything is counted again.

    python benchmarks/fleet_faults.py [--faults 200] [--minutes 18] [--seed 1]

Scheduler, manager and three workers, each with a folder of its own, on this machine. Faults: kill -9
of each kind of process (it is started again), SIGSTOP of a worker or of the scheduler for up to 30 s,
the storage gone for up to a minute, a full disk under a worker (where a tmpfs can be mounted).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import observed_target
from fleet_commands import recount
from fuzzwise.campaign.file import read_plan
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import CampaignState
from fuzzwise.testing.traces import processes_in
from fuzzwise.triage.processes import running

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = ("bad", "ini", "url", "markup")
WORKERS = 3
SMALL_DISK = 160 << 20


class NoFault(Exception):
    """What was to fail has failed already."""


class Process:
    """A command of fuzzwise that is started again after it was killed."""

    def __init__(self, log: Path, *words: object) -> None:
        self.words, self.log = words, log
        self.starts = 0
        self.start()

    def start(self) -> None:
        """Start it."""
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fuzzwise", *map(str, self.words)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if self.words[:2] == ("fleet", "scheduler") else log,
                stderr=log,
                text=True,
            )

    @property
    def is_up(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Ask it to end, and see that it does."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


class Field:
    """All processes of one run, and what can be done to them."""

    def __init__(self, folder: Path, seconds: float, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.until = time.monotonic() + seconds
        self.counts: Counter[str] = Counter()
        self.storage = folder / "storage"
        self.file = _campaign(folder)
        self.work = folder / "work"
        self.disk = self._small_disk()
        self.scheduler = Process(folder / "scheduler.log", "fleet", "scheduler", "--port", 0)
        assert self.scheduler.process.stdout is not None
        self.address = self.scheduler.process.stdout.readline().split()[-1]
        port = self.address.rpartition(":")[2]
        self.scheduler.words = ("fleet", "scheduler", "--port", port)
        self.workers = [
            Process(
                *(folder / f"worker-{n}.log", "worker", self.address),
                *("--work", self.work / f"w{n}", "--cores", 1),
            )
            for n in range(WORKERS)
        ]
        self.manager = self._manager()
        self.stopped: set[int] = set()

    def _manager(self) -> Process:
        self.asked = max(10, round(self.until - time.monotonic()))
        return Process(
            *(self.folder / "manager.log", "run", self.file, "--fleet", self.address),
            *("--time", f"{self.asked}s", "--quiet"),
        )

    def _small_disk(self) -> bool:
        place = self.work / "w0"
        place.mkdir(parents=True)
        words = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(place)]
        return subprocess.run(words, check=False, capture_output=True).returncode == 0

    def faults(self) -> dict[str, tuple[int, Callable[[], None]]]:
        """Faults by name, with how often they come."""
        found = {
            "kill worker": (6, self.kill_worker),
            "kill scheduler": (1, self.kill_scheduler),
            "kill manager": (2, self.kill_manager),
            "stop worker": (3, self.stop_worker),
            "stop scheduler": (1, self.stop_scheduler),
            "storage gone": (1, self.storage_gone),
        }
        if self.disk:
            found["full disk"] = (1, self.full_disk)
        return found

    def kill_worker(self) -> None:
        """Kill one; it comes back soon."""
        worker = self._worker()
        worker.kill()
        self._later(self.rng.uniform(0, 5), worker.start)

    def kill_scheduler(self) -> None:
        """Kill it; it comes back soon, at the same place."""
        self._need(self.scheduler)
        self.scheduler.kill()
        self._later(self.rng.uniform(0, 3), self.scheduler.start)

    def kill_manager(self) -> None:
        """Kill it, and start another at once."""
        self._need(self.manager)
        self.manager.kill()
        self.manager = self._manager()

    def stop_worker(self) -> None:
        """Stop one for up to half a minute."""
        self._stop(self._worker().process.pid, self.rng.uniform(1, 30))

    def stop_scheduler(self) -> None:
        """Stop it for up to ten seconds."""
        self._need(self.scheduler)
        self._stop(self.scheduler.process.pid, self.rng.uniform(1, 10))

    def _worker(self) -> Process:
        up = [worker for worker in self.workers if worker.is_up]
        if not up:
            raise NoFault
        return self.rng.choice(up)

    def _need(self, process: Process) -> None:
        if not process.is_up:
            raise NoFault

    def _stop(self, pid: int, seconds: float) -> None:
        os.kill(pid, signal.SIGSTOP)

        def go_on() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

        self._later(seconds, go_on)

    def storage_gone(self) -> None:
        """Take the storage away for up to a minute."""
        aside = self.storage.with_name("aside")
        if not self.storage.is_dir() or aside.exists():
            raise NoFault
        self.storage.rename(aside)
        self.storage.write_bytes(b"")  # nobody makes it anew

        def back() -> None:
            self.storage.unlink()
            aside.rename(self.storage)

        self._later(self.rng.uniform(2, 60), back)

    def full_disk(self) -> None:
        """Fill the disk of a worker for up to 20 seconds."""
        filler = self.work / "w0" / "filler"
        if filler.exists():
            raise NoFault
        with suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(bytes(1 << 20))
        self._later(self.rng.uniform(2, 20), lambda: filler.unlink(missing_ok=True))

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, act)
        timer.start()
        self.pending = [t for t in getattr(self, "pending", []) if t.is_alive()] + [timer]

    def one(self) -> None:
        """One fault."""
        known = self.faults()
        names = list(known)
        name = self.rng.choices(names, [known[n][0] for n in names])[0]
        with suppress(NoFault, ProcessLookupError):
            known[name][1]()
            self.counts[name] += 1

    def end(self) -> dict[str, object]:
        """Let the last run end by itself, and count again."""
        for timer in getattr(self, "pending", []):
            timer.join()
        try:
            self.manager.process.wait(max(1.0, self.until - time.monotonic()) + 300)
        except subprocess.TimeoutExpired:
            self.manager.end()
        for process in (*self.workers, self.scheduler):
            process.end()
        plan = read_plan(self.file)
        counts = recount(plan, f"file://{self.storage}", self.folder / "recount")
        state = open_reader(plan.folder).state()
        missing = [
            b.id for b in state.bugs for name in b.inputs if not (plan.folder / name).is_file()
        ]
        time.sleep(12)  # guards of killed workers have ten seconds
        return {
            "faults": dict(self.counts),
            "all": sum(self.counts.values()),
            "exit_code": self.manager.process.returncode,
            "seconds_late": round(_took(state) - self.asked, 1),
            "inputs_store_and_recount": counts,
            "agrees": all(one == other for one, other in counts.values()),
            "bugs": len(state.bugs),
            "bugs_without_input": missing,
            "epochs": state.epochs,
            "survivors": [
                *processes_in(self.work),
                *processes_in(plan.folder),
                *(process.pid for process in running() if str(self.folder) in _words(process.pid)),
            ],
        }

    def tidy(self) -> None:
        """End and unmount all."""
        for process in (self.manager, *self.workers, self.scheduler):
            process.process.kill()
            process.process.wait()
        if self.disk:
            subprocess.run(["umount", "-l", str(self.work / "w0")], check=False)


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def _took(state: CampaignState) -> float:
    """Seconds of the last run, by the campaign's clock."""
    began = max((event.at for event in state.events if event.kind == "resumed"), default=0.0)
    return state.seconds - began


def _campaign(folder: Path) -> Path:
    lines = [
        "[campaign]",
        'epoch = "1s"',
        "[fleet]",
        'address = "localhost"',
        'storage = "storage"',
    ]
    for name in TARGETS:
        program = observed_target.build(folder, EXAMPLES / f"{name}.c")
        lines += ["[[target]]", f'name = "{name}"', f'program = "{program}"']
    path = folder / "campaign.toml"
    path.write_text("\n".join(lines))
    return path


def main() -> None:
    """Run, and print what came of it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=18)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the folder")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="fleet-faults-"))
    field = Field(folder, 60 * asked.minutes, rng)
    try:
        pause = 60 * asked.minutes * 0.9 / asked.faults
        time.sleep(min(15.0, 5 * pause))
        for number in range(asked.faults):
            field.one()
            time.sleep(rng.uniform(0.2, 1.8) * pause * 0.95)
            if number % 20 == 19:
                print(number + 1, dict(field.counts), file=sys.stderr, flush=True)
        print(json.dumps(field.end(), indent=1))
    finally:
        field.tidy()
        if asked.keep:
            print(folder, file=sys.stderr)
        if not asked.keep:
            subprocess.run(["rm", "-rf", str(folder)], check=False)


if __name__ == "__main__":
    main()
