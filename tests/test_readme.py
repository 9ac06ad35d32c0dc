"""The blocks of the README, in order and as they are, in one folder with the examples."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from documented import run_python, shortened
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
DONE = (0, 10, 11)
"""Finished; bugs were found; the time was over before the risk was accepted."""


def blocks() -> list[tuple[str, str]]:
    """All that a reader types or writes down, but for what sets fuzzwise up."""
    found = re.findall(
        r"```(sh|console|toml)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    return [(kind, text) for kind, text in found if "make " not in text and "activate" not in text]


def test_every_block_works_as_it_is(tmp_path: Path) -> None:
    if not shutil.which("clang") or not shutil.which("afl-fuzz"):
        pytest.skip("clang or afl++ is not installed")
    pytest.importorskip("atheris")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    ran, settings = 0, ""
    for kind, text in blocks():
        if kind == "toml":
            settings = text
            continue
        for form in (shortened, str):  # as it is where a busy machine had too little time
            (tmp_path / "campaign.toml").write_text(form(settings))
            ends = [run(line.removeprefix("$ "), tmp_path) for line in form(text).splitlines()]
            wrong = [end for end in ends if end.returncode not in DONE]
            if not wrong:
                break
        assert not wrong, wrong
        assert not any("Traceback" in end.stderr for end in ends)
        ran += len(ends)
    assert ran >= 15
    run_python(ROOT / "README.md", tmp_path)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
