"""The observer as a library that afl-fuzz loads, compiled on first use."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache, partial
from pathlib import Path

from fuzzwise.engines.blackbox.build import find_compiler
from fuzzwise.engines.cache import kept
from fuzzwise.engines.libfuzzer.build import NATIVE as SHARED
from fuzzwise.engines.libfuzzer.build import WARNINGS
from fuzzwise.errors import BadInput

NATIVE = Path(__file__).parent / "native"
NAME = "libfuzzwise_afl.so"
_SHARED_SOURCES = ("state.c", "counts.c", "schedule.c", "log.c")
_SOURCES = ("hooks.c", "map.c", "entries.c")


@cache
def observer() -> Path:
    """The library; it counts in the same files as the observer of libFuzzer, with the same code."""
    compiler = find_compiler()
    digest = hashlib.sha256(_run([compiler, "--version"]).encode())
    for path in sorted([*NATIVE.iterdir(), *SHARED.iterdir()]):
        digest.update(path.read_bytes())
    name = f"afl-{digest.hexdigest()[:16]}"
    return kept(name, partial(_make, compiler)) / NAME


def _make(compiler: str, made: Path, work: Path) -> None:  # noqa: ARG001
    sources = [*(SHARED / name for name in _SHARED_SOURCES), *(NATIVE / name for name in _SOURCES)]
    _run(
        [
            *(compiler, "-O2", "-g", "-fPIC", "-shared", "-std=gnu11", *WARNINGS),
            *(f"-I{SHARED}", *map(str, sources), "-o", str(made / NAME), "-lm", "-lpthread"),
        ]
    )


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        raise BadInput(
            f"Building the observer failed: {' '.join(command)}\n{result.stderr.strip()}"
        )
    return result.stdout
