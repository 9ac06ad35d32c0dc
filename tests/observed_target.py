"""Real targets for the tests of the libFuzzer engine: built once, run for real."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from builds import compiled
from commands import fuzzwise
from fuzzwise.engines.libfuzzer.build import NATIVE as LIBFUZZER
from fuzzwise.engines.libfuzzer.build import build_words, find_toolchain
from fuzzwise.engines.observer.build import NATIVE

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
