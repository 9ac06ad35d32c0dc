"""Whether a harness can be fuzzed, found out by loading it, and what it is made of."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.cache import cache_folder
from fuzzwise.engines.contract import NothingYet
from fuzzwise.engines.libfuzzer.build import find_toolchain, preload
from fuzzwise.engines.process import Ending, FuzzingProcess, wait_for_any
from fuzzwise.engines.python.inside import CHECK
from fuzzwise.engines.starting import STARTUP, slow_to_load
from fuzzwise.errors import BadInput
from fuzzwise.files import content_hash, stamp, write_whole
from fuzzwise.received import parse_json, read_limited
from fuzzwise.text import printable

RUNNER = Path(__file__).with_name("runner.py")


@dataclass(frozen=True)
class Harness:
    """A harness that works: its files (those of Python itself left out), and all versions."""

    path: Path
    python: Path
    files: tuple[Path, ...]
    versions: tuple[str, ...]

    def build(self) -> str:
        """What tells it from the same harness with other code."""
        digest = hashlib.sha256("\n".join((str(self.python), *self.versions)).encode())
        for path in self.files:
            digest.update(f"\n{path} {_content(path)}".encode(errors="surrogateescape"))
        return digest.hexdigest()


_known: dict[tuple[Path, Path], tuple[Harness, tuple[object, ...]]] = {}


def probe(
    path: Path,
    python: Path,
    startup: float = STARTUP,
    stopped: Callable[[], bool] = lambda: False,
) -> Harness:
    """Load a harness in a process of its own; BadInput says why it cannot be fuzzed.

    It may take ``startup`` seconds, and less where ``stopped`` says so.

    What was found is used again until one of its files changes.
    """
    path = path.absolute()
    known = _known.get((path, python))
    if known and known[1] == _stamps(known[0].files):
        return known[0]
    harness = _load(path, python, startup, stopped)
    _known[path, python] = harness, _stamps(harness.files)
    with contextlib.suppress(OSError, BadInput):
        listing = _listing(path)
        listing.parent.mkdir(parents=True, exist_ok=True)
        write_whole(listing, json.dumps([str(file) for file in harness.files]).encode())
    return harness


def known_files(path: Path) -> tuple[Path, ...]:
    """The files that a harness had when it was last loaded; the harness alone where it was not.

    Nothing is run: this is for those who may not wait.
    """
    try:
        return tuple(Path(name) for name in parse_json(read_limited(_listing(path.absolute()))))
    except (OSError, ValueError, TypeError, BadInput):
        return (path.absolute(),)


def _listing(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()
    return cache_folder() / "python-files" / f"{name}.json"


def variables() -> dict[str, str]:
    """The environment of a process with the engine in it; hashes are the same in every one."""
    return {
        "LD_PRELOAD": str(preload(find_toolchain())),
        "FUZZWISE_PARENT": str(os.getpid()),
        "PYTHONHASHSEED": "0",
    }


def _load(path: Path, python: Path, startup: float, stopped: Callable[[], bool]) -> Harness:
    with tempfile.TemporaryDirectory(prefix="fuzzwise-", ignore_cleanup_errors=True) as folder:
        scratch, answer = Path(folder) / "scratch", Path(folder) / "answer"
        scratch.mkdir()
        command = [str(python), str(RUNNER), str(path), f"{CHECK}{answer}"]
        process = FuzzingProcess(command, variables(), scratch)
        try:
            deadline = time.monotonic() + startup
            while (ending := process.ending()) is None:
                if stopped():
                    raise NothingYet(f"Interrupted while {path} was loaded.")
                if time.monotonic() > deadline:
                    raise BadInput(slow_to_load(path, startup))
                wait_for_any([process], 0.1)
        finally:
            if process.ending() is None:
                process.kill()
        try:
            found = parse_json(read_limited(answer, follow=False))
        except (OSError, ValueError, BadInput):
            raise BadInput(_silent(path, python, ending)) from None
    if problem := found.get("problem"):
        raise BadInput(f"{path} {printable(problem)}")
    files = tuple(Path(name) for name in found["files"])
    return Harness(path, python, files, (found["python"], found["atheris"]))


def _silent(path: Path, python: Path, ending: Ending) -> str:
    words = printable(" ".join(ending.output.split())[-300:])
    end = f"signal {-ending.status}" if ending.status < 0 else f"status {ending.status}"
    return f"{path} ended {python} with {end} while it was loaded. Its last words: {words!r}"


def _stamps(files: tuple[Path, ...]) -> tuple[object, ...]:
    found: list[object] = []
    for path in files:
        try:
            found.append(stamp(path))
        except OSError:
            found.append(None)
    return tuple(found)


def _content(path: Path) -> str:
    try:
        return content_hash(path)
    except OSError:
        return ""
