"""Small files in few objects: a turn may find a thousand inputs, and each object has its price."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzwise.campaign.fleet.manifest import Spot, StoredFile
from fuzzwise.campaign.fleet.storage import AT_ONCE, Storage

SMALL = 128 << 10
"""Bytes up to which a file goes into a pack."""

FULL = 8 << 20
"""Bytes at which a pack is full."""


def put(storage: Storage, area: str, files: dict[str, Path]) -> tuple[dict[str, Spot], int]:
    """Store files, by the hash of their content; where each of them is, and what went there."""
    spots: dict[str, Spot] = {}
    large = {digest: path for digest, path in files.items() if path.stat().st_size > SMALL}
    went = storage.put_objects(area, large)
    spots = dict.fromkeys(large, ("", 0, 0))
    for pack in _packs((d, path) for d, path in files.items() if d not in large):
        name, sent = storage.put_content(area, b"".join(pack.values()))
        went += sent
        at = 0
        for digest, content in pack.items():
            spots[digest] = (name, at, len(content))
            at += len(content)
    return spots, went


def contents(
    storage: Storage, area: str, files: Iterable[StoredFile]
) -> Iterator[tuple[StoredFile, bytes]]:
    """Files with their contents, each pack fetched once; OSError where one is damaged."""
    by_object: dict[str, list[StoredFile]] = {}
    for file in files:
        by_object.setdefault(file.pack or file.digest, []).append(file)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(lambda name: storage.object(area, name), by_object)
        for inside, content in zip(by_object.values(), found, strict=True):
            for file in inside:
                yield file, _piece(file, content) if file.pack else content


def _piece(file: StoredFile, content: bytes) -> bytes:
    piece = content[file.at : file.at + file.size]
    if hashlib.sha256(piece).hexdigest() != file.digest:
        raise OSError(f"a manifest in the storage is damaged: {file.digest[:12]} is not there")
    return piece


def _packs(files: Iterable[tuple[str, Path]]) -> Iterator[dict[str, bytes]]:
    """The contents of files, by hash, in portions."""
    pack: dict[str, bytes] = {}
    size = 0
    for digest, path in files:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise OSError(f"{path.name} has changed while it was stored")
        pack[digest] = content
        size += len(content)
        if size >= FULL:
            yield pack
            pack, size = {}, 0
    if pack:
        yield pack
