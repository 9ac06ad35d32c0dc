"""The counts of AFL++'s observer against an independent recount of every run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from afl_target import EXAMPLES, HARNESS, TARGETS, build, fuzzers_of, inputs_of, segments_of
from fuzzwise.engines.aflplusplus.program import find_afl_fuzz
from fuzzwise.engines.observer.state import State
from fuzzwise.model import Observation
from fuzzwise.snapshot import read
from observed_target import fuzz
from waiting import PATIENCE, wait_until

MAP = 64
CALIBRATION = 7
"""How often AFL++ executes an entry to calibrate it."""

RECORD = np.dtype([("hash", np.uint64), ("ended", np.uint64), ("map", np.uint8, MAP)])
PATIENT = ("--afl", "-t 5000")
"""On a busy machine a run may take longer than what AFL++ expects, and is run again then."""

SEEDS = {"one": b"hello", "two": b"\x05\x15\x25abcdefgh"}


def bucket(count: int) -> int:
    return sum(count >= limit for limit in (2, 3, 4, 8, 16, 32, 128))


def features_of(counts: np.ndarray) -> frozenset[int]:
    return frozenset(int(i) * 8 + bucket(int(counts[i])) for i in np.flatnonzero(counts))


def hash_of(data: bytes) -> int:
    value = 0xCBF29CE484222325 ^ len(data)
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


@dataclass
class Recount:
    """Counts everything from the diary of runs, the slow and obvious way."""

    kind: str = "feature"
    known: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    kept_for: set[int] = field(default_factory=set)
    inputs: list[frozenset[int]] = field(default_factory=list)
    discoveries: list[int] = field(default_factory=list)

    def species(self, features: frozenset[int]) -> frozenset[int]:
        return frozenset(f // 8 for f in features) if self.kind == "edge" else features

    def add(self, diary: Path) -> None:
        """The runs of one afl-fuzz: it first executes what it has, and what it finds some more
        times. Its processes begin with a run of AFL++'s own, the same each time.

        What it keeps inputs for is what it has not seen itself: an entry that an earlier one had
        found, and was killed before it had written, is found again."""
        self.kept_for = set()
        runs = np.fromfile(diary, RECORD)
        dummy = int(runs["hash"][0])
        loading, calibrated = True, None
        streaks = np.split(runs, np.flatnonzero(np.diff(runs["hash"])) + 1)
        # An entry that could not be calibrated, as it seems on a busy machine, is once more.
        lengths = np.repeat([len(streak) for streak in streaks], [len(s) for s in streaks])
        for run, length in zip(runs, lengths, strict=True):
            name = int(run["hash"])
            if name == dummy or (length >= CALIBRATION and name in self.known and not loading):
                continue
            features = features_of(run["map"]) if run["ended"] else frozenset[int]()
            shown = self.species(features)
            loading = loading and name in self.known
            if loading:
                self.kept_for |= features
                self.seen |= shown
                continue
            if name == calibrated:
                continue
            calibrated = None
            self.inputs.append(shown)
            if shown - self.seen:
                self.discoveries.append(len(self.inputs))
                self.seen |= shown
            if features - self.kept_for:
                self.kept_for |= features
                self.known.add(name)
                calibrated = name

    def check(self, o: Observation) -> None:
        assert o.n == len(self.inputs)
        assert o.species == len(self.seen)
        assert o.discoveries.tolist() == self.discoveries
        incidence = Counter(feature for shown in self.inputs for feature in shown)
        assert o.f == tuple(sum(c == i for c in incidence.values()) for i in (1, 2, 3, 4))
        single = {feature for feature, c in incidence.items() if c == 1}
        assert o.k == sum(bool(shown & single) for shown in self.inputs)


@pytest.fixture(scope="module")
def diary_keeper() -> Path:
    return build(TARGETS / "afl_diary.c", HARNESS)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def known_version(tmp_path: Path) -> None:
    """The recount has to know which executions are no inputs, which differs between versions."""
    found = find_afl_fuzz(tmp_path)
    if found.version != (4, 4):
        pytest.skip(f"the recount knows how AFL++ 4.04c calibrates, and not {found.name}")


def recount(kind: str = "feature") -> Recount:
    return Recount(kind, {hash_of(data) for data in SEEDS.values()})


@pytest.mark.usefixtures("known_version")
@pytest.mark.parametrize(
    ("kind", "more"), [("feature", ()), ("feature", ("--afl", "-D")), ("edge", ())]
)
def test_every_count_is_that_of_a_recount(
    tmp_path, known_version, corpus, diary_keeper, kind, more
):
    words = ("--inputs", 12_000, "--per-seed", "--species", kind, "--quiet", *PATIENT, *more)
    environment = {"DIARY": str(tmp_path / "diary"), "AFL_DISABLE_TRIM": "1"}
    done = fuzz(diary_keeper, tmp_path / "out", corpus, *words, **environment)
    assert done.returncode == 0, done.stderr
    state = State(tmp_path / "out" / "state")
    count = recount(kind)
    count.add(tmp_path / "diary")
    assert len(count.discoveries) > 4
    if not more:
        assert sum(not shown for shown in count.inputs) > 0  # some crashed
    assert int(state.head.inputs) == 12_000
    # The last runs are those of the input that was stopped before its turn.
    del count.inputs[12_000:]
    count.check(state.observation(1.0))
    assert int(state.seeds()["inputs"].sum()) == 12_000

    # What AFL++ says itself: its discoveries, and which entry each was made from.
    queue = sorted(path.name for path in (tmp_path / "out/afl/default/queue").glob("id:*"))
    found = [name for name in queue if ",orig:" not in name]
    assert len(found) == len(count.known) - len(SEEDS)
    if kind == "edge":  # AFL++ keeps more than what has a new edge
        return
    assert len(found) == len(count.discoveries) == int(state.head.discoveries)
    sources = [int(re.search(r"src:(\d+)", name)[1]) for name in found]  # type: ignore[index]
    parents = state.seeds()["parent"][-len(found) :].tolist()
    fresh = {2 + i: len(state.seeds()) - len(found) + i for i in range(len(found))}
    for source, parent in zip(sources, parents, strict=True):
        assert fresh.get(source, parent) == parent
        assert (source in fresh) == (parent in fresh.values())

    # The log has the same, per seed, and the estimators take it.
    logged = read(tmp_path / "out/state/observations.jsonl").campaigns[0].observations
    assert [o.n for o in logged] == [100 * 2**i for i in range(7)]
    assert all(int(o.seeds.n.sum()) == o.n for o in logged)
    assert logged[-1].seeds.f1 is not None


def counted_by_the_next_start(state: State) -> int:
    """All inputs, with the one that was under way when its process was killed."""
    inputs = state.seeds()["inputs"].astype(int)
    slot = state.head.slots[0]
    if slot.state:
        inputs[slot.seed] = slot.seed_inputs + 1
    return int(inputs.sum())


@pytest.mark.usefixtures("known_version")
def test_nothing_is_lost_or_counted_twice_when_all_is_killed(
    tmp_path, known_version, corpus, diary_keeper
):
    out = tmp_path / "out"
    count = recount()
    for turn in range(3):
        diary = tmp_path / f"diary-{turn}"
        command = [sys.executable, "-m", "fuzzwise", "fuzz", str(diary_keeper), str(corpus)]
        process = subprocess.Popen(
            [*command, "--out", str(out), "--quiet", *PATIENT],
            env={**os.environ, "DIARY": str(diary), "AFL_DISABLE_TRIM": "1"},
            stdout=subprocess.DEVNULL,
        )
        before = len(count.inputs)
        wanted = before + 1500
        wait_until(lambda least=wanted: inputs_of(out) > least, "1,500 more inputs")
        pids = [int(slot.pid) for slot in State(out / "state").head.slots if slot.pid]
        process.kill()
        process.wait()
        wait_until(lambda: not fuzzers_of(out), "the end of afl-fuzz")
        assert pids
        made = tuple(pids)
        wait_until(lambda who=made: not any(map(segments_of, who)), "the kernel, for a moment")
        count.add(diary)
        counted = counted_by_the_next_start(State(out / "state"))
        assert counted > before + 1500
        # The last input may have been killed before the target had it, and so before its diary.
        assert counted - 1 <= len(count.inputs) <= counted
        count.inputs += [frozenset()] * (counted - len(count.inputs))
    done = fuzz(
        diary_keeper, out, corpus, "--inputs", len(count.inputs) + 500, "--quiet", *PATIENT,
        DIARY=str(tmp_path / "last"), AFL_DISABLE_TRIM="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    count.add(tmp_path / "last")
    state = State(out / "state")
    # A kill may come between the entry that AFL++ writes and our count of it, once each time.
    assert abs(int(state.head.discoveries) - len(count.discoveries)) <= 3
    assert abs(int(state.head.species) - len(count.seen)) <= 3
    assert int(state.seeds()["inputs"].sum()) == int(state.head.inputs)


def test_discoveries_are_the_entries_of_the_queue_in_any_version(tmp_path, corpus):
    out = tmp_path / "out"
    target = build(EXAMPLES / "markup.c", HARNESS)
    assert fuzz(target, out, corpus, "--inputs", "10k", *PATIENT).returncode == 0
    head = State(out / "state").head
    entries = len(list((out / "afl/default/queue").glob("id:*"))) - len(SEEDS)
    assert entries > 20
    # 5.02c has stages before the others that are seen in part.
    assert entries - 2 <= int(head.discoveries) <= entries


def test_trimming_is_no_input(tmp_path, diary_keeper):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "long").write_bytes(b"h" * 3000)
    done = fuzz(
        diary_keeper, tmp_path / "out", tmp_path / "corpus", "--inputs", 3000, "--quiet", *PATIENT,
        DIARY=str(tmp_path / "diary"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    state = State(tmp_path / "out" / "state")
    executed = len(np.fromfile(tmp_path / "diary", RECORD))
    assert int(state.head.inputs) == 3000
    again = 7 * (int(state.head.discoveries) + 1)
    assert executed - 3000 - again > 20  # attempts to trim
    assert abs(int(state.head.executed) - executed) < 60  # AFL++'s own run of each process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_in_good_order(tmp_path, corpus, diary_keeper, number):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "fuzzwise", "fuzz", str(diary_keeper), str(corpus)]
    process = subprocess.Popen(
        [*command, "--out", str(out), "--json"],
        env={**os.environ, "DIARY": str(tmp_path / "diary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: inputs_of(out) > 500, "500 inputs")
    process.send_signal(number)
    said, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, problems
    assert '"reason": "interrupted"' in said
    assert not fuzzers_of(out)
    assert "execs_done" in (out / "afl/default/fuzzer_stats").read_text()
