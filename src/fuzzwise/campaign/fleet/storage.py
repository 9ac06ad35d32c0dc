"""Where a campaign on many machines keeps what they share: a folder, a bucket, through fsspec.

What is stored is named by its content and never changed; names that are not (manifests) are written
by the manager alone. Everything is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.files import make_folders, see_to_disk, write_whole
from fuzzwise.text import printable

AT_ONCE = 8
"""Objects that are under way side by side: most of the time of each is waiting."""

SAMPLE = 32 << 10
"""Bytes from which it is told how content is best compressed."""

LARGEST = 4 << 30
"""Bytes of the largest object that is unpacked."""


class Storage:
    """One place; every failure is an OSError that names it without its secrets."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            import fsspec
        except ImportError as error:
            raise need_extra("A fleet", "fsspec", "fleet") from error
        try:
            found: tuple[Any, str] = fsspec.core.url_to_fs(url)
        except Exception as error:
            raise BadInput(
                f"The storage {shown_url(url)} cannot be used ({type(error).__name__}). Expected: "
                "a folder that all machines have, or a URL that fsspec knows, such as "
                "s3://BUCKET/NAME (with its package installed)."
            ) from error
        self._files, self._root = found
        self._is_local = "file" in _protocols(self._files)

    def get(self, name: str) -> bytes:
        """What is stored under a name; FileNotFoundError where nothing is."""
        try:
            content: bytes = self._files.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        return content

    def put(self, name: str, content: bytes, *, to_disk: bool = True) -> None:
        """Store something, whole or not at all; not ``to_disk``, a power cut may undo it."""
        place = f"{self._root}/{name}"
        try:
            if self._is_local:
                path = Path(place)
                if not path.parent.is_dir():
                    make_folders(path.parent)
                write_whole(path, content, to_disk=to_disk)
            else:
                self._files.pipe_file(place, content)
        except Exception as error:
            raise self._failed(error) from error

    def has(self, name: str) -> bool:
        """Whether something is stored under a name."""
        try:
            return bool(self._files.exists(f"{self._root}/{name}"))
        except Exception as error:
            raise self._failed(error) from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove what nobody needs any more; what is not there is no harm."""
        for name in names:
            try:
                self._files.rm_file(f"{self._root}/{name}")
            except FileNotFoundError:
                continue
            except Exception as error:
                raise self._failed(error) from error

    def put_objects(self, area: str, objects: dict[str, Path]) -> int:
        """Store the content of files by its hash; how many bytes went there."""
        if not objects:
            return 0
        with ThreadPoolExecutor(AT_ONCE) as threads:
            went = sum(threads.map(lambda item: self._put_object(area, *item), objects.items()))
        if self._is_local:  # one look at the folder for all of them
            see_to_disk(Path(f"{self._root}/{object_name(area, '')}"))
        return went

    def put_content(self, area: str, content: bytes) -> tuple[str, int]:
        """Store content by its hash; its name, and how many bytes went there."""
        digest, packed = hashlib.sha256(content).hexdigest(), _packed(content)
        self.put(object_name(area, digest), packed)
        return digest, len(packed)

    def object(self, area: str, digest: str) -> bytes:
        """Content by its hash, checked; OSError where it is missing or damaged."""
        packed = self.get(object_name(area, digest))
        unpacker = zlib.decompressobj()
        try:
            content = unpacker.decompress(packed, LARGEST)
        except zlib.error:
            content = b""
        if unpacker.unconsumed_tail or hashlib.sha256(content).hexdigest() != digest:
            raise OSError(f"an object in the storage is damaged: {digest[:12]}")
        return content

    def _put_object(self, area: str, digest: str, path: Path) -> int:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise OSError(f"{path.name} has changed while it was stored")
        packed = _packed(content)
        name = object_name(area, digest)
        self.put(name, packed, to_disk=False)
        if self._is_local:
            see_to_disk(Path(f"{self._root}/{name}"))
        return len(packed)

    def _failed(self, error: Exception) -> OSError:
        if isinstance(error, OSError):
            return error
        return OSError(f"the storage {shown_url(self.url)} refused ({type(error).__name__})")


def _packed(content: bytes) -> bytes:
    """Content with little work: counts are mostly runs of one byte, which takes half of the time.

    A piece from the middle tells which they are.
    """
    middle = len(content) // 2
    piece = content[middle : middle + SAMPLE]
    if len(content) < 4 * SAMPLE:
        return zlib.compress(content, 1)
    ways = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_RLE)
    return _deflated(content, min(ways, key=lambda way: len(_deflated(piece, way))))


def _deflated(content: bytes, strategy: int) -> bytes:
    packer = zlib.compressobj(1, strategy=strategy)
    return packer.compress(content) + packer.flush()


def object_name(area: str, digest: str) -> str:
    """Where an object of an area is."""
    return f"{area}/objects/{digest}"


def shown_url(url: str) -> str:
    """A URL for people: without names, passwords and tokens."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return printable(f"{parts.scheme}://{host}{parts.path}" if parts.scheme else url)


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)
