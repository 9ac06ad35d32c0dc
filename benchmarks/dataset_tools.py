"""How the seeds of the recorded data set are made by tools: run in a folder, the same every time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

LONG_AGO = 1577934245
"""The time of files that go into archives: archives would differ from day to day otherwise."""


def run(folder: Path, command: str, text: bytes = b"") -> bytes:
    """What a tool, run inside the folder, prints; its own words are shown if it fails."""
    fixed = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": str(LONG_AGO)}
    done = subprocess.run(
        command.split(), cwd=folder, input=text, env=fixed, capture_output=True, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).decode(errors="replace")
        raise RuntimeError(f"{command!r} failed, so that a seed is missing: {words}")
    return done.stdout
