"""What is missing on a machine is named, with what it is for and how to get it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from fuzzwise import doctor


def ask(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fuzzwise", "doctor", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_tests_need_is_found():
    done = ask("--json")
    parts = {part["name"]: part for part in json.loads(done.stdout)["parts"]}
    for name in ("clang", "C compiler", "gdb", "extra [lab]", "extra [serve]", "extra [fleet]"):
        assert parts[name]["found"], parts[name]
        assert parts[name]["missing"] is None
    assert done.returncode == (2 if any(part["missing"] for part in parts.values()) else 0)


def test_on_an_empty_machine_everything_has_a_remedy(tmp_path: Path):
    done = ask(PATH=str(tmp_path))
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    for name, package in (
        ("clang", "apt-get install clang"),
        ("C compiler", "apt-get install gcc"),
        ("AFL++", "apt-get install afl++"),
        ("gdb", "apt-get install gdb"),
    ):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{name} "))
        assert lines[at].endswith("MISSING")
        assert "Needed for: " in lines[at + 1]
        assert package in lines[at + 1]
    assert done.stderr == ""


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "LAB", ("json", "no_such_module_of_anybody"))
    (lab,) = (part for part in doctor.look() if part.name == "extra [lab]")
    assert "no_such_module_of_anybody" in lab.missing
    assert "json" not in lab.missing
    assert "pip install 'fuzzwise[lab]'" in lab.missing
