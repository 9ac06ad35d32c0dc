"""`fuzzwise fuzz` on a program as it is, from one seed file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from commands import fuzzwise
from fuzzwise.store.places import open_reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program beside its seed, as users have them."""
    shutil.copy(shutil.which("cat") or "/bin/cat", tmp_path / "parser")
    (tmp_path / "seed").write_bytes(b"0123456789" * 4)
    return tmp_path


def fuzz(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    more = ("--engine", "black-box", "--out", "out", "--json", "--quiet")
    return fuzzwise("fuzz", *words, *more, cwd=folder)


def test_a_program_beside_one_is_fuzzed_and_gone_on_with(folder: Path) -> None:
    first = fuzz(folder, "./parser", "seed", "--inputs", "300")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["inputs"] == 300
    second = fuzz(folder, "parser", "seed", "--inputs", "500")
    assert json.loads(second.stdout)["inputs"] == 500, second.stderr
    state = open_reader(folder / "out").state()
    assert [(t.name, t.engine, t.inputs) for t in state.targets] == [("parser", "black-box", 500)]
    assert state.stopped is not None
    assert state.stopped.reason == "input-budget"


def test_a_program_of_the_path_needs_no_path(folder: Path) -> None:
    done = fuzz(folder, "cat", "seed", "--inputs", "50")
    assert json.loads(done.stdout)["inputs"] == 50, done.stderr


def test_the_folder_of_another_target_is_refused(folder: Path) -> None:
    assert fuzz(folder, "./parser", "seed", "--inputs", "100").returncode == 0
    shutil.copy(folder / "parser", folder / "other")
    refused = fuzz(folder, "./other", "seed", "--inputs", "100")
    assert refused.returncode == 2
    assert "holds a campaign of parser, and the target is other" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("seed", "seed2"), "is fuzzed from one seed file, and CORPUS has 2"),
        (("seed", "--per-seed"), "--per-seed: a black box has no such thing"),
        (("nothing",), "there is no such corpus folder"),
    ],
)
def test_what_a_black_box_cannot_have_is_said(folder: Path, words, said: str) -> None:
    (folder / "seed2").write_bytes(b"other")
    refused = fuzz(folder, "./parser", *words)
    assert refused.returncode == 2
    assert said in refused.stderr
