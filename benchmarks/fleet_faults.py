"""A campaign on a fleet of real processes, under random faults; then everything is counted again.

    python benchmarks/fleet_faults.py [--faults 55] [--minutes 5] [--seed 1] [--sqlite]

Scheduler, manager and three workers on this machine, each with a folder and a network namespace of its
own, with certificates (where no namespaces can be made, that is said, and all are on the loopback); the
campaign's store in PostgreSQL (or in its folder). Faults: kill -9 of each kind of process, which is
started again; SIGSTOP of each for up to 30 s; the link of each down for up to 30 s; the storage gone for
up to a minute; PostgreSQL restarted; a full disk under a worker (where a tmpfs can be mounted).
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
from fleet_net import Network, NoNetwork
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.fleet.certificates import make_certificates
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_session
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import CampaignState
from fuzzwise.testing.traces import processes_in
from fuzzwise.triage.processes import running
from fuzzwise.triage.workers import Workers
from postgres_server import Server, programs

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = ("bad", "ini", "url", "markup")
WORKERS = 3
SMALL_DISK = 160 << 20
PORT = 8786
LAST_FAULT = 75.0
"""Seconds before the end after which nothing fails any more: all that was taken away is back then."""


class NoFault(Exception):
    """What was to fail has failed already."""


class Process:
    """A command of fuzzwise that is started again after it was killed."""

    def __init__(self, log: Path, before: list[str], *words: object) -> None:
        self.words, self.before, self.log = words, before, log
        self.is_over = False
        self.start()

    def start(self) -> None:
        """Start it, unless all is over."""
        if self.is_over:
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.before, sys.executable, "-m", "fuzzwise", *map(str, self.words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
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
        self.is_over = True
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


class Field:
    """All processes of one run, and what can be done to them."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.counts: Counter[str] = Counter()
        self.pending: list[threading.Timer] = []
        self.processes: list[Process] = []
        self.stopped: set[int] = set()
        self.stopped_links: set[str] = set()
        self.server_is_up = True
        self.refusals: list[str] = []
        self.storage = folder / "storage"
        self.work = folder / "work"
        self.disk = False
        self.server: Server | None = None
        self.net: Network | None = None

    def start(self, asked: argparse.Namespace) -> None:
        """Make all that is needed, and start everything."""
        self.disk = self._small_disk()
        self.server = None if asked.sqlite else _server()
        self.net = _network()
        self.file = _campaign(self.folder, self.server.new_database() if self.server else "")
        self.until = time.monotonic() + 60 * asked.minutes
        self._start_all()

    def _start_all(self) -> None:
        host = self.net.address("scheduler") if self.net else "localhost"
        own: tuple[object, ...] = ()
        self.address = f"{host}:{PORT if self.net else PORT + os.getpid() % 10_000}"
        if self.net:
            make_certificates(self.folder / "certificates", [host], 2)
            own = ("--certificates", self.folder / "certificates")
            self.address = f"tls://{self.address}"
        self.own = own
        port = self.address.rpartition(":")[2]
        self.scheduler = self._process(
            "scheduler", "fleet", "scheduler", "--host", host, "--port", port, *own
        )
        self.workers = [
            self._process(
                *(f"worker{n}", "worker", self.address, "--work", self.work / f"w{n}"),
                *("--cores", 1, *own),
            )
            for n in range(WORKERS)
        ]
        self.manager = self._manager()

    def _process(self, name: str, *words: object) -> Process:
        before = self.net.inside(name) if self.net else []
        process = Process(self.folder / f"{name}.log", before, *words)
        self.processes.append(process)
        return process

    def _manager(self) -> Process:
        self.asked, self.began = max(10, round(self.until - time.monotonic())), time.monotonic()
        return self._process(
            "manager",
            *("run", self.file, "--fleet", self.address, *self.own),
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
            "stop scheduler": (1, lambda: self._stop(self.scheduler)),
            "stop manager": (1, lambda: self._stop(self.manager)),
            "storage gone": (1, self.storage_gone),
        }
        if self.net:
            found["link of a worker down"] = (3, lambda: self._cut(self._worker_name()))
            found["link of the scheduler down"] = (1, lambda: self._cut("scheduler"))
            found["link of the manager down"] = (1, lambda: self._cut("manager"))
        if self.server:
            found["PostgreSQL restarted"] = (2, self.restart_server)
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
        """Stop one."""
        self._stop(self._worker())

    def _worker(self) -> Process:
        up = [worker for worker in self.workers if worker.is_up]
        if not up:
            raise NoFault
        return self.rng.choice(up)

    def _worker_name(self) -> str:
        return f"worker{self.rng.randrange(WORKERS)}"

    def _need(self, process: Process) -> None:
        if not process.is_up:
            raise NoFault

    def _stop(self, process: Process) -> None:
        """Stop a process for up to half a minute."""
        pid = process.process.pid
        if not process.is_up or pid in self.stopped:
            raise NoFault
        os.kill(pid, signal.SIGSTOP)
        self.stopped.add(pid)

        def go_on() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            self.stopped.discard(pid)

        self._later(self.rng.uniform(1, 30), go_on)

    def _cut(self, name: str) -> None:
        """Take a link down for up to half a minute."""
        assert self.net
        if name in self.stopped_links:
            raise NoFault
        self.net.cut(name)
        self.stopped_links.add(name)

        def back() -> None:
            assert self.net
            self.net.mend(name)
            self.stopped_links.discard(name)

        self._later(self.rng.uniform(1, 30), back)

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

    def restart_server(self) -> None:
        """Stop PostgreSQL, as if it were killed or in order, and start it a moment later."""
        assert self.server
        if not self.server_is_up:
            raise NoFault
        self.server_is_up = False
        self.server.stop(self.rng.choice(["fast", "immediate"]))

        def back() -> None:
            assert self.server
            self.server.start()
            self.server_is_up = True

        self._later(self.rng.uniform(0, 15), back)

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
        timer.daemon = True
        timer.start()
        self.pending = [*(t for t in self.pending if t.is_alive()), timer]

    def one(self) -> bool:
        """One fault; False where what was to fail has failed already."""
        known = self.faults()
        names = list(known)
        name = self.rng.choices(names, [known[n][0] for n in names])[0]
        try:
            known[name][1]()
        except (NoFault, ProcessLookupError):
            return False
        self.counts[name] += 1
        print(f"{time.monotonic() - self.began:7.1f} {name}", file=sys.stderr, flush=True)
        return True

    def watch(self) -> None:
        """A manager that has ended before its time, by itself, is told and started again."""
        code = self.manager.process.poll()
        if code is not None and time.monotonic() < self.until - 20:
            last = self.manager.log.read_text(errors="replace").strip().rpartition("\n")[2]
            self.refusals.append(f"{code}: {last}")
            self.manager = self._manager()

    def end(self) -> dict[str, object]:
        """Let the last run end by itself, and count again."""
        for timer in self.pending:
            timer.join()
        try:
            self.manager.process.wait(max(1.0, self.until - time.monotonic()) + 120)
        except subprocess.TimeoutExpired:
            self.manager.end()
        took = time.monotonic() - self.began
        for process in (*self.workers, self.scheduler):
            process.end()
        plan = read_plan(self.file)
        counts = recount(plan, f"file://{self.storage}", self.folder / "recount")
        state = open_reader(plan.store or plan.folder).state()
        time.sleep(12)  # guards of killed workers have ten seconds
        return {
            "faults": dict(self.counts),
            "all": sum(self.counts.values()),
            "store": "PostgreSQL" if self.server else "SQLite",
            "namespaces": self.net is not None,
            "exit_code": self.manager.process.returncode,
            "managers_that_ended_early": self.refusals,
            "seconds_late_by_its_clock": round(_took(state) - self.asked, 1),
            "seconds_late_with_start_and_end": round(took - self.asked, 1),
            "inputs_store_and_recount": counts,
            "agrees": all(one == other for one, other in counts.values()),
            **_bugs(plan, state, self.folder / "recount"),
            "epochs": state.epochs,
            "survivors": self._survivors(plan),
        }

    def _survivors(self, plan: CampaignPlan) -> list[int]:
        found = {*processes_in(self.work), *processes_in(plan.folder)}
        found |= {one.pid for one in running() if str(self.folder) in _words(one.pid)}
        return sorted(found | set(self.net.processes() if self.net else []))

    def tidy(self) -> None:
        """End, unmount and remove all."""
        for timer in self.pending:
            timer.cancel()
        for process in self.processes:
            process.is_over = True
            process.process.kill()
            process.process.wait()
        if self.disk:
            subprocess.run(["umount", "-l", str(self.work / "w0")], check=False)
        if self.server:
            self.server.end()
        if self.net:
            self.net.remove()


def _server() -> Server | None:
    found = programs()
    if found is None:
        print("PostgreSQL is not installed: the store is in the folder.", file=sys.stderr)
    return Server(found) if found else None


def _network() -> Network | None:
    try:
        return Network(["scheduler", "manager", *(f"worker{n}" for n in range(WORKERS))])
    except NoNetwork as error:
        print(f"{error}. It goes on without: no link is taken down.", file=sys.stderr)
        return None


def _bugs(plan: CampaignPlan, state: CampaignState, scratch: Path) -> dict[str, object]:
    """Bugs as the store has them, and as sessions tell of what is stored; both with their inputs."""
    recounted: set[tuple[str, str]] = set()
    with Workers(1) as workers:
        for target in plan.targets:
            here = CampaignPlan(*(plan.name, scratch, plan.targets, None, 1, "", 1.0))
            totals = open_session(here, target, workers).totals()
            recounted |= {(target.name, bug.id) for bug in (totals.bugs if totals else ())}
    told = {(name, bug.id) for bug in state.bugs for name in bug.targets}
    missing = [b.id for b in state.bugs for name in b.inputs if not (plan.folder / name).is_file()]
    return {
        "bugs_store_and_recount": (len(told), len(recounted)),
        "bugs_agree": told == recounted,
        "bugs_without_input": missing,
    }


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def _took(state: CampaignState) -> float:
    """Seconds of the last run, by the campaign's clock."""
    began = max((event.at for event in state.events if event.kind == "resumed"), default=0.0)
    return state.seconds - began


def _campaign(folder: Path, store: str) -> Path:
    lines = [
        "[campaign]",
        'epoch = "1s"',
        *([f'store = "{store}"'] if store else []),
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
    parser.add_argument("--faults", type=int, default=55)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sqlite", action="store_true", help="the store in the folder")
    parser.add_argument("--keep", action="store_true", help="leave the folder")
    asked = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    rng = random.Random(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="fleet-faults-"))
    field = Field(folder, rng)
    try:
        field.start(asked)
        _run(field, asked.faults, 60 * asked.minutes - LAST_FAULT, rng)
        print(json.dumps(field.end(), indent=1))
    finally:
        field.tidy()
        if asked.keep:
            print(folder, file=sys.stderr)
        else:
            subprocess.run(["rm", "-rf", str(folder)], check=False)


def _run(field: Field, faults: int, seconds: float, rng: random.Random) -> None:
    """So many faults in so many seconds, at random moments."""
    pause = (seconds - 15) / faults
    time.sleep(15)
    done, until = 0, time.monotonic() + seconds - 15
    while done < faults and time.monotonic() < until:
        if not field.one():
            time.sleep(0.05)
            continue
        done += 1
        left = (until - time.monotonic()) / max(1, faults - done)
        time.sleep(max(0.0, rng.uniform(0.2, 1.8) * min(pause, left)))
        field.watch()
    while time.monotonic() < field.until - 30:
        time.sleep(1)
        field.watch()


if __name__ == "__main__":
    main()
