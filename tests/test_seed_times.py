"""Seeds get a share of the time: those whose inputs are slow are mutated less often."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzwise.engines.observer.state import State
from observed_target import TARGETS, build, fuzz

INPUTS = 1500


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("slow"), TARGETS / "slow_seed.c")


def _corpus(folder: Path) -> Path:
    corpus = folder / "corpus"
    corpus.mkdir()
    for word in (b"slow", b"fast"):
        (corpus / word.decode()).write_bytes(word)
    return corpus


def _inputs(out: Path) -> dict[bytes, int]:
    """How many were made of each seed."""
    state = State(out / "state")
    inputs = (int(n) for n in state.seeds()["inputs"])
    return dict(zip(state.seed_bytes(), inputs, strict=True))


def test_a_seed_that_is_a_thousand_times_slower_does_not_take_the_time(target, tmp_path):
    out, corpus = tmp_path / "out", _corpus(tmp_path)
    assert fuzz(target, out, corpus, "--inputs", INPUTS).returncode == 0
    first = _inputs(out)
    # By weight alone they had about as many each. Some come before anything is known of the times.
    assert 0 < first[b"slow"] < INPUTS / 8
    assert fuzz(target, out, corpus, "--inputs", 2 * INPUTS).returncode == 0
    again = _inputs(out)
    assert sum(again.values()) == 2 * INPUTS
    assert again[b"slow"] - first[b"slow"] < 20  # the next process knows


def test_other_schedules_know_nothing_of_time(target, tmp_path):
    """Half of 200, within 5 standard errors."""
    out, corpus = tmp_path / "out", _corpus(tmp_path)
    words = ("--inputs", 200, "--schedule", "uniform")
    assert fuzz(target, out, corpus, *words).returncode == 0
    found = _inputs(out)
    seeds = len(found)  # libFuzzer may have kept an input of its own, too
    assert abs(found[b"slow"] - 200 / seeds) < 5 * (200 / seeds) ** 0.5
