"""What tests compile, compiled once: by whichever test needs it first, in whichever process.

Builds are kept below the virtual environment, so that a fresh clone begins with none. Their names
are a hash of all that they are made of: the words of the compiler, the compiler, its variables, the
files that are named, and the headers beside them and in the folders that are searched for them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PLACE = Path(sys.prefix) / "test-builds"
UNUSED = 7 * 86400.0
"""Seconds after which a build that nobody has asked for is removed."""


def compiled(
    words: Sequence[object], target: Path, variables: Mapping[str, str] | None = None
) -> Path:
    """What a compiler makes of these words, which have no ``-o``: a file of one's own."""
    command = [str(word) for word in words]
    kept = PLACE / _key(command, variables or {})
    PLACE.mkdir(exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            os.utime(kept)
        else:
            _compile(command, kept, variables or {})
    target.unlink(missing_ok=True)  # as a linker does: it may be running
    return Path(shutil.copy(kept, target))


def _compile(command: list[str], kept: Path, variables: Mapping[str, str]) -> None:
    new = kept.with_suffix(".new")
    environment = {**os.environ, **variables}
    subprocess.run([*command, "-o", new], check=True, env=environment, stdout=subprocess.DEVNULL)
    new.rename(kept)
    for other in PLACE.iterdir():
        if other.stat().st_mtime < time.time() - UNUSED:
            other.unlink(missing_ok=True)


def _key(command: list[str], variables: Mapping[str, str]) -> str:
    compiler = Path(shutil.which(command[0]) or command[0]).resolve()
    found = compiler.stat()
    made_of = hashlib.sha256(repr((command, sorted(variables.items()))).encode())
    made_of.update(f"{compiler} {found.st_size} {found.st_mtime_ns}".encode())
    for path in sorted(set(_files(command[1:]))):
        made_of.update(f"{path} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return made_of.hexdigest()[:32]


def _files(words: list[str]) -> Iterator[Path]:
    for word in words:
        if word.startswith("-I"):
            yield from _headers(Path(word.removeprefix("-I")))
        elif (path := Path(word)).is_file():
            yield path
            yield from _headers(path.parent)


def _headers(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix in (".h", ".inc", ".c"))
