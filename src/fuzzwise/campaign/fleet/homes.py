"""A target's folder on a machine, and what is stored of it: brought here, and kept there.

A folder goes on from a manifest. Beside it lies a record that says from which one: where the stored
one has another token, somebody else has gone on meanwhile, and the folder becomes what is stored.
Work of a turn that was never written down is no other: counts are absolute, so that the next turn
from the same manifest tells it as well.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from operator import attrgetter
from pathlib import Path, PurePosixPath

import msgspec

from fuzzwise.campaign.fleet.manifest import (
    Manifest,
    Spot,
    StoredFile,
    area_of,
    decode,
    made,
    manifest_name,
)
from fuzzwise.campaign.fleet.packs import contents, put
from fuzzwise.campaign.fleet.storage import Storage
from fuzzwise.engines.contract import Totals
from fuzzwise.engines.observer.folder import boot
from fuzzwise.files import write_anew, write_whole
from fuzzwise.received import MOST_DATA, read_limited

SCRATCH = ("scratch",)
"""Folders of a target that hold nothing worth keeping."""

PASSING = (".part", ".lock")
"""How the names of files end that mean something only while they are used."""

STATE = "state"
"""The folder of counts that are changed through memory: the time of such a file tells little."""


class Stale(Exception):
    """The storage has another manifest than the one to go on from."""


class _Record(msgspec.Struct):
    """From which manifests a folder goes on: the last one, and one that may not count.

    By token, with where the content is that each of them names: that is stored, whatever else may
    have been removed.
    """

    campaign: str
    boot: str
    manifests: dict[int, dict[str, Spot]]


_DECODER = msgspec.msgpack.Decoder(_Record)
"""Made once: see ``manifest``."""


class Home:
    """The folder of a target here; ``record`` is the file beside it.

    Where the machine was started again, a folder becomes what is stored: it may have gone down in
    the midst of a turn. Not so a ``lasting`` one, in which turns are not all stored.
    """

    def __init__(
        self, campaign: str, target: str, folder: Path, record: Path, *, lasting: bool = False
    ) -> None:
        self.folder = folder
        self._campaign = campaign
        self._target = target
        self._record = record
        self._lasting = lasting
        self._hashes: dict[str, tuple[tuple[int, ...], str]] = {}
        """Of files, by name, as long as they look the same."""

    def is_at(self, token: int) -> bool:
        """Whether the folder goes on from the manifest with a token."""
        record = self._read()
        return record is not None and token in record.manifests

    def adopt(self) -> bool:
        """Take a folder that nobody has stored yet as it is; False where there is nothing in it."""
        if self._read() is not None or not self.folder.is_dir() or not self._files():
            return False
        self._write({0: {}})
        return True

    def bring(self, storage: Storage, token: int) -> int:
        """Make the folder what is stored, unless it goes on from there; the bytes that came.

        Stale where something else is stored by now, OSError where it cannot be had.
        """
        if self.is_at(token):
            return 0
        self._record.unlink(missing_ok=True)
        files: tuple[StoredFile, ...] = ()
        if token:
            manifest = decode(storage.get(manifest_name(self._target)))
            if manifest.token != token:
                raise Stale
            files = manifest.files
        came = self._restore(storage, files)
        self._write({token: {file.digest: file.spot for file in files}})
        return came

    def keep(
        self, storage: Storage, before: int, token: int, totals: Totals | None
    ) -> tuple[Manifest, int]:
        """Store what is new; the manifest of it all, and how many bytes went there."""
        record = self._read()
        if record is None or before not in record.manifests:
            raise Stale
        stored = record.manifests[before]
        found = self._files()
        digests = {name: self._digest(name, info) for name, info in found.items()}
        fresh = {digest: name for name, digest in digests.items() if digest not in stored}
        spots, went = dict(stored), 0
        # What was found first: whatever happens then, a bug is there with its inputs.
        for urgency in range(3):
            these = {d: self.folder / n for d, n in fresh.items() if _urgency(n) == urgency}
            more, sent = put(storage, area_of(self._target), these)
            spots, went = {**spots, **more}, went + sent
        files = tuple(
            StoredFile(name, digest, found[name].st_mode & 0o777, *spots[digest])
            for name, digest in digests.items()
        )
        self._write({before: stored, token: {file.digest: file.spot for file in files}})
        return made(token, before, files, totals), went

    def _restore(self, storage: Storage, files: tuple[StoredFile, ...]) -> int:
        wanted = {file.path: file for file in files}
        here = self._files(everything=True)
        for name in here.keys() - wanted.keys():
            (self.folder / name).unlink()
        missing = [f for f in files if not self._is_same(f, here.get(f.path))]
        places = {file.path: self._place(file.path) for file in missing}
        for place in {self.folder, *(path.parent for path in places.values())}:
            place.mkdir(parents=True, exist_ok=True)
        came = 0
        for file, content in contents(storage, area_of(self._target), missing):
            # Half a folder counts for nothing: it has no record until all is there.
            write_anew(str(places[file.path]), content, file.mode & 0o777)
            came += len(content)
        return came

    def _is_same(self, file: StoredFile, info: os.stat_result | None) -> bool:
        if info is None or not stat.S_ISREG(info.st_mode):
            return False
        with suppress(OSError):
            return self._digest(file.path, info) == file.digest
        return False

    def _files(self, *, everything: bool = False) -> dict[str, os.stat_result]:
        """The plain files that count, by name; ``everything``: also those that do not."""
        found: dict[str, os.stat_result] = {}
        ahead = [""]
        while ahead:
            above = ahead.pop()
            with suppress(OSError), os.scandir(f"{self.folder}/{above}") as entries:
                for entry in sorted(entries, key=attrgetter("name")):
                    name = above + entry.name
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            if everything or entry.name not in SCRATCH:
                                ahead.append(f"{name}/")
                        elif everything or (
                            entry.is_file(follow_symlinks=False) and not name.endswith(PASSING)
                        ):
                            found[name] = entry.stat(follow_symlinks=False)
        return found

    def _digest(self, name: str, info: os.stat_result) -> str:
        if name.startswith(f"{STATE}/"):
            return _hash(self.folder / name)
        seen = (info.st_ino, info.st_size, info.st_mtime_ns)
        known = self._hashes.get(name)
        if known is None or known[0] != seen:
            known = self._hashes[name] = (seen, _hash(self.folder / name))
        return known[1]

    def _place(self, name: str) -> Path:
        """Where a stored file belongs; OSError for a name that leads out of the folder."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name:
            raise OSError("a manifest in the storage names a file outside of its folder")
        return self.folder.joinpath(*parts)

    def _read(self) -> _Record | None:
        try:
            content = read_limited(self._record, MOST_DATA, follow=False)
            record = _DECODER.decode(content)
        except (OSError, ValueError, msgspec.DecodeError):
            return None
        is_same_start = self._lasting or record.boot == boot()
        is_sound = record.campaign == self._campaign and is_same_start
        return record if is_sound and self.folder.is_dir() else None

    def _write(self, manifests: dict[int, dict[str, Spot]]) -> None:
        record = _Record(self._campaign, boot(), manifests)
        self._record.parent.mkdir(parents=True, exist_ok=True)
        # After a power cut it counts for nothing anyway: the machine was started again.
        write_whole(self._record, msgspec.msgpack.encode(record), to_disk=False)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _urgency(name: str) -> int:
    return 0 if name.startswith("crashes/") else 2 if name.startswith(f"{STATE}/") else 1
