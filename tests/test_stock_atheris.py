"""A script of Atheris, as people have them: fuzzed, its planted bug told and shown again."""

from __future__ import annotations

from pathlib import Path

import pytest

from shown_again import fuzzed_until_a_bug, run_shown_command

SCRIPT = """\
import sys

import atheris

with atheris.instrument_imports():
    import roman


def TestOneInput(data):
    provider = atheris.FuzzedDataProvider(data)
    roman.value(provider.ConsumeUnicodeNoSurrogates(12))


atheris.Setup(sys.argv, TestOneInput)
atheris.Fuzz()
"""
MODULE = """\
DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def value(text):
    total = 0
    for place, digit in enumerate(text):
        if digit not in DIGITS:
            return None
        if digit == "L" and place == 2:
            total += DIGITS[text[place + 1]]  # planted: there may be no next one
        total += DIGITS[digit]
    return total
"""


def test_an_exception_is_found_told_with_its_place_and_shown_again(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    home = tmp_path / "scripts"
    home.mkdir()
    (home / "roman.py").write_text(MODULE)
    (home / "roman_fuzzer.py").write_text(SCRIPT)
    planted = next(i for i, line in enumerate(MODULE.splitlines(), 1) if "planted" in line)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_bytes(b"\x01XIVLX")
    bug = fuzzed_until_a_bug(home / "roman_fuzzer.py", seeds, out=tmp_path / "out")
    assert bug.kind in ("uncaught IndexError", "uncaught KeyError")
    assert bug.frames[0] == "roman.value"
    assert (Path(bug.file), bug.line) == (home / "roman.py", planted)
    shown = run_shown_command(bug, tmp_path / "out")
    assert shown.returncode != 0
    assert f'roman.py", line {planted}, in value' in shown.stdout
