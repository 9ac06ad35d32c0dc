"""Kill -9 of any process of a campaign at any time: nothing is lost, nothing counted twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest

from campaign_files import (
    EXAMPLES,
    Campaign,
    Process,
    command_of,
    descendants,
    events,
    harness,
    interrupt,
    program,
)
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.blackbox import Runner, Target
from fuzzwise.engines.blackbox.session import PROGRESS
from fuzzwise.engines.blackbox.tally import Tally, load
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.observer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.store.sqlite import FILE
from fuzzwise.store.states import CampaignState
from waiting import wait_until

ALL = int(os.environ.get("FUZZWISE_KILLS", "40"))
SHARES = {
    "manager": 15,
    "libFuzzer": 20,
    "warden": 15,
    "black box": 15,
    "examiner": 15,
    "symbolizer or debugger": 15,
    "guard": 5,
}
KILLS = {kind: max(1, round(ALL * share / 100)) for kind, share in SHARES.items()}
"""Of each kind of process."""

ONE_A_LIFE = ("manager", "guard")
"""A manager has one guard."""

ENOUGH = 5
"""Bugs that must be known in the end."""

SEEDS = EXAMPLES / "seeds"
MUTATION = ("[target.mutation]", "ratio = [0.001, 0.05]")


def kind_of(pid: int, manager: int) -> str:
    """What a process of a campaign does."""
    command = command_of(pid)
    first = command.split(b"\0")[0]
    if pid == manager:
        return "manager"
    if command == command_of(manager):
        return "about to be something"  # it was forked, and has not begun its own program yet
    if b"fuzzwise.triage.worker" in command:
        return "examiner"
    if b"fuzzwise.engines.leftovers" in command:
        return "guard"
    if first.endswith(b"warden"):
        return "warden"
    if b"-artifact_prefix" in command:
        return "libFuzzer"
    return "symbolizer or debugger" if b"symbolizer" in first or b"gdb" in first else "black box"


def lives(chance: random.Random) -> list[list[str]]:
    """For each life of a manager, which processes are killed, up to the manager itself."""
    each: list[list[str]] = [[] for _ in range(KILLS["manager"])]
    for kind, times in KILLS.items():
        some = chance.sample if kind in ONE_A_LIFE else chance.choices
        for life in some(each, k=times):
            life.append(kind)
    for life in each:
        chance.shuffle(life)
        life.sort(key="manager".__eq__)  # last, and the others as they are
    return each


def strike(manager: Process, kind: str, chance: random.Random) -> None:
    """Kill a process of that kind, at a time that is drawn."""
    time.sleep(chance.choice((0.05, 0.2, 0.5)) * chance.random())
    wait_until(lambda: killed(manager, kind, chance), f"a process to kill: {kind}")


def killed(manager: Process, kind: str, chance: random.Random) -> bool:
    assert manager.poll() is None, manager.communicate()
    everyone = (manager.pid, *descendants(manager.pid))
    pids = [pid for pid in everyone if kind_of(pid, manager.pid) == kind]
    try:
        os.kill(chance.choice(pids), signal.SIGKILL)
    except (IndexError, ProcessLookupError):  # there is none, or it has just ended
        return False
    return True


class Memory:
    """What the campaign has said so far: it may never take anything back."""

    def __init__(self) -> None:
        self._bugs: set[str] = set()
        self._inputs: Counter[str] = Counter()
        self._seconds = 0.0

    def look(self, campaign: Campaign) -> None:
        """Compare what it says now with what it said."""
        try:
            state = campaign.state()
        except BadInput:  # killed before it had begun
            assert not self._bugs
            return
        bugs = {bug.id for bug in state.bugs}
        assert bugs >= self._bugs
        for target in state.targets:
            assert target.inputs >= self._inputs[target.name]
            self._inputs[target.name] = target.inputs
        assert state.seconds >= self._seconds
        self._bugs, self._seconds = bugs, state.seconds


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = Campaign(tmp_path)
    for name in ("one", "two"):
        made.libfuzzer(name, harness("fragile.c"))
    records, sums = program("records.c"), program("sums.c")
    made.black_box("records", records, (SEEDS / "records-full.rb").read_bytes(), *MUTATION)
    made.black_box("sums", sums, (SEEDS / "sums-full.txt").read_bytes(), *MUTATION)
    return made


def test_many_random_kills(campaign: Campaign) -> None:
    assert sum(KILLS.values()) >= ALL
    chance, memory = random.Random(7), Memory()
    for life in lives(chance):
        with campaign.start(600) as manager:
            for kind in life:
                strike(manager, kind, chance)
                memory.look(campaign)
            _, errors = manager.communicate(timeout=600)
            assert "Traceback" not in errors
            assert "Unexpected" not in errors
        if chance.random() < 0.5:  # or the next one begins while the guard is still at it
            campaign.wait_for_no_process()
    campaign.wait_for_no_process()
    manager = campaign.start(600)
    campaign.wait_for_turns()
    wait_until(lambda: len(campaign.state().bugs) >= ENOUGH, "bugs")
    interrupt(manager)
    memory.look(campaign)
    state = campaign.state()
    assert state.stopped is not None
    assert state.stopped.reason == "interrupted"
    assert all(target.inputs for target in state.targets)
    assert not events(state, "broken")
    assert not events(state, "recovered")
    check_bugs(campaign, state)
    check_counts(campaign, state)


def check_bugs(campaign: Campaign, state: CampaignState) -> None:
    """Each bug was told at most once, and all files that are named are there."""
    assert len(state.bugs) >= ENOUGH
    told = Counter(detail.rpartition(" ")[2] for detail in events(state, "bug"))
    assert all(times == 1 for times in told.values())
    for bug in state.bugs:
        assert bug.inputs
        for name in (*bug.inputs, bug.report):
            assert (campaign.folder / name).is_file()


def check_counts(campaign: Campaign, state: CampaignState) -> None:
    """What the store says is what the targets' folders say, and what was really run."""
    plan = campaign.plan()
    inputs = {target.name: target.inputs for target in state.targets}
    with closing(sqlite3.connect(campaign.folder / FILE)) as store:
        generations = Counter(
            name for (name,) in store.execute(f"SELECT t.name FROM generations g {OF_TARGET}")
        )
        by_epochs = dict(
            store.execute(f"SELECT t.name, sum(g.inputs) FROM epochs g {OF_TARGET} GROUP BY t.name")
        )
    assert set(generations.values()) == {1}  # no counts ever had to begin again
    assert by_epochs == inputs
    for target in plan.targets:
        folder = campaign.folder / "targets" / target.name
        if target.engine == "libfuzzer":
            assert State(folder / "state").head.inputs == inputs[target.name]
        else:
            tally = load(folder / PROGRESS)
            assert tally is not None
            assert tally.n == inputs[target.name]
            check_tally(tally, target, plan)


OF_TARGET = "JOIN targets t ON t.id = g.target_id"


def check_tally(tally: Tally, target: TargetPlan, plan: CampaignPlan) -> None:
    """A run without kills sees the same crashes, at the same inputs.

    A run that was itself killed counts as one that took too much memory, and may have hidden a
    crash: so many may be missing.
    """
    assert target.engine == "black-box"
    seed = crc32(target.name.encode()) ^ plan.seed
    file = target.corpus[0]
    what = Target(target.command, file.read_bytes(), target.name, suffix=file.suffix)
    with Runner(what, seed, target.settings.mutation, target.settings.limits) as runner:
        crashes = {event.run for event in runner.run(1, tally.n) if event.kind == "crash"}
    assert len(crashes) - tally.out_of_memory <= tally.crashes <= len(crashes)
    assert {trace.first.run for trace in tally.traces.values()} <= crashes
    assert {shown.n for shown in tally.bugs.values()} <= crashes
    assert tally.bugs
