"""Real targets for the tests of the AFL++ engine: built once, fuzzed by the real afl-fuzz."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from builds import compiled
from fuzzwise.engines.observer.folder import DamagedState
from fuzzwise.engines.observer.state import State

TARGETS = Path(__file__).parent / "targets"
EXAMPLES = Path(__file__).parents[1] / "examples"
HARNESS = "-fsanitize=fuzzer"


@cache
def build(source: Path, *flags: str) -> Path:
    """Compile a target for AFL++; skipped where it is not installed."""
    need_afl()
    folder = Path(mkdtemp(prefix=f"fuzzwise-test-{source.stem}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / source.stem
    words = ["afl-clang-fast", "-O1", "-g", "-w", source, *flags]
    return compiled(words, program, {"AFL_QUIET": "1"})


def need_afl() -> None:
    """Skip where AFL++ is not installed."""
    if not shutil.which("afl-fuzz") or not shutil.which("afl-clang-fast"):
        pytest.skip("afl++ is not installed")


def fuzzers_of(folder: Path) -> list[int]:
    """All processes that work in a folder, or below it."""
    mark = str(folder.resolve()).encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if mark in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def name_of_process(pid: int) -> str:
    """The name of the program that a process runs; empty where it has ended, as runs do soon."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def segments_of(pid: int) -> int:
    """How many segments of shared memory that a process has made are left."""
    rows = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return sum(row.split()[4] == str(pid) for row in rows)


def inputs_of(out: Path) -> int:
    """How many inputs the campaign in a folder has made so far."""
    try:
        return int(State(out / "state").head.inputs)
    except DamagedState:  # nothing there yet
        return 0
