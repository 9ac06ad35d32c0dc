"""The observer's counts against an independent recount of every run, across crashes and resumes."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from fuzzwise.engines.observer.build import COUNTING, NATIVE
from fuzzwise.model import Observation
from fuzzwise.snapshot import read
from observed_target import TARGETS, build, fuzz


def bucket(count: int) -> int:
    return sum(count >= limit for limit in (2, 3, 4, 8, 16, 32, 128))


@dataclass
class Recount:
    """Counts everything from the log of runs, the slow and obvious way."""

    kind: str = "feature"
    seen: set[int] = field(default_factory=set)
    inputs: list[tuple[int, frozenset[int]]] = field(default_factory=list)
    discoveries: list[int] = field(default_factory=list)
    seeds: int = 0
    restarts: list[int] = field(default_factory=list)

    def features(self, line: str) -> frozenset[int]:
        pairs = [tuple(map(int, word.split(":"))) for word in line.split()[1:]]
        if self.kind == "edge":
            return frozenset(i for i, _ in pairs)
        return frozenset(i * 8 + bucket(count) for i, count in pairs)

    def initial(self, shown: frozenset[int]) -> None:
        if shown - self.seen:
            self.seeds += 1
            self.seen |= shown

    def mutated(self, seed: int, shown: frozenset[int]) -> None:
        self.inputs.append((seed, shown))
        if shown - self.seen:
            self.discoveries.append(len(self.inputs))
            self.seeds += 1
            self.seen |= shown
            self.restarts.append(len(self.inputs))

    def check(self, o: Observation) -> None:
        assert o.n == len(self.inputs)
        assert o.species == len(self.seen)
        assert o.discoveries.tolist() == self.discoveries
        incidence = Counter(f for _, shown in self.inputs for f in shown)
        assert o.f == tuple(sum(c == i for c in incidence.values()) for i in (1, 2, 3, 4))
        single = {f for f, c in incidence.items() if c == 1}
        assert o.k == sum(bool(shown & single) for _, shown in self.inputs)
        assert len(o.seeds) == self.seeds
        for t in range(self.seeds):
            mine = [shown for seed, shown in self.inputs if seed == t]
            local = Counter(f for shown in mine for f in shown)
            assert o.seeds.n[t] == len(mine)
            assert o.seeds.f1[t] == sum(c == 1 for c in local.values())
            assert o.seeds.f2[t] == sum(c == 2 for c in local.values())
            assert o.seeds.k[t] == sum(bool(shown & single) for shown in mine)
            assert o.seeds.g[t] == len(single & set(local))
        for a in (1, 10):
            at = self.restarts[a - 1 :: a]
            window = Counter(f for _, shown in self.inputs[at[-1] if at else 0 :] for f in shown)
            assert o.resets[a] == sum(c == 1 for c in window.values()), a


def replay(log: Path, observations: list[Observation], kind: str = "feature") -> Recount:
    """Walk through the log; at every data point compare, and recount the measured truth."""
    count = Recount(kind)
    points = {o.n: o for o in observations}
    measured: list[bool] = []
    checked = 0
    lines = log.read_text().splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("B"):
            continue
        _, mutated, seed, measuring = line.split()
        ended = i + 1 < len(lines) and lines[i + 1].startswith("E")
        shown = count.features(lines[i + 1]) if ended else frozenset()
        if measuring == "1" and mutated == "1":
            measured.append(bool(shown - count.seen))
            point = points[len(count.inputs)]
            if len(measured) == point.truth.inputs:
                assert point.truth.discoveries == sum(measured)
                measured = []
        elif mutated == "1":
            count.mutated(int(seed), shown)
            if len(count.inputs) in points:
                count.check(points[len(count.inputs)])
                checked += 1
        else:
            count.initial(shown)
    assert checked == len(points)
    return count


@pytest.fixture(scope="module")
def recounted(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("recounted"), TARGETS / "recounted.c")


def campaign(out: Path) -> list[Observation]:
    (found,) = read(out / "state" / "observations.jsonl").campaigns
    return list(found.observations)


@pytest.mark.parametrize("schedule", ["uniform", "later", "fresh"])
def test_every_count_equals_the_recount_across_crashes(recounted, tmp_path, schedule):
    log = tmp_path / "runs.log"
    for doublings in range(6, 11):  # until it has crashed on the way
        words = ("--inputs", 100 * 2**doublings, "--measure", "--schedule", schedule, "--json")
        result = fuzz(recounted, tmp_path / "out", *words, RECOUNT_LOG=str(log))
        assert result.returncode == 0, result.stderr
        if '"kind": "abort"' in result.stdout:
            break
    assert '"kind": "abort"' in result.stdout
    observations = campaign(tmp_path / "out")
    assert [o.n for o in observations] == [100 * 2**j for j in range(doublings + 1)]
    count = replay(log, observations)
    assert len(count.inputs) == 100 * 2**doublings


def test_counts_go_on_over_resumes(recounted, tmp_path):
    log = tmp_path / "runs.log"
    for inputs in (150, 900, 901, 3200):
        result = fuzz(
            recounted, tmp_path / "out", "--inputs", inputs, "--per-seed", RECOUNT_LOG=str(log)
        )
        assert result.returncode == 0, result.stderr
    observations = campaign(tmp_path / "out")
    assert [o.n for o in observations] == [100, 200, 400, 800, 1600, 3200]
    assert len(replay(log, observations).inputs) == 3200


@pytest.mark.parametrize("applied", range(6))
def test_a_death_in_the_middle_of_counting_is_completed(tmp_path, applied):
    program, state = tmp_path / "torn", tmp_path / "state"
    state.mkdir()
    sources = [str(NATIVE / name) for name in COUNTING]
    words = ["clang", "-std=gnu11", f"-I{NATIVE}", str(TARGETS / "torn.c"), *sources]
    subprocess.run([*words, "-o", str(program), "-lm", "-lpthread"], check=True)
    shown = subprocess.run(
        [str(program), str(state), str(applied)], capture_output=True, text=True, check=True
    )
    counted, recovered = shown.stdout.splitlines()
    assert counted.split()[1:6] == ["2", "6", "2", "2", "3"]  # n, species, k, D, seeds
    assert recovered == counted


def test_edges_alone_as_species(recounted, tmp_path):
    log = tmp_path / "runs.log"
    words = ("--inputs", 800, "--per-seed", "--species", "edge")
    result = fuzz(recounted, tmp_path / "out", *words, RECOUNT_LOG=str(log))
    assert result.returncode == 0, result.stderr
    replay(log, campaign(tmp_path / "out"), "edge")


def test_measured_estimated_and_computed_probability_agree(tmp_path):
    """Input k comes with probability (k+1)/32896: the truth is computed, not measured."""
    target = build(tmp_path, TARGETS / "lottery.c", "-O1")
    result = fuzz(target, tmp_path / "out", "--inputs", 12_800, "--measure", "--json")
    assert result.returncode == 0, result.stderr
    observations = campaign(tmp_path / "out")
    corpus = [path.read_bytes() for path in (tmp_path / "out" / "corpus").iterdir()]
    drawn = {data[0] for data in corpus if len(data) == 1}
    final = observations[-1]
    truth = sum(k + 1 for k in range(256) if k not in drawn) / 32_896
    error = 4 * (max(truth, 1 / final.n) / final.n) ** 0.5
    assert final.truth.probability == pytest.approx(truth, abs=error)
    for o in observations:
        if o.n >= 200:
            good_turing = o.f[0] / o.n
            noise = 5 * (max(o.truth.probability, 2 / o.n) / o.n) ** 0.5
            assert good_turing == pytest.approx(o.truth.probability, abs=2 * noise)


@pytest.mark.parametrize("schedule", ["uniform", "later", "fresh"])
def test_seeds_are_chosen_with_the_probabilities_in_the_log(tmp_path, schedule):
    """Chi-squared on the inputs of each seed, while no seed is added; fails by chance at 1e-6."""
    target = build(tmp_path, TARGETS / "lottery.c", "-O1")
    result = fuzz(target, tmp_path / "out", "--inputs", 102_400, "--schedule", schedule)
    assert result.returncode == 0, result.stderr
    before, after = campaign(tmp_path / "out")[-2:]
    assert len(before.seeds) == len(after.seeds)
    chosen = after.seeds.n - before.seeds.n
    # The weights of "fresh" move with the inputs of each seed, slowly: their mean over the stretch.
    q = (before.seeds.q + after.seeds.q) / 2 if schedule == "fresh" else before.seeds.q
    expected = q / q.sum() * chosen.sum()
    assert expected.min() > 1
    assert stats.chisquare(chosen, expected).pvalue > 1e-6
    assert np.ptp(q) > 0 or schedule == "uniform"
