"""How many turns a second one manager can keep up with: sessions pretend to fuzz, all else is real.

    python benchmarks/fleet_scale.py [--targets 10000] [--cores 1000] [--processes 4] [--seconds 60]
        [--epoch 5] [--sqlite] [--profile]

A scheduler, some workers with many pretended cores each, storage in a folder, PostgreSQL, and the
manager in this process. PostgreSQL waits for the disk. Told are the turns that were finished in a
second, in the second half of the time, and the time of processors that each kind of process took for
one: what saturates first is what takes most. ``all of the machine`` has what else it did, too.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import io
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fleet_pretend
from fleet_commands import fleet
from fuzzwise.campaign.fleet.begin import joined
from fuzzwise.campaign.fleet.member import Member, run_until_signal
from fuzzwise.campaign.fleet.security import door
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.plan import CampaignPlan, FleetPlan
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.store.address import read_address
from fuzzwise.store.places import open_store
from fuzzwise.store.states import CampaignState
from postgres_server import Server, programs

LAST_WORDS = 4.5


def work(address: str, folder: Path, cores: int) -> None:
    """A worker, with a name of its own for as many cores as are asked for."""
    with Member(folder, cores, ()) as member:

        async def stay(stop: asyncio.Event) -> None:
            await member.stay(door(address, None, "worker"), stop, lambda _: None)

        run_until_signal(stay)


def plan_of(folder: Path, asked: argparse.Namespace) -> CampaignPlan:
    """A campaign of many targets, all of the same program."""
    names = (f"t{number:05}" for number in range(asked.targets))
    program = "/bin/true"
    targets = tuple(TargetPlan(name, fleet_pretend.NAME, (program,)) for name in names)
    return CampaignPlan("scale", folder, targets, None, 1, "risk-rate", asked.epoch)


def processor_time(pids: Iterable[int]) -> float:
    """Seconds of processors that processes, and those that they have started, took so far."""
    found = 0.0
    for pid in pids:
        with suppress(FileNotFoundError):  # one of PostgreSQL's, whose time went to its parent
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            found += sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
    return found


def all_time() -> float:
    """Seconds for which the processors of this machine did anything for anybody."""
    words = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    idle = sum(map(int, words[3:5]))
    return (sum(map(int, words[:8])) - idle) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    said = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in said.stdout.split()]


def postgres(server: Server) -> list[int]:
    """The processes of a server, those of its connections included."""
    postmaster = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    return [postmaster, *children(postmaster)]


class Counted:
    """Looks on: when how many turns were finished, and what all processes have used by then."""

    def __init__(
        self, manager: Manager, kinds: dict[str, Callable[[], list[int]]], seconds: float
    ) -> None:
        self._manager, self._kinds, self._seconds = manager, kinds, seconds
        self.began = time.monotonic()
        self.looks: list[tuple[float, CampaignState, dict[str, float]]] = []

    def update(self) -> None:
        """Called by the manager; two looks are enough."""
        due = (0.5 * self._seconds, 0.95 * self._seconds)
        at = time.monotonic() - self.began
        if len(self.looks) < len(due) and at >= due[len(self.looks)]:
            used = {kind: processor_time(pids()) for kind, pids in self._kinds.items()}
            used["all of the machine"] = all_time()
            self.looks.append((at, self._manager.state(), used))

    def told(self) -> dict[str, object]:
        """Turns a second, and milliseconds of processors for each of them."""
        (start, before, used_before), (end, after, used) = self.looks
        turns = max(1, after.epochs - before.epochs)
        fuzzed = sum(t.seconds for t in after.targets) - sum(t.seconds for t in before.targets)
        costs = {k: round(1000 * (used[k] - used_before[k]) / turns, 2) for k in used}
        busy = (used["all of the machine"] - used_before["all of the machine"]) / (end - start)
        return {
            "turns_a_second": round(turns / (end - start), 1),
            "ms_a_turn": costs,
            "cores_busy": round(busy, 2),
            "pretended_cores_busy": round(fuzzed / (end - start), 1),
        }


def run(asked: argparse.Namespace, folder: Path, stack: ExitStack) -> dict[str, object]:
    """One campaign, from the first process to the last."""
    address = stack.enter_context(fleet("scheduler", "--port", 0))
    each = asked.cores // asked.processes
    words = [sys.executable, __file__, "--worker", address]
    workers = [
        subprocess.Popen([*words, str(folder / f"w{number}"), str(each)])
        for number in range(asked.processes)
    ]
    for worker in workers:
        stack.callback(worker.wait)
        stack.callback(worker.terminate)
    scheduler = _scheduler()
    kinds = {
        "manager": lambda: [os.getpid()],
        "workers": lambda: [worker.pid for worker in workers],
        "scheduler": lambda: scheduler,
    }
    store = None
    if not asked.sqlite and (found := programs()):
        server = Server(found, durable=True)
        stack.callback(server.end)
        kinds["postgresql"] = lambda: postgres(server)
        store = read_address(server.new_database() + "&campaign=scale")
    plan = plan_of(folder / "campaign", asked)
    there = FleetPlan(address, f"file://{folder / 'storage'}", None)
    with open_store(plan.folder, store) as kept:
        say = lambda sentence: print(sentence, file=sys.stderr)  # noqa: E731
        with joined(plan, there, say, lambda: False) as executor:
            while executor.cores < each * asked.processes:
                time.sleep(0.1)
            manager = Manager(
                replace(plan, cores=executor.cores), kept, executor, last_words=LAST_WORDS
            )
            looker = Counted(manager, kinds, asked.seconds)
            manager.run(asked.seconds, looker.update)
            news = [event.detail for event in manager.state().events if event.kind == "fleet"]
    return looker.told() | {"news": news, "cores": each * asked.processes, "targets": asked.targets}


def _scheduler() -> list[int]:
    said = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "fleet scheduler"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return [int(word) for word in said.split()]


def main() -> None:
    """Run, and print what came of it as JSON."""
    fleet_pretend.register()
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--cores", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--epoch", type=float, default=5)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    profile = cProfile.Profile() if asked.profile else None
    with tempfile.TemporaryDirectory(prefix="fleet-scale-") as folder, ExitStack() as stack:
        if profile:
            profile.enable()
        print(json.dumps(run(asked, Path(folder), stack), indent=1))
    if profile:
        profile.disable()
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(35)
        print(text.getvalue(), file=sys.stderr)


if __name__ == "__main__":
    main()
