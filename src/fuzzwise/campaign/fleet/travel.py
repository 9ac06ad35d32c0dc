"""Programs travel: what a target is made of goes to the storage, and from there to machines.

Every file keeps its path, below a folder of its own: what lies beside a program lies beside it
there, too. A machine that cannot run it says so.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzwise.campaign.fleet.elf import libraries, of_the_user, read_elf
from fuzzwise.campaign.fleet.manifest import StoredFile
from fuzzwise.campaign.fleet.station import Unfit
from fuzzwise.campaign.fleet.storage import AT_ONCE, Storage, object_name
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.files import content_hash, files_of, make_folders, write_whole
from fuzzwise.programs import find
from fuzzwise.text import printable

AREA = "programs"
MOST_FILES = 200_000
_LIBRARIES = "LD_LIBRARY_PATH"
_NEEDED = {
    "afl++": (("afl-fuzz",), ("cc", "gcc", "clang")),
    "black-box": (("cc", "gcc", "clang"), ("gdb",)),
    "go": (("go",),),
}
"""Programs of the machine that an engine cannot do without: one of each row."""


class Baggage(msgspec.Struct, frozen=True):
    """All files that a target takes along, and the folders in which libraries of the user are."""

    files: tuple[StoredFile, ...]
    libraries: tuple[str, ...] = ()


_DECODER = msgspec.msgpack.Decoder(Baggage)
"""Made once: see ``manifest``."""


def send(storage: Storage, plan: TargetPlan) -> str:
    """Store all that a target is made of; the name of the list of it."""
    program = plan.program
    elf = read_elf(program)
    own = of_the_user(libraries(program, elf)) if elf else []
    paths = dict.fromkeys([*_parts(plan), *own])
    if len(paths) > MOST_FILES:
        raise BadInput(f"It has {len(paths):,} files, of which at most {MOST_FILES:,} can travel.")
    digests = {path: content_hash(path) for path in paths}
    files = tuple(
        StoredFile(str(path), digest, path.stat().st_mode & 0o777)
        for path, digest in sorted(digests.items())
    )
    content = msgspec.msgpack.encode(
        Baggage(files, tuple(sorted({str(path.parent) for path in own})))
    )
    name = hashlib.sha256(content).hexdigest()
    if not storage.has(_listing(name)):
        missing = {d: p for p, d in digests.items() if not storage.has(object_name(AREA, d))}
        storage.put_objects(AREA, missing)
        storage.put(_listing(name), content)
    return name


def settle(storage: Storage, name: str, plan: TargetPlan, home: Path) -> TargetPlan:
    """The target as it is on this machine, its files fetched into ``home``; Unfit, or OSError."""
    place = home / name
    content = storage.get(_listing(name))
    if hashlib.sha256(content).hexdigest() != name:
        raise OSError("a list of files in the storage is damaged")
    baggage = _DECODER.decode(content)
    if not place.is_dir():
        _unpack(storage, baggage, place)
    here = _moved(plan, baggage, place)
    _check(here)
    return here


def _parts(plan: TargetPlan) -> Iterable[Path]:
    """The files of a target; BadInput where the program is not there."""
    if not plan.program.exists():
        raise BadInput(f"{plan.program}: there is no such program.")
    for path in engine_named(plan.engine).made_of(plan):
        if path.is_file():
            yield path.absolute()
    if plan.program.suffix == ".py":
        yield from (path for path in files_of([plan.program.parent]) if path.suffix == ".py")
    words = (Path(word) for word in plan.command[1:] if word.startswith("/"))
    folder = [plan.surroundings.folder] if plan.surroundings.folder else []
    for place in (*plan.corpus, *folder, *words):
        yield from (path.absolute() for path in files_of([place]))
    if plan.dictionary:
        yield plan.dictionary.absolute()


def _listing(name: str) -> str:
    return f"{AREA}/lists/{name}"


def _unpack(storage: Storage, baggage: Baggage, place: Path) -> None:
    make_folders(place.parent)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".coming-") as folder:
        scratch = Path(folder) / "whole"
        scratch.mkdir()
        pairs = [(_below(scratch, file.path), file) for file in baggage.files]
        for parent in {path.parent for path, _ in pairs}:
            parent.mkdir(parents=True, exist_ok=True)

        def fetch(pair: tuple[Path, StoredFile]) -> None:
            path, file = pair
            write_whole(path, storage.object(AREA, file.digest), to_disk=False)
            path.chmod(file.mode & 0o777)

        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(fetch, pairs))
        try:
            scratch.rename(place)
        except OSError:
            if not place.is_dir():  # another turn has brought it meanwhile
                raise


def _below(place: Path, path: str) -> Path:
    """Where a file with an absolute path is below a folder; OSError for one that leads out."""
    parts = Path(path).parts
    if not path.startswith("/") or ".." in parts or "\0" in path:
        raise OSError("a list of files in the storage names one outside of its folder")
    return place.joinpath(*parts[1:])


def _moved(plan: TargetPlan, baggage: Baggage, place: Path) -> TargetPlan:
    """The same plan with the paths of this machine."""
    there = {file.path for file in baggage.files}
    above = {str(up) for path in there for up in Path(path).parents[:-1]}

    def moved(path: Path) -> Path:
        text = os.path.normpath(path.absolute())
        return _below(place, text) if text in there or text in above else path

    command = tuple(str(moved(Path(w))) if w.startswith("/") else w for w in plan.command)
    around = plan.surroundings
    variables = dict(around.variables)
    if baggage.libraries:
        folders = [str(_below(place, path)) for path in baggage.libraries]
        variables[_LIBRARIES] = ":".join([*folders, *filter(None, [variables.get(_LIBRARIES)])])
    return replace(
        plan,
        command=command,
        corpus=tuple(map(moved, plan.corpus)),
        dictionary=moved(plan.dictionary) if plan.dictionary else None,
        build=None,
        seed_zips=(),
        surroundings=replace(
            around,
            variables=tuple(variables.items()),
            folder=moved(around.folder) if around.folder else None,
        ),
    )


def _check(plan: TargetPlan) -> None:
    """Unfit where this machine lacks something; it is looked at, nothing is run but the loader."""
    for names in _NEEDED.get(plan.engine, ()):
        if not any(map(find, names)):
            raise Unfit(f"{' or '.join(names)} is missing; install it, and see fuzzwise doctor.")
    elf = read_elf(plan.program)
    if elf is None:
        return
    mine = os.uname().machine
    if elf.machine != mine:
        raise Unfit(f"its program is for {elf.machine or 'another processor'}, the machine {mine}.")
    if elf.loader and not Path(elf.loader).exists():
        raise Unfit(f"its program needs {printable(elf.loader)}, which is missing: another libc.")
    beside = dict(plan.surroundings.variables).get(_LIBRARIES, "")
    found = libraries(plan.program, elf, beside)
    if missing := sorted(name for name, where in found.items() if not where):
        raise Unfit(f"its program needs {printable(', '.join(missing))}, which is missing.")
