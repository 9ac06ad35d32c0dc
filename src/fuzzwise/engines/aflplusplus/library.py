"""The observer as a library that afl-fuzz loads, compiled on first use."""

from __future__ import annotations

import subprocess
from functools import cache, partial
from pathlib import Path

from fuzzwise.engines.cache import kept
from fuzzwise.engines.compilers import find_compiler
from fuzzwise.engines.observer.build import COUNTING, FLAGS, fingerprint_of
from fuzzwise.engines.observer.build import NATIVE as SHARED
from fuzzwise.errors import BadInput

NATIVE = Path(__file__).parent / "native"
NAME = "libfuzzwise_afl.so"
_SOURCES = ("hooks.c", "map.c", "entries.c")


@cache
def observer() -> Path:
    """The library; it counts in the same files as the observer of libFuzzer, with the same code."""
    compiler = find_compiler()
    version = _run([compiler, "--version"])
    made_of = fingerprint_of(f"{version} {FLAGS} {COUNTING} {_SOURCES}", NATIVE, SHARED)
    return kept(f"afl-{made_of}", partial(_make, compiler)) / NAME


def _make(compiler: str, made: Path, work: Path) -> None:  # noqa: ARG001
    sources = [*(SHARED / name for name in COUNTING), *(NATIVE / name for name in _SOURCES)]
    words = [*map(str, sources), "-o", str(made / NAME), "-lm", "-lpthread"]
    _run([compiler, *FLAGS, "-shared", *words])


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        raise BadInput(
            f"Building the observer failed: {' '.join(command)}\n{result.stderr.strip()}"
        )
    return result.stdout
