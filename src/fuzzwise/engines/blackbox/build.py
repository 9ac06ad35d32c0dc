"""The native parts: compiled on first use, kept in the user's cache."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from fuzzwise.engines.cache import kept
from fuzzwise.engines.compilers import find_compiler
from fuzzwise.errors import BadInput

NATIVE = Path(__file__).parent / "native"
FLAGS = (
    *("-O2", "-g", "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"),
    *("-ffp-contract=off", "-fno-math-errno"),  # inputs are the same on every machine
)
MUTATOR = ("random.c", "mutate.c", "mutate_bits.c", "mutate_bytes.c", "mutate_blocks.c")
LOOP = ("config.c", "input.c", "scratch.c", "descendants.c", "child.c", "loop.c")
SHARED = ("-shared", "-Wl,--exclude-libs,ALL")
PARTS = {
    "mutator.so": (MUTATOR, SHARED),
    "preload.so": ((*MUTATOR, *LOOP, "trace.c", "preload.c"), (*SHARED, "-static-libgcc", "-ldl")),
    "warden": ((*MUTATOR, *LOOP, "warden.c"), ()),
}


@dataclass(frozen=True)
class Native:
    """Where the compiled parts are."""

    mutator: Path
    preload: Path
    warden: Path


def native() -> Native:
    """The native parts for this machine's compiler."""
    compiler = find_compiler()
    folder = kept(f"blackbox-{_fingerprint(compiler)}", partial(_make, compiler))
    return Native(folder / "mutator.so", folder / "preload.so", folder / "warden")


@cache
def _fingerprint(compiler: str) -> str:
    result = subprocess.run([compiler, "--version"], capture_output=True, check=False)  # noqa: S603
    digest = hashlib.sha256(f"{compiler} {FLAGS} {PARTS}".encode() + result.stdout)
    for path in sorted(NATIVE.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _make(compiler: str, made: Path, work: Path) -> None:  # noqa: ARG001
    for name, (sources, words) in PARTS.items():
        paths = [str(NATIVE / source) for source in sources]
        _run([compiler, *FLAGS, *paths, "-o", str(made / name), *words])


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        raise BadInput(
            f"Building the black-box engine failed: {' '.join(command)}\n{result.stderr.strip()}"
        )
