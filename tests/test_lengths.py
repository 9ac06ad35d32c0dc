"""How long inputs may become: a draw that stays the same while nothing is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.libfuzzer.words import options
from fuzzwise.engines.observer.folder import CampaignFolder
from observed_target import TARGETS, build, fuzz

INPUTS = 6000
LONG = 64
"""Bytes: beyond what any seed here has, or libFuzzer's own limit has risen to half-way."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("lengths"), TARGETS / "lengths.c")


def _lengths(target: Path, folder: Path, *words: str) -> list[int]:
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_bytes(b"12345678")
    done = fuzz(target, folder / "out", corpus, "--inputs", INPUTS, "--seed", 1, *words)
    assert done.returncode == 0, done.stderr
    lines = (folder / "out" / "scratch" / "lengths.txt").read_text().split()
    return [int(line) for line in lines[-INPUTS:]]


def _long(lengths: list[int]) -> int:
    return sum(length > LONG for length in lengths)


def test_inputs_are_as_long_at_the_end_as_at_the_beginning(target: Path, tmp_path: Path) -> None:
    """Two equal shares of 3000 differ by less than 5 standard errors."""
    lengths = _lengths(target, tmp_path)
    early, late = _long(lengths[: INPUTS // 2]), _long(lengths[INPUTS // 2 :])
    assert early > 10
    assert abs(early - late) < 5 * (early + late) ** 0.5


def test_most_inputs_are_about_as_long_as_seeds(target: Path, tmp_path: Path) -> None:
    lengths = _lengths(target, tmp_path)
    assert sum(length <= 8 + 4 + 1 for length in lengths) > 0.85 * INPUTS
    assert max(lengths) <= 4096


def test_who_asks_for_the_ramp_of_libfuzzer_gets_it(target: Path, tmp_path: Path) -> None:
    lengths = _lengths(target, tmp_path, "--libfuzzer=-len_control=100")
    assert _long(lengths[: INPUTS // 4]) == 0
    assert max(lengths[-INPUTS // 4 :]) > max(lengths[: INPUTS // 4])


def test_a_mutator_of_the_target_is_told_the_largest_length(tmp_path: Path) -> None:
    own = build(tmp_path, TARGETS / "lengths.c", "-DOWN_MUTATOR")
    assert set(_lengths(own, tmp_path)) == {4096}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (LibFuzzerSettings(), ["-len_control=0"]),
        (LibFuzzerSettings(schedule="observe"), ["-len_control=100"]),
        (
            LibFuzzerSettings(options=("-len_control=7",)),
            ["-len_control=100", "-len_control=7"],
        ),
    ],
)
def test_libfuzzer_keeps_its_own_limit_where_it_chooses_or_the_user_says_so(
    settings: LibFuzzerSettings, expected: list[str], tmp_path: Path
) -> None:
    plan = TargetPlan("t", "libfuzzer", ("/t",), settings=settings)
    words = options(plan, settings, CampaignFolder(tmp_path), 1)
    assert [word for word in words if word.startswith("-len_control=")] == expected
