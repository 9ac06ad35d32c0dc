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
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = 0
    for kind, text in blocks():
        text = shortened(text)
        if kind == "toml":
            (tmp_path / "campaign.toml").write_text(text)
            continue
        for line in text.splitlines():
            command = line.removeprefix("$ ")
            end = subprocess.run(
                ["/bin/bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            assert end.returncode in DONE, (command, end.stdout, end.stderr)
            assert "Traceback" not in end.stderr
            ran += 1
    assert ran >= 15
    run_python(ROOT / "README.md", tmp_path)
