"""Python harnesses for the tests, and how they are run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzzwise.engines.python.probe import RUNNER
from observed_target import EXAMPLES, TARGETS, fuzz

CALENDAR = EXAMPLES / "calendar_rules.py"
COUNTED = TARGETS / "counted.py"
RAISING = TARGETS / "raising.py"


def fuzzed(harness: Path, out: Path, *words: object, **environment: str) -> dict[str, Any]:
    """What ``fuzzwise fuzz`` says of a harness."""
    result = fuzz(harness, out, "--quiet", "--json", *words, **environment)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def shown(harness: Path, data: bytes, folder: Path) -> subprocess.CompletedProcess[str]:
    """A harness run on one input, as a pasted command does it."""
    path = folder / "input"
    path.write_bytes(data)
    return subprocess.run(
        [sys.executable, str(RUNNER), str(harness), str(path)],
        capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
