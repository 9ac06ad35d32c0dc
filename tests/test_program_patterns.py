"""Campaign files that name many programs by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzwise.campaign.file import read_plan
from fuzzwise.errors import BadInput

WRAPPER = "#!/bin/sh\n# LLVMFuzzerTestOneInput\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("a_fuzzer", "b_fuzzer", "c_tool"):
        path = tmp_path / name
        path.write_text(WRAPPER)
        path.chmod(0o755)
    (tmp_path / "a_fuzzer.dict").write_text('"x"\n')
    (tmp_path / "seeds").mkdir()
    return tmp_path


def plan(home: Path, keys: str):
    (home / "c.toml").write_text(f"[[target]]\n{keys}\n")
    return read_plan(home / "c.toml")


def test_each_program_is_a_target_and_files_beside_them_are_none(home: Path) -> None:
    targets = plan(home, 'program = "*_fuzzer*"\ncorpus = "seeds"\nshare = "high"').targets
    assert [target.name for target in targets] == ["a_fuzzer", "b_fuzzer"]
    assert {target.engine for target in targets} == {"stock"}
    assert {target.share for target in targets} == {"high"}
    assert all(target.corpus == (home / "seeds",) for target in targets)


def test_a_program_whose_name_is_a_pattern_is_itself(home: Path) -> None:
    (home / "[ab]_fuzzer").write_text(WRAPPER)
    (home / "[ab]_fuzzer").chmod(0o755)
    targets = plan(home, 'program = "[ab]_fuzzer"\nname = "one"').targets
    assert [target.program.name for target in targets] == ["[ab]_fuzzer"]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('program = "none_*"', "no program is called by"),
        ('program = "*.dict"', "no program is called by"),
        ('program = "*_fuzzer"\nname = "x"', "there are 2 programs; remove it"),
        ('program = "*_fuzzer"\nmax_lenght = 3', "1 mistake;.*did you mean 'max_length'"),
    ],
)
def test_mistakes_are_told_once(home: Path, keys: str, told: str) -> None:
    with pytest.raises(BadInput, match=f"(?s){told}"):
        plan(home, keys)
