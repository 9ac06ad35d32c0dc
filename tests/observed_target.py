"""Real targets for the tests of the libFuzzer engine: built once, run for real."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from builds import compiled
from commands import Started, fuzzwise
from fuzzwise.engines.libfuzzer.build import NATIVE as LIBFUZZER
from fuzzwise.engines.libfuzzer.build import build_words, find_toolchain
from fuzzwise.engines.observer.build import NATIVE
from waiting import wait_until

TARGETS = Path(__file__).parent / "targets"
EXAMPLES = Path(__file__).parents[1] / "examples"


def build(folder: Path, source: Path, *flags: str) -> Path:
    """Compile a target; skipped where there is no clang."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    target = folder / source.stem
    native = (f"-I{NATIVE}", f"-I{LIBFUZZER}")
    return compiled(build_words(find_toolchain(), [str(source), *native, *flags]), target)


def fuzz(
    target: Path, out: Path, *words: object, **environment: str
) -> subprocess.CompletedProcess[str]:
    """``fuzzwise fuzz`` as a process of its own."""
    return fuzzwise("fuzz", target, "--out", out, *words, env={**os.environ, **environment})


def fuzzed_until(bugs: int, target: Path, out: Path, *words: object) -> dict[str, Any]:
    """What ``fuzzwise fuzz`` says when it is interrupted, once it has found so many bugs."""

    def are_found() -> bool:
        return len(list(out.glob("crashes/*/bug.json"))) >= bugs

    with Started("fuzz", target, "--out", out, "--quiet", "--json", *words) as process:
        wait_until(are_found, f"{bugs} bugs", by=process)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate()
    assert process.returncode == 130, errors
    found: dict[str, Any] = json.loads(told)
    return found
