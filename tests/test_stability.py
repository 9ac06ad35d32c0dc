"""Harnesses that show one input otherwise when it runs again: measured, said, and not counted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afl_target
from commands import Started, fuzzwise
from fuzzwise.engines import stability
from fuzzwise.engines.aflplusplus import stats
from fuzzwise.engines.aflplusplus.session import AflSession
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.observer.build import COUNTING, NATIVE
from fuzzwise.engines.observer.folder import DamagedState
from fuzzwise.engines.observer.state import State
from fuzzwise.triage.workers import Workers
from observed_target import TARGETS, build, fuzz
from test_observer_counts import Recount, campaign
from waiting import wait_until

UNSTABLE, SEEN, COUNT = 0x40, 0x80, 0x07


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory):
    """The harness with the part of its name; each is built once."""
    made: dict[tuple[str, ...], Path] = {}

    def of(*parts: str) -> Path:
        if parts not in made:
            folder = tmp_path_factory.mktemp("-".join(("unstable", *parts)))
            flags = (f"-D{part}" for part in parts)
            made[parts] = build(folder, TARGETS / "unstable.c", "-O1", *flags)
        return made[parts]

    return of


def fuzzed(target: Path, out: Path, *words: object, code: int = 0) -> dict[str, Any]:
    result = fuzz(target, out, "--json", "--quiet", *words)
    assert result.returncode == code, result.stderr
    check_counts(out)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def check_counts(out: Path) -> None:
    """What the head says is what a count of the features says."""
    state = State(out / "state")
    head = state.head
    features = np.fromfile(out / "state" / "features", np.uint8)[: head.features]
    edges = features.reshape(-1, 8)
    unstable = (edges & UNSTABLE).astype(bool)
    assert (unstable.all(axis=1) == unstable.any(axis=1)).all()
    assert head.species == np.count_nonzero(features & SEEN)
    counts = np.bincount(features[(features & UNSTABLE) == 0] & COUNT, minlength=6)
    assert [int(f) for f in head.f] == counts[1:5].tolist()
    assert not (features[(features & UNSTABLE) > 0] & COUNT).any()
    if head.species_kind != 2:
        assert head.edges == np.count_nonzero(edges.any(axis=1))
        assert head.unstable == np.count_nonzero(unstable[:, 0])


def discoveries(out: Path) -> int:
    return int(State(out / "state").head.discoveries)


def test_a_stable_harness_has_all_its_coverage(harness, tmp_path):
    found = fuzzed(harness(), tmp_path / "out", "--inputs", 30_000)
    assert found["stability"] == 1.0
    assert found["warnings"] == []
    head = State(tmp_path / "out" / "state").head
    # Every seed was run again, and nothing else; the first input of all was so twice.
    assert head.reruns == head.seeds
    assert head.executed == 30_000 + head.reruns + head.initial + 1


def test_what_is_set_up_once_is_no_difference(harness, tmp_path):
    assert fuzzed(harness("SETUP"), tmp_path / "out", "--inputs", 20_000)["stability"] == 1


def test_killed_at_any_moment_the_counts_agree(harness, tmp_path):
    out = tmp_path / "out"
    words = ("fuzz", harness("RANDOM"), "--out", out, "--quiet", "--time", "100000s")
    n = 0
    for _ in range(6):
        with Started(*words) as run:
            wait_until(lambda n=n: made(out) > n, "inputs")
            run.kill()  # its fuzzing process dies with it
        n = made(out)
    found = fuzzed(harness("RANDOM"), out, "--inputs", n + 20_000)
    assert found["stability"] < 0.9


def made(out: Path) -> int:
    try:
        return int(State(out / "state").head.inputs)
    except DamagedState:  # nothing there yet
        return 0


@pytest.mark.parametrize(
    ("part", "inputs"), [("RANDOM", 30_000), ("CACHE", 30_000), ("THREADS", 5000)]
)
def test_what_differs_makes_no_discoveries(harness, tmp_path, part, inputs):
    """Without a second run, the first two have 30 to 100 discoveries more than the stable one.

    The numbers of two campaigns differ by 5 (one standard deviation): it fails by chance at 1e-6.
    """
    found = fuzzed(harness(part), tmp_path / "out", "--inputs", inputs)
    assert found["stability"] < 0.9
    fuzzed(harness(), tmp_path / "stable", "--inputs", inputs)
    assert any("two runs of the same input" in warning for warning in found["warnings"])
    assert discoveries(tmp_path / "out") < discoveries(tmp_path / "stable") + 25


def test_a_few_edges_that_differ_hold_no_stop_back(harness, tmp_path):
    words = ("--accept-risk", 1e-3, "--inputs", "400k")
    found = fuzzed(harness("RANDOM", "FEW"), tmp_path / "out", *words)
    assert 0.5 < found["stability"] < 1
    assert found["stopped"]["reason"] == "accepted-risk"


def test_no_risk_is_accepted_where_most_differs(harness, tmp_path):
    words = ("--accept-risk", 1e-2, "--inputs", 50_000)
    found = fuzzed(harness("MEMO"), tmp_path / "out", *words, code=11)
    assert found["stability"] < 0.5
    assert found["stopped"]["reason"] == "input-budget"
    (warning,) = found["warnings"]
    assert "NO RISK CAN BE JUDGED" in warning
    # Inputs that were the first to show an edge are seeds all the same: fuzzing is not blind.
    assert found["corpus"] > 10


@pytest.mark.parametrize("species", ["edge", "path"])
def test_other_species(harness, tmp_path, species):
    words = ("--species", species, "--inputs", 10_000)
    assert fuzzed(harness(), tmp_path / "stable", *words)["stability"] == 1
    found = fuzzed(harness("RANDOM"), tmp_path / "out", *words)
    assert found["stability"] < 1
    # Of some 16 edges or 6,000 paths; their numbers alone differ by 2 and by 400.
    assert discoveries(tmp_path / "out") < 1.3 * discoveries(tmp_path / "stable") + 8


def test_several_jobs_and_libfuzzers_own_schedule(harness, tmp_path):
    fuzzed(harness(), tmp_path / "stable", "--inputs", 20_000)
    for name, words in (("jobs", ("--jobs", 2)), ("observe", ("--schedule", "observe"))):
        found = fuzzed(harness("RANDOM"), tmp_path / name, "--inputs", 20_000, *words)
        assert found["stability"] < 0.9
        assert discoveries(tmp_path / name) < discoveries(tmp_path / "stable") + 30


def test_counts_of_before_go_on(harness, tmp_path):
    """A state of an earlier version has nothing behind its lock, and no edge that is unstable."""
    out = tmp_path / "out"
    fuzzed(harness("RANDOM"), out, "--inputs", 200)
    state = State(out / "state")
    for name in ("edges", "unstable", "reruns", "differed"):
        setattr(state.head, name, 0)
    features = np.fromfile(out / "state" / "features", np.uint8)
    (features & ~np.uint8(UNSTABLE)).tofile(out / "state" / "features")
    assert state.stability is None
    found = fuzzed(harness("RANDOM"), out, "--inputs", 20_000)
    assert found["stability"] < 0.9
    assert not any("began again" in warning for warning in found["warnings"])


# ── a recount of every run ────────────────────────────────────────────────────────────────────


class UnstableRecount(Recount):
    """As ``Recount``, with what differs between two runs of an input left out."""

    def __init__(self) -> None:
        super().__init__()
        self.unstable: set[int] = set()
        self.reruns = 0

    def stable(self, shown: frozenset[int]) -> frozenset[int]:
        return frozenset(f for f in shown if f // 8 not in self.unstable)

    def looks_new(self, shown: frozenset[int]) -> bool:
        return bool(self.stable(shown) - self.seen)

    def compare(self, one: frozenset[int], other: frozenset[int]) -> tuple[set[int], bool]:
        """Edges that differ and were not known to, and whether ``one`` is the first to show one."""
        differ = {f // 8 for f in one ^ other} - self.unstable
        known = {f // 8 for f in self.seen}
        return differ, any(f // 8 in differ and f // 8 not in known for f in one)

    def run(self, line: str, shown: frozenset[int], again: list[frozenset[int]]) -> None:
        _, mutated, seed, measuring = line.split()
        if mutated == "1" and measuring == "1":
            return
        keep = False
        if again:
            self.reruns += 1
            pair = (again[0], again[1]) if len(again) == 2 else (shown, again[0])
            differ, keep = self.compare(*pair)
            self.unstable |= differ
        new = self.looks_new(shown)
        if mutated == "1":
            self.mutated(int(seed), self.stable(shown))
        elif self.inputs:  # of a process that goes on: the seeds are those that there are
            self.seen |= self.stable(shown)
            return
        else:
            self.initial(self.stable(shown))
        self.seeds += keep and not new

    def check(self, o) -> None:
        assert o.n == len(self.inputs)
        assert o.species == len(self.seen)
        assert o.discoveries.tolist() == self.discoveries
        now = [(seed, self.stable(shown)) for seed, shown in self.inputs]
        incidence: dict[int, int] = {}
        for _, shown in now:
            for f in shown:
                incidence[f] = incidence.get(f, 0) + 1
        assert o.f == tuple(sum(c == i for c in incidence.values()) for i in (1, 2, 3, 4))
        single = {f for f, c in incidence.items() if c == 1}
        assert o.k == sum(bool(shown & single) for _, shown in now)
        assert len(o.seeds) == self.seeds
        for t in range(self.seeds):
            mine = [shown for seed, shown in now if seed == t]
            assert o.seeds.n[t] == len(mine)
            assert o.seeds.k[t] == sum(bool(shown & single) for shown in mine)
            assert o.seeds.g[t] == sum(len(shown & single) for shown in mine)


def test_every_count_equals_the_recount(tmp_path):
    target = build(tmp_path, TARGETS / "recounted.c", "-DRANDOM")
    log = tmp_path / "runs.log"
    for inputs in (500, 6400, 12800, 25600):  # until one has ended its process
        words = ("--inputs", inputs, "--measure", "--json")
        result = fuzz(target, tmp_path / "out", *words, RECOUNT_LOG=str(log))
        assert result.returncode == 0, result.stderr
        if inputs > 500 and '"kind": "abort"' in result.stdout:
            break
    assert '"kind": "abort"' in result.stdout
    count = UnstableRecount()
    points = {o.n: o for o in campaign(tmp_path / "out")}
    lines = log.read_text().splitlines()
    at, measured = 0, list[bool]()
    while at < len(lines):
        line, shown, again = lines[at], frozenset[int](), []
        assert line.startswith("B")
        at += 1
        if at < len(lines) and lines[at].startswith("E"):
            shown = count.features(lines[at])
            at += 1
        while at < len(lines) and lines[at].startswith("A"):
            assert lines[at + 1].startswith("E")
            again.append(count.features(lines[at + 1]))
            at += 2
        assert bool(again) == count.looks_new(shown)
        if line.split()[1::2] == ["1", "1"]:
            differ = count.compare(shown, again[0])[0] if again else set()
            same = frozenset(f for f in shown if f // 8 not in differ)
            measured.append(count.looks_new(same))
            truth = points[len(count.inputs)].truth
            if len(measured) == truth.inputs:
                assert truth.discoveries == sum(measured)
                del points[len(count.inputs)], measured[:]
            continue
        count.run(line, shown, again)
        if line.split()[1] == "1" and len(count.inputs) in points:
            count.check(points[len(count.inputs)])
    assert not points
    state = State(tmp_path / "out" / "state")
    assert state.head.unstable == len(count.unstable) > 3
    assert state.head.reruns == count.reruns
    assert state.stability == 1 - len(count.unstable) / state.head.edges
    check_counts(tmp_path / "out")


@pytest.mark.parametrize("marked", range(1, 9))
def test_a_death_while_an_edge_is_marked_is_completed(tmp_path, marked):
    program, state = tmp_path / "torn", tmp_path / "state"
    state.mkdir()
    sources = [str(NATIVE / name) for name in COUNTING]
    words = ["clang", "-std=gnu11", f"-I{NATIVE}", str(TARGETS / "torn_unstable.c"), *sources]
    subprocess.run([*words, "-o", str(program), "-lm", "-lpthread"], check=True)
    said = subprocess.run(
        [str(program), str(state), str(marked)], capture_output=True, text=True, check=True
    )
    counted, recovered = said.stdout.splitlines()
    # species, k, edges, unstable; f1 … f4: features 8 and 11 were singletons, and are not any more
    assert counted.split()[:8] == ["5", "1", "4", "1", "1", "2", "0", "0"]
    assert recovered == counted


# ── a second run that ends badly ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("flags", "kind"), [((), "abort"), (("-DHANG",), "timeout")])
def test_an_input_that_ends_its_second_run_is_kept_as_it_was(tmp_path, flags, kind):
    target = build(tmp_path, TARGETS / "only_twice.c", *flags)
    out = tmp_path / "out"
    # Longer for what does not hang: on a busy machine, any input may take a while.
    limit = 2 if kind == "timeout" else 600
    for inputs in range(3000, 90_001, 3000):  # until one begins with a b
        # It remembers no longer ones, and ends at none of them.
        words = (
            "--inputs",
            inputs,
            "--json",
            "--quiet",
            f"--libfuzzer=-timeout={limit} -max_len=64",
        )
        result = fuzz(target, out, *words)
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout)
        if found["bugs"]:
            break
    (bug,) = [bug for bug in found["bugs"] if kind in bug["kind"]]
    assert all(Path(path).read_bytes().startswith(b"b") for path in bug["inputs"])
    state = State(out / "state")
    assert state.head.lost == bug["count"]
    assert state.head.inputs == inputs == int(state.seeds()["inputs"].sum())
    assert not any(data.startswith(b"b") for data in state.seed_bytes())


def test_a_slow_input_is_not_run_twice_in_its_time_limit(tmp_path):
    target = build(tmp_path, TARGETS / "only_twice.c", "-DSLOW")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "slow").write_bytes(b"bb")
    words = ("--inputs", 3, "--json", "--quiet", "--libfuzzer=-timeout=1")
    result = fuzz(target, tmp_path / "out", corpus, *words)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["bugs"] == []
    state = State(tmp_path / "out" / "state")
    assert state.head.reruns == 1  # the empty input
    assert b"bb" in state.seed_bytes()


# ── what is said ──────────────────────────────────────────────────────────────────────────────


def test_the_words_do_not_change_with_every_edge():
    assert stability.warnings(None) == stability.warnings(1.0) == stability.warnings(0.9) == ()
    assert "at least 10%" in stability.warnings(0.88)[0]
    assert stability.warnings(0.88) == stability.warnings(0.81)
    assert "at least 50%" in stability.warnings(0.5)[0]
    assert stability.unsettled(None) == stability.unsettled(0.5) == ""
    assert stability.warnings(0.49) == (stability.unsettled(0.3),)


# ── other engines ─────────────────────────────────────────────────────────────────────────────


def test_python_with_random_numbers(tmp_path):
    found, discovered = {}, {}
    for rolls in "01":
        out = tmp_path / rolls
        words = ("--inputs", 5000, "--json", "--quiet", "--schedule", "later")  # no clock in it
        result = fuzz(TARGETS / "rolling.py", out, *words, ROLLS=rolls)
        assert result.returncode == 0, result.stderr
        check_counts(out)
        found[rolls] = json.loads(result.stdout)["stability"]
        discovered[rolls] = discoveries(out)
    assert found["0"] == 1
    assert found["1"] < 0.9
    assert discovered["1"] < discovered["0"] + 10


def test_the_word_of_afl():
    assert stats.stability({"stability": "97.35%"}) == pytest.approx(0.9735)
    assert stats.stability({"stability": "100.00%"}) == 1
    for text in ("", "n/a", "-nan%", "97", "97.35%x"):
        assert stats.stability({"stability": text}) is None
    assert stats.stability({}) is None


@pytest.mark.parametrize(("flags", "is_stable"), [((), True), (("-DRANDOM",), False)])
def test_afl_tells_its_own(tmp_path, flags, is_stable):
    # Random numbers as often as possible: AFL++ compares eight runs of each queue entry.
    target = afl_target.build(TARGETS / "unstable.c", afl_target.HARNESS, *flags)
    plan = TargetPlan("t", "afl++", (str(target),))
    with Workers(1) as workers:
        session = AflSession(plan, tmp_path / "t", 1, workers)
        try:
            told = session.turn(2.0, 1)
            while told.stability is None:
                told = session.turn(2.0, 1)
        finally:
            session.close()
    told = session.totals() or told
    assert told.stability is not None
    assert (told.stability == 1) == is_stable
    assert told.unsettled == stability.unsettled(told.stability)


def test_a_campaign_and_whoever_watches_it_tell_it(harness, tmp_path):
    out = tmp_path / "out"
    found = fuzzed(harness("MEMO"), out, "--inputs", 20_000)
    for words, code in ((("status",), 0), (("watch", "--accept-risk", "0.01"), 11)):
        result = fuzzwise(words[0], out, "--json", *words[1:])
        assert result.returncode == code, result.stderr
        told = json.loads(result.stdout)
        (told,) = told.get("targets", [told])
        assert told["stability"] == found["stability"] < 0.5
        assert "NO RISK CAN BE JUDGED" in " ".join((*told["warnings"], *told.get("notes", ())))
