"""A target fuzzed by the command until it has a bug, and the line that shows the bug again."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from fuzzwise.store.places import open_reader
from fuzzwise.store.states import BugState

PATIENCE = 600.0
"""Seconds that a planted bug may take on a busy machine."""


def fuzzed_until_a_bug(target: Path | str, *words: Path | str, out: Path) -> BugState:
    """`fuzzwise fuzz` again and again, each time going on, until there is a bug."""
    deadline = time.monotonic() + PATIENCE
    command = [sys.executable, "-m", "fuzzwise", "fuzz", str(target), *map(str, words)]
    command += ["--out", str(out), "--quiet", "--seed", "3"]
    seconds = 5
    while time.monotonic() < deadline:
        longer = [*command, "--time", f"{seconds}s"]
        done = subprocess.run(longer, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 0 or "has not run a single input" in said, said
        if bugs := open_reader(out).state().bugs:
            return bugs[0]
        seconds *= 2  # to start alone takes long on a busy machine
    raise AssertionError(f"no bug within {PATIENCE:g} s: {done.stdout}")


def run_shown_command(bug: BugState, folder: Path) -> subprocess.CompletedProcess[str]:
    """Paste the line into a shell, as the views of a campaign show it; all that it prints."""
    return subprocess.run(
        ["/bin/sh", "-c", bug.command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=PATIENCE,
    )
