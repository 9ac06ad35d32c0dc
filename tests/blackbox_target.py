"""Real programs for the tests of the black-box engine: built once a session, run for real."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from builds import compiled

TARGETS = Path(__file__).parent / "targets"


@cache
def build(name: str, *flags: str, compiler: str = "cc") -> Path:
    """Compile tests/targets/blackbox_NAME.c; skipped where the compiler cannot."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    folder = Path(mkdtemp(prefix=f"fuzzwise-test-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / name
    source = TARGETS / f"blackbox_{name}.c"
    return compiled([compiler, "-O1", "-g", "-w", source, *flags], program)


def processes_with(word: str) -> list[int]:
    """The processes, zombies left out, in whose command the word occurs."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if word.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found
