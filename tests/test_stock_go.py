"""A module in Go: its fuzz test fuzzed, its planted bug told with its place and shown again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import go_target
from shown_again import fuzzed_until_a_bug, run_shown_command


def test_a_panic_is_found_told_with_its_place_and_shown_again(tmp_path: Path) -> None:
    package = go_target.module(tmp_path) / "ini"
    bug = fuzzed_until_a_bug(package / "FuzzParse", out=tmp_path / "out")
    lines = (package / "ini.go").read_text().splitlines()
    planted = next(i for i, line in enumerate(lines, 1) if "return line[1:" in line)
    assert bug.frames[0] == "ini.name"
    assert (Path(bug.file), bug.line) == (package / "ini.go", planted)
    shown = run_shown_command(bug, tmp_path / "out")
    assert shown.returncode == 2
    assert f"ini.go:{planted}" in shown.stdout
    words = [sys.executable, "-m", "fuzzwise", "triage", str(tmp_path / "out"), "--trust-command"]
    grouped = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    assert bug.id in grouped.stdout, grouped.stdout + grouped.stderr
