"""The command go: where it is, and how a test is compiled with it, once."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from fuzzwise.engines.go.counts import GoFolder
from fuzzwise.engines.go.module import FuzzTest, parts_of
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.errors import BadInput
from fuzzwise.files import content_hash, make_folders, write_whole
from fuzzwise.programs import find
from fuzzwise.received import read_limited
from fuzzwise.text import clean, printable

INSTALL = "Install Go 1.18 or newer, with: apt-get install golang"
PATIENCE = 600.0
"""Seconds that the compiler has; the first time it also compiles Go's own packages."""

_USUAL = Path("/usr/local/go/bin/go")
_MOST_WORDS = 600
_AT = 'cd -- "$1" && shift && exec "$@" >&2'


def find_go() -> Path:
    """The command go; BadInput where there is none."""
    found = find("go") or (_USUAL if os.access(_USUAL, os.X_OK) else None)
    if found is None:
        raise BadInput(f"The command go was not found. {INSTALL}")
    return found


def at(folder: Path, words: list[str], limit: str = "") -> list[str]:
    """The command that runs another one in a folder, all that it says on standard error."""
    return ["/bin/sh", "-c", f"{limit}{_AT}", "sh", str(folder), *words]


def compile_words(test: FuzzTest, program: Path, *, instrumented: bool = True) -> list[str]:
    """The command that compiles the test of a package, to be run in the package's folder."""
    fuzz = [f"-fuzz=^{test.function}$"] if instrumented else []
    return [str(find_go()), "test", "-c", "-vet=off", *fuzz, "-o", str(program), "."]


def compiled(test: FuzzTest, folder: GoFolder, stopped: Callable[[], bool]) -> bool:
    """Have the test of a folder compiled, where it is not yet; False if that was broken off.

    BadInput where it cannot be.
    """
    note = folder.program.with_name("made-of")
    sources = _sources(test)
    if _is_kept(folder.program, note, sources):
        return True
    try:
        make_folders(folder.program.parent)
        folder.program.unlink(missing_ok=True)
        if not _compile(test, folder, stopped):
            return False
        write_whole(note, f"{sources} {content_hash(folder.program)}\n".encode())
    except OSError as error:
        raise BadInput(f"{folder.program}: cannot be made ({error.strerror}).") from error
    return True


def _compile(test: FuzzTest, folder: GoFolder, stopped: Callable[[], bool]) -> bool:
    words = compile_words(test, folder.program.absolute())
    process = FuzzingProcess(at(test.package, words), {}, folder.scratch)
    deadline = time.monotonic() + PATIENCE
    while (ending := process.ending()) is None:
        if stopped():
            process.kill()
            return False
        if time.monotonic() > deadline:
            process.kill()
            raise BadInput(f"{test.package}: go test -c has not ended within {PATIENCE:g} s.")
        wait_for_any([process], 0.1)
    if ending.status or not folder.program.is_file():
        raise BadInput(not_compiled(test, ending.output))
    return True


def not_compiled(test: FuzzTest, output: str) -> str:
    """Why there is no test to fuzz."""
    said = " ".join(clean(output).split())[:_MOST_WORDS]
    return (
        f"{test.package}: go cannot compile its tests. Correct this, and run again: "
        f"{printable(said) or 'it said nothing.'}"
    )


def _sources(test: FuzzTest) -> str:
    """What the program is made of, in one hash."""
    digest = hashlib.sha256(f"{find_go()} {find_go().resolve()}\n".encode(errors="replace"))
    for path in parts_of(test.package)[1:]:
        try:
            digest.update(f"{path} {content_hash(path)}\n".encode(errors="surrogateescape"))
        except OSError:
            continue  # gone meanwhile
    return digest.hexdigest()


def _is_kept(program: Path, note: Path, sources: str) -> bool:
    try:
        kept = read_limited(note, 1000, follow=False).split()
        return kept == [sources.encode(), content_hash(program).encode()]
    except (OSError, BadInput):
        return False
