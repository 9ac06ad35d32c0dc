"""Archives of seeds, as OSS-Fuzz has them: unpacked within bounds, under names of our own.

An archive can come from anybody. A small one can hold terabytes, or millions of files; its names
can lead out of a folder, its entries be links. So none of its names is ever that of a file here: a
seed is called by the hash of its content, as libFuzzer does. What cannot be taken is told, and the
rest is taken.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders, write_whole
from fuzzwise.received import cannot_read, open_regular, parse_json, read_limited
from fuzzwise.text import many, printable

MOST_FILES = 200_000
MOST_BYTES = 2 << 30
"""Bytes of all seeds of an archive."""

LARGEST = 64 << 20
"""Bytes of one seed."""

MOST_DIRECTORY = 24 << 20
"""Bytes of the list of what is in an archive; all of it is read before anything else."""

SUFFIX = ".zip"
SEED_CORPUS = "_seed_corpus.zip"
"""How OSS-Fuzz calls the archive of a target."""

_PIECE = 1 << 20
_SHOWN = 60
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError, OverflowError, IndexError,
)  # fmt: skip
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others can ask for gigabytes of memory to be unpacked with."""


@dataclass(frozen=True)
class Unpacked:
    """The folder with the seeds, how many there are, and what could not be taken, a sentence each.

    ``notes`` go on behind the name of the archive.
    """

    folder: Path
    files: int
    notes: tuple[str, ...]


class _Bounded:
    """A file for ``zipfile``, of which no list is read that is longer than allowed."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int | None = -1) -> bytes:
        """As of any file; without a size, only its end is asked for."""
        if size is None or size < 0:
            size = _PIECE
        if size > MOST_DIRECTORY:
            raise BadInput(f"lists more than {MOST_FILES:,} files, and is not read")
        return self._file.read(size)


def count(archive: Path) -> int:
    """How many seeds there seem to be; BadInput where it is no archive that can be read."""
    with _opened(archive) as content:
        return sum(1 for entry in content.infolist() if not entry.is_dir())


def unpack(archive: Path, home: Path) -> Unpacked:
    """Unpack an archive into a folder below ``home``, or find it unpacked there.

    The folder is named by the content of the archive, and there is all of it or nothing. BadInput
    where it is no archive that can be read.
    """
    folder = home / _content(archive)
    if (known := _known(folder)) is not None:
        return known
    part = folder.with_name(f"{folder.name}.part")
    for old in (part, folder):
        shutil.rmtree(old, ignore_errors=True)
    make_folders(part)
    try:
        with _opened(archive) as content:
            notes = _take(content, part)
        sizes = _sizes(part)
        record = {"sizes": sizes, "notes": notes}
        write_whole(_record(folder), json.dumps(record).encode(), to_disk=False)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Unpacked(folder, sizes[0], tuple(notes))


def _known(folder: Path) -> Unpacked | None:
    """What was unpacked before; None where it is not whole, as after a power cut."""
    try:
        record = parse_json(read_limited(_record(folder), follow=False))
        sizes, notes = record["sizes"], record["notes"]
        if sizes == _sizes(folder) and all(isinstance(note, str) for note in notes):
            return Unpacked(folder, sizes[0], tuple(notes))
    except (OSError, ValueError, KeyError, TypeError, BadInput):
        pass
    return None


def _record(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _sizes(folder: Path) -> list[int]:
    """How many files there are, and how many bytes."""
    sizes = [entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder)]
    return [len(sizes), sum(sizes)]


def _content(archive: Path) -> str:
    digest = hashlib.sha256()
    try:
        with open_regular(archive) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except OSError as error:
        raise cannot_read(archive, error) from error
    return digest.hexdigest()[:32]


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with open_regular(archive) as file, zipfile.ZipFile(_Bounded(file)) as content:
            yield content
    except OSError as error:
        raise cannot_read(archive, error) from error
    except _DAMAGE as error:
        raise BadInput(
            f"{printable(str(archive))}: is no zip archive that can be read "
            f"({printable(str(error))[:_SHOWN]}). Make it again with: zip -r SEEDS.zip FOLDER"
        ) from error
    except BadInput as problem:
        if str(archive) in str(problem):
            raise
        raise BadInput(
            f"{printable(str(archive))}: {problem}. Unpack it, and name the folder."
        ) from problem


def _take(content: zipfile.ZipFile, folder: Path) -> list[str]:
    """Write the seeds; sentences about what is not among them."""
    problems: Counter[str] = Counter()
    names: dict[str, str] = {}
    files = total = 0
    for entry in content.infolist():
        if entry.is_dir():
            continue
        if files >= MOST_FILES or total >= MOST_BYTES:
            problem = "are beyond what is taken of an archive"
        else:
            problem, data = _seed(content, entry, MOST_BYTES - total)
            if not problem:
                name = hashlib.sha1(data).hexdigest()  # noqa: S324
                write_whole(folder / name, data, to_disk=False)
                files, total = files + 1, total + len(data)
                problem = "" if _stays(entry.filename) else _ELSEWHERE
        if problem:
            problems[problem] += 1
            names.setdefault(problem, printable(entry.filename)[:_SHOWN])
    return [_note(number, names[problem], problem) for problem, number in problems.items()]


_ELSEWHERE = (
    "named so as to lead out of a folder; seeds are kept under names of fuzzwise, so nothing is "
    "written there"
)


def _note(number: int, name: str, problem: str) -> str:
    which = f"{name!r} and {many(number - 1, 'other')}" if number > 1 else f"{name!r}"
    return f"{many(number, 'file')} of it ({which}): {problem}"


def _seed(content: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int) -> tuple[str, bytes]:
    """What is wrong with an entry, or "" and what it holds."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "no plain file, but a link or the like, which is not followed", b""
    if entry.flag_bits & 1:
        return "encrypted", b""
    if entry.compress_type not in _PLAIN:
        return "compressed in a way that is not read here (make it with: zip -r)", b""
    most = min(LARGEST, room)
    pieces, size = [], 0
    try:
        with content.open(entry) as file:
            while piece := file.read(_PIECE):
                size += len(piece)
                if size > most:
                    return f"larger than {most:,} bytes, more than may be unpacked of it", b""
                pieces.append(piece)
    except (*_DAMAGE, OSError, BadInput):
        return "damaged", b""
    return "", b"".join(pieces)


def _stays(name: str) -> bool:
    """Whether a name stays in its folder, wherever it is unpacked."""
    parts = name.replace("\\", "/").split("/")
    return ".." not in parts and bool(parts[0]) and not parts[0].endswith(":")
