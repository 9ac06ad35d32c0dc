"""The programs of AFL++: afl-fuzz itself, and targets that its compilers have made."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fuzzwise.engines.contents import OBSERVER, contains
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.errors import BadInput
from fuzzwise.files import stamp
from fuzzwise.programs import find
from fuzzwise.text import clean, printable
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.surroundings import ANYWHERE, Surroundings

INSTALL = "Install it with: apt-get install afl++"
COMPILERS = ("afl-clang-fast", "afl-cc", "afl-gcc-fast")
CXX_COMPILERS = ("afl-clang-fast++", "afl-c++", "afl-g++-fast")
OLDEST = (3, 0)
DEFAULT_MAP_SIZE = 65536
"""Bytes of the map of targets that do not tell; those of afl-gcc."""

MOST_MAP_SIZE = 1 << 27
PATIENCE = 10.0
"""Seconds that a target has at least to tell the size of its map."""

TRIES = 3
"""How often a program is asked that is killed before it answers."""

TO_STDERR = ("/bin/sh", "-c", 'exec "$@" >&2', "sh")
"""What stands before a command whose output matters, all of it."""

_MAP = b"__AFL_SHM_ID"
_DRIVER = b"This binary is built for afl"
_VERSION = re.compile(r"afl-fuzz(\+\+| )\s*(\d+)\.(\d+)(\w*)")


@dataclass(frozen=True)
class AflFuzz:
    """The afl-fuzz of this machine."""

    path: Path
    version: tuple[int, int]
    name: str


def find_afl_fuzz(scratch: Path) -> AflFuzz:
    """The afl-fuzz on PATH; BadInput where there is none, or one that is too old."""
    path = find("afl-fuzz")
    if path is None:
        raise BadInput(f"afl-fuzz was not found. {INSTALL}")
    return _version(path, stamp(path), scratch)


@lru_cache(maxsize=8)
def _version(path: Path, changed: tuple[int, int, int], scratch: Path) -> AflFuzz:  # noqa: ARG001
    said = clean(_said([str(path), "-h"], {}, scratch))
    match = _VERSION.search(said)
    if match is None:
        raise BadInput(f"{path} does not tell its version, so it is not AFL++'s. {INSTALL}")
    number = (int(match[2]), int(match[3]))
    name = f"{match[2]}.{match[3]}{match[4]}"
    if match[1] != "++" or number < OLDEST:
        raise BadInput(f"{path} is version {name}, which is too old. {INSTALL}")
    return AflFuzz(path, number, name)


def is_instrumented(program: Path) -> bool:
    """Whether a program has the runtime of AFL++ in it."""
    return contains(program, _MAP)


def is_afl_target(program: Path) -> bool:
    """Whether a program was made for AFL++, and not for observed libFuzzer."""
    return is_instrumented(program) and not contains(program, OBSERVER)


def check_target(program: Path) -> None:
    """Refuse what afl-fuzz cannot fuzz."""
    shown = printable(str(program))
    if not program.is_file():
        raise BadInput(
            f"{shown}: there is no such file. Build a target with: "
            "afl-clang-fast -fsanitize=fuzzer SOURCES -o TARGET"
        )
    if not os.access(program, os.X_OK):
        raise BadInput(f"{shown}: is not executable.")
    if not is_instrumented(program) and not os.environ.get("AFL_SKIP_BIN_CHECK"):
        raise BadInput(
            f"{shown} was not built by a compiler of AFL++. Build it with: "
            "afl-clang-fast -fsanitize=fuzzer SOURCES -o TARGET; or for a whole program, "
            "CC=afl-clang-fast make."
        )


def reproducing(command: Sequence[str]) -> tuple[str, ...]:
    """The command that runs a target on one file, with @@ for it, or on standard input.

    A harness with AFL++'s own main takes files as arguments, and fuzzes only if it has none.
    """
    words = tuple(command)
    if len(words) == 1 and contains(Path(words[0]), _DRIVER):
        return (*words, INPUT)
    return words


def map_size(
    program: Path,
    scratch: Path,
    *,
    known: int = 0,
    startup: float = 0.0,
    surroundings: Surroundings = ANYWHERE,
) -> int:
    """How many bytes the target's coverage map has.

    ``known`` is the size that its counts were begun with, 0 where there are none. It stays where
    the target does not answer: that says nothing of its map. Where nothing is known, the target
    has its ``startup`` to answer, as what is taken for its answer then stays, also if it would
    answer later: it is not asked again.
    """
    if known == DEFAULT_MAP_SIZE:
        return known
    patience = PATIENCE if known else max(PATIENCE, startup)
    try:
        return _told_map_size(program, stamp(program), scratch, patience, surroundings)
    except _NoAnswer:
        return known or DEFAULT_MAP_SIZE


class _NoAnswer(Exception):
    """Not kept by the cache: it may answer when it is asked again."""


@lru_cache(maxsize=1024)
def _told_map_size(
    program: Path,
    changed: tuple[int, int, int],  # noqa: ARG001
    scratch: Path,
    patience: float,
    surroundings: Surroundings,
) -> int:
    variables = surroundings.joined({"AFL_DUMP_MAP_SIZE": "1"})
    said = _said([str(program)], variables, scratch, patience, surroundings.folder)
    numbers = re.findall(r"^\d{1,9}$", said, re.MULTILINE)
    size = int(numbers[-1]) if numbers else 0
    if not 0 < size <= MOST_MAP_SIZE:
        raise _NoAnswer
    return size


def _said(
    command: Sequence[str],
    variables: dict[str, str],
    scratch: Path,
    patience: float = PATIENCE,
    workplace: Path | None = None,
) -> str:
    """What a program prints; it is ended, with all that it started, after a while.

    One that somebody has killed is asked again.
    """
    for _ in range(TRIES):
        process = FuzzingProcess([*TO_STDERR, *command], variables, scratch, workplace)
        deadline = time.monotonic() + patience
        while (ending := process.ending()) is None and time.monotonic() < deadline:
            wait_for_any([process], 0.2)
        if ending is None:
            process.kill()
            return ""
        if ending.kind != "killed":
            return ending.output
    return ""
