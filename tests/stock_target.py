"""Targets for the stock engine: built by clang alone, without anything of fuzzwise in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from builds import compiled

WRAPPER = """#!/bin/sh
# LLVMFuzzerTestOneInput for fuzzer detection.
cd "$(dirname "$0")" || exit 1
exec ./{name} "$@"
"""


def build(folder: Path, source: Path, *flags: str, name: str = "") -> Path:
    """Compile a target; skipped where there is no clang."""
    clang = shutil.which("clang")
    if not clang:
        pytest.skip("clang is not installed")
    target = folder / (name or source.stem)
    sanitizers = flags or ("-fsanitize=fuzzer",)
    return compiled([clang, "-g", "-O1", *sanitizers, source], target)


def wrapper(program: Path, name: str) -> Path:
    """A script beside a program that starts it, as OSS-Fuzz has them."""
    script = program.with_name(name)
    script.write_text(WRAPPER.format(name=program.name))
    script.chmod(0o755)
    return script
