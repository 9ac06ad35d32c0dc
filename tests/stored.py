"""Factories for stores of campaigns, what goes into them, and processes that write them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fuzzwise.campaign.finished import run_entry
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.model import Estimate, Observation
from fuzzwise.store.contract import BugFound, Choice, FinishedTurn
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.triage.bug_book import Bug
from reading import read_decisions, read_history, read_state

PER_EPOCH = 100


def plan(folder: Path, *names: str) -> CampaignPlan:
    targets = tuple(
        TargetPlan(
            name,
            "black-box" if name.startswith("box") else "libfuzzer",
            ("/bin/true",),
            share="high",
            accepted_risk=1e-4,
        )
        for name in names or ("a", "b", "box")
    )
    return CampaignPlan("trial", folder, targets, 600.0, 2, "risk-rate", 5.0)


def found(name: str, count: int = 1, n: int = 10, seconds: float = 0.5, **more) -> BugFound:
    bug = Bug(name, "heap-use-after-free", "high", ("f", "main"), count, (f"{name}/i",), n, seconds)
    words = {"report": f"r/{name}", "inputs": (f"i/{name}",), "command": f"run {name}"} | more
    return BugFound(bug, **words)


def turn(n: int, *bugs: BugFound, generation: str = "first", **more) -> FinishedTurn:
    fields = {
        "generation": generation,
        "inputs": n,
        "seconds": n / 10,
        "species": n + 7,
        "discoveries": n // 10,
        "corpus": 3,
        "crashes": len(bugs),
        "risk": Estimate(1 / n, 0.5 / n, 2 / n, 0.95, "reset", n, "a note"),
        "trend": "falling",
        "seconds_left": Estimate(12.0, None, float("inf"), None, "power law", n),
        "warnings": ("Slow.", "Odd.", "Slow."),
        "observation": Observation(n, discoveries=np.arange(1, n // 10 + 1)),
        "bugs": bugs,
    }
    return FinishedTurn(**fields | more)


@contextmanager
def begun(folder: Path, *names: str) -> Iterator[SqlStore]:
    with SqlStore.open(folder) as store:
        store.begin_run(run_entry(plan(folder, *names), 600.0))
        yield store


def epoch(store: SqlStore, at: float, target: str, finished: FinishedTurn) -> tuple[str, ...]:
    """An epoch of a target; the bugs it shows first."""
    number = store.start_epoch(at - 1, target, Choice("its turn", 0.5, target))
    return store.finish_epoch(number, at, finished).new_bugs


def target(store: SqlStore, name: str):
    return next(t for t in store.state().targets if t.name == name)


def is_consistent(folder: Path, names: tuple[str, ...] = ("a", "b", "box")) -> bool:
    """Whether the counters in the rows of targets are what the epochs add up to."""
    state = read_state(folder)
    history = {h.name: h for h in read_history(folder)}
    for shown in state.targets:
        ended = [d for d in read_decisions(folder, shown.name, 10**6) if d.inputs is not None]
        last = history[shown.name].inputs[-1:].tolist()
        same = (
            (shown.epochs, len(ended)),
            (shown.inputs, sum(d.inputs for d in ended)),
            (round(shown.seconds, 6), round(sum(d.seconds for d in ended), 6)),
            ([shown.inputs] if ended else [], last),
            (shown.species, shown.inputs + 7 if ended else 0),
        )
        if any(one != other for one, other in same):
            return False
    return {t.name for t in state.targets} == set(names)


WRITER = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from stored import PER_EPOCH, Choice, begun, found, turn

def write():
    with begun(Path(sys.argv[1])) as store:
        known = {name: memory.inputs for name, memory in store.memory().items()}
        at = store.seconds()
        while True:
            for name in known:
                n = known[name] = known[name] + PER_EPOCH
                at += 1
                bugs = [found(f"{name}{i}", i + 1) for i in range(n // 500)]
                number = store.start_epoch(at, name, Choice("why"))
                store.finish_epoch(number, at, turn(n, *bugs))
                print(number, name, n, flush=True)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        try:
            write()
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Writers:
    """A process that forks, when it is told to, one that writes epochs and says so after each."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.orders, self.answers = self.process.stdin, self.process.stdout

    def __enter__(self) -> Writers:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.orders.close()
        self.answers.close()  # a writer that is left ends at its next word
        self.process.wait()

    def start(self) -> int:
        """The number of a new process."""
        print("go", file=self.orders, flush=True)
        return int(self.answers.readline())

    def line(self) -> str:
        """What it says next; it must not end by itself."""
        said = self.answers.readline()
        assert said
        assert not said.endswith("ended\n"), "the writer ended by itself"
        return said

    def kill(self, pid: int) -> list[str]:
        """End it; what it still said, but for a word that was cut off."""
        os.kill(pid, signal.SIGKILL)
        said = []
        while not (line := self.answers.readline()).endswith("ended\n"):
            assert line, "nobody is left to say that it ended"
            said.append(line)
        return said
