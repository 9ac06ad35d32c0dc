"""The power goes at any moment: the campaign goes on, no bug that was told of is lost, nothing
counts twice, and counts of which some are older than others are never gone on with."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from fuzzwise.campaign.finished import run_entry
from fuzzwise.engines.blackbox import tally as tallies
from fuzzwise.engines.blackbox.tally import Tally
from fuzzwise.engines.observer import folder as folders
from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state
from fuzzwise.engines.observer.state import DISCOVERY, SEED, Head
from fuzzwise.files import write_whole
from fuzzwise.store.contract import BugFound, Choice
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examine import from_report
from observer_states import FEATURES, SEEDS, make_state
from power_cut import Disk
from stored import plan, turn

CUTS = int(os.environ.get("FUZZWISE_CUTS", "150"))
"""`make fuzz-readers` has more of them."""
KIND = {"species": "feature"}
STEP = 10
"""Inputs from one discovery to the next."""


@dataclass
class Truth:
    """What has happened, and what of it was told."""

    made: int = 0
    told: int = 0
    ended: set[int] = field(default_factory=lambda: {0})
    """Inputs at the ends of turns."""
    bugs: dict[str, bytes] = field(default_factory=dict)
    """Those that were told of, with the input that shows each."""
    generation: str = ""
    in_order: bool = False
    """Whether a turn has ended in order and the next has not begun: all counts must be there."""


class Campaign:
    """One target of a campaign, fuzzed by this process as a session does it."""

    def __init__(self, top: Path, disk: Disk, truth: Truth, rng: random.Random) -> None:
        self.top, self.disk, self.truth, self.rng = top, disk, truth, rng
        self.folder = CampaignFolder(top / "out" / "targets" / "a")
        self.box = top / "out" / "targets" / "box"

    def run(self, turns: int) -> None:
        with SqlStore.open(self.top / "out") as store:
            store.begin_run(run_entry(plan(self.top / "out", "a"), 600.0))
            for number in range(turns):
                found = self._turn()
                write_tally(self.box, self.truth.made, to_disk=True)
                epoch = store.start_epoch(float(number), "a", Choice("its turn"))
                record = self.folder.record()
                assert record is not None
                told = turn(self.truth.made, *self._told(), generation=record["generation"])
                store.finish_epoch(epoch, float(number + 1), told)
                self.truth.told = self.truth.made
                self.truth.bugs |= found
                self.disk.moment()

    def _turn(self) -> dict[str, bytes]:
        folder, truth = self.folder, self.truth
        folder.make()
        record = folder.agreed("build", KIND)
        truth.generation, truth.in_order = record["generation"], False
        folder.begin_turn(record)
        book = BugBook(folder.crashes, "a")
        found: dict[str, bytes] = {}
        for part in range(3):
            truth.made += self.rng.randrange(50, 500)
            count_to(folder.state, truth.made)
            self.disk.moment()
            folder.write({**record, "inputs": truth.made})
            write_tally(self.box, truth.made, to_disk=False)
            CorpusFiles(folder).write(sound_state(folder, 0))
            if self.rng.random() < 0.5:
                found |= self._crash(book, f"f{len(truth.bugs)}{part}")
        truth.ended.add(truth.made)
        folder.end_turn({**record, "inputs": truth.made})
        truth.in_order = True
        self.disk.moment()
        return found

    def _crash(self, book: BugBook, function: str) -> dict[str, bytes]:
        data = f"crash in {function}".encode() * 300
        artifact = self.folder.crashes / f"crash-{function}"
        artifact.write_bytes(data)  # by the fuzzer, which waits for no disk
        report = (
            "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n"
            f"    #0 0x1 in {function} a.c:1:2\n    #1 0x2 in main a.c:5:6\n"
        )
        bug = book.add(from_report(report), [artifact], self.truth.made, 1.0)
        return {bug.id: data}

    def _told(self) -> list[BugFound]:
        book = BugBook(self.folder.crashes, "a")
        return [BugFound(bug, "r", bug.inputs, "c") for bug in book.bugs.values()]


def count_to(state: Path, n: int) -> None:
    """Change the counts in place, as the observer does through its mapping of the files."""
    if not (state / "head").exists():
        make_state(state, n)
    found = np.zeros(n // STEP, DISCOVERY)
    found["input"] = np.arange(STEP, n + 1, STEP)[: len(found)]
    head = Head.from_buffer_copy((state / "head").read_bytes())
    head.inputs, head.discoveries, head.species = n, len(found), 30 + len(found)
    seeds = np.frombuffer((state / "seeds").read_bytes(), SEED).copy()
    seeds["inputs"] = n // len(seeds)
    for name, content in (
        ("discoveries", found.tobytes()),
        ("seeds", seeds.tobytes()),
        ("features", bytes([n % 251]) * FEATURES),
        ("head", bytes(head)),
    ):
        with (state / name).open("r+b") as file:
            file.write(content)


def write_tally(box: Path, n: int, *, to_disk: bool) -> None:
    box.mkdir(parents=True, exist_ok=True)
    Tally("generation", "fingerprint", lanes=[n]).save(box / "progress.json", to_disk=to_disk)


def check(image: Path, truth: Truth) -> None:
    """What must hold of a folder after a power cut, and that the campaign goes on in it."""
    out = image / "out"
    _check_bugs(out, truth)
    folder = CampaignFolder(out / "targets" / "a")
    n = _gone_on_with(folder, truth)
    assert n == truth.made or not truth.in_order
    tally = tallies.load(out / "targets" / "box" / "progress.json")
    assert tally is None or tally.n <= truth.made
    with SqlStore.open(out) as store:
        assert store.notes == ()
        store.begin_run(run_entry(plan(out, "a"), 600.0))
        before = store.memory()["a"].inputs
        assert before == truth.told
        if n:
            store.recover(1e3, "a", turn(n, generation=truth.generation))
        known = store.memory()["a"].inputs
        assert truth.told <= known <= truth.made
        epoch = store.start_epoch(1e3, "a", Choice("its turn"))
        generation = truth.generation if n else "another"
        store.finish_epoch(epoch, 1e3 + 1, turn((n or 0) + 1000, generation=generation))
        added = store.memory()["a"].inputs - known
        assert added == 1000 if not n else added == n + 1000 - max(n, truth.told)


def _gone_on_with(folder: CampaignFolder, truth: Truth) -> int | None:
    """The inputs of the counts that are gone on with; None where they begin again."""
    try:
        folder.make()
        record = folder.agreed("build", KIND)
        state = sound_state(folder, int(record.get("inputs", 0)))
    except DamagedState:
        folder.begin_again()
        folder.make()
        assert folder.record() is None
        return None
    if state is None:
        return None
    n = int(state.head.inputs)
    assert n in truth.ended
    assert state.observation(1.0).discoveries.tolist() == list(range(STEP, n + 1, STEP))
    assert (folder.state / "features").read_bytes() == bytes([n % 251]) * FEATURES
    CorpusFiles(folder).write(state)
    assert {path.read_bytes() for path in folder.corpus.iterdir()} >= set(SEEDS)
    return n


def _check_bugs(out: Path, truth: Truth) -> None:
    crashes = out / "targets" / "a" / "crashes"
    book = BugBook(crashes)
    assert book.bugs.keys() >= truth.bugs.keys()
    for bug, data in truth.bugs.items():
        assert data in [
            book.path(name).read_bytes()
            for name in book.bugs[bug].inputs
            if book.path(name).exists()
        ]


class Cuts:
    """Power cuts at random moments of a campaign, each with a look at what is left."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done = 0
        self._folder = folder
        self._chance = random.Random(5)
        self._truth = Truth()
        self._boot = "first"
        monkeypatch.setattr(folders, "boot", lambda: self._boot)

    def campaign(self) -> None:
        """One campaign, from its beginning."""
        top = self._folder / f"run-{self.done}"
        top.mkdir()
        self._truth = Truth()
        disk = Disk(top, self._cut)
        with disk.watched():
            Campaign(top, disk, self._truth, self._chance).run(4)
        shutil.rmtree(top)

    def _cut(self, disk: Disk) -> None:
        if self._chance.random() > 0.12 or not (disk.top / "out" / "campaign.db").exists():
            return
        self.done += 1
        image = self._folder / f"image-{self.done}"
        disk.image(self._chance, image)
        self._boot = image.name
        check(image, self._truth)
        self._boot = "first"
        shutil.rmtree(image)


def test_after_a_power_cut_at_any_moment_the_campaign_goes_on(monkeypatch):
    memory = Path("/dev/shm")  # thousands of syncs, that a real disk would take minutes for
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        cuts = Cuts(Path(folder), monkeypatch)
        while cuts.done < CUTS:
            cuts.campaign()


def test_a_turn_that_ended_in_order_is_gone_on_with_after_the_machine_was_started_again(
    tmp_path, monkeypatch
):
    folder = CampaignFolder(tmp_path / "a")
    folder.make()
    record = folder.agreed("build", KIND)
    folder.begin_turn(record)
    count_to(folder.state, 500)
    monkeypatch.setattr(folders, "boot", lambda: "another")
    with pytest.raises(DamagedState, match="went down"):
        CampaignFolder(tmp_path / "a").agreed("build", KIND)
    monkeypatch.undo()
    folder.end_turn({**record, "inputs": 500})
    monkeypatch.setattr(folders, "boot", lambda: "another")
    assert CampaignFolder(tmp_path / "a").agreed("build", KIND)["inputs"] == 500


def test_a_killed_turn_is_gone_on_with_while_the_machine_is_up(tmp_path):
    folder = CampaignFolder(tmp_path / "a")
    folder.make()
    folder.begin_turn(folder.agreed("build", KIND))
    count_to(folder.state, 500)
    folder.write({**folder.agreed("build", KIND), "inputs": 500})
    assert CampaignFolder(tmp_path / "a").agreed("build", KIND)["inputs"] == 500


def test_the_simulated_disk_forgets_what_nobody_has_synced(tmp_path):
    """Without it, the test above would say nothing."""
    top = tmp_path / "top"
    top.mkdir()
    disk = Disk(top, lambda disk: None)
    with disk.watched():
        write_whole(top / "kept", b"a" * 5000)
        write_whole(top / "lost", b"b" * 5000, to_disk=False)
    seen = set()
    for seed in range(50):
        disk.image(random.Random(seed), tmp_path / f"{seed}")
        assert (tmp_path / f"{seed}" / "kept").read_bytes() == b"a" * 5000
        lost = tmp_path / f"{seed}" / "lost"
        seen.add(lost.read_bytes() if lost.exists() else None)
    assert {None, b"", b"b" * 5000} <= seen
