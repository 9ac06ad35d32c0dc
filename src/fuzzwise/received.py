"""What others may have written: opened without waiting, read and parsed within bounds.

A file can come from anywhere: a colleague's archive, a crashed machine, somebody who means ill. A
pipe in its place would be waited for without end, a device read without end, and a number in it
become an allocation. Every reader opens its files here.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import zlib
from io import FileIO
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.text import printable

MOST_TEXT = 64 << 20
"""Bytes of a file that is read whole: lists, tables and records that people and fuzzwise write."""

MOST_DATA = 1 << 30
"""Bytes of a recording or of a log of observations, which are read whole too."""

_GZIP = b"\x1f\x8b"
"""How what gzip has packed begins."""

DEEPEST = 60
"""How deep values of JSON may be inside of each other: fuzzwise writes none deeper than six."""


def open_regular(path: Path, *, follow: bool = True) -> FileIO:
    """Open a file to read, but nothing that could block or never end.

    A link to a regular file is one where the user has named the path; not ``follow``, where it is
    part of a folder that may have been received: there it could lead anywhere.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise BadInput(
                f"{printable(str(path))}: is a link, which is not followed inside of a campaign's "
                "folder. Put the file itself there."
            ) from error
        if error.errno == errno.ENXIO:  # a socket
            raise _not_regular(path) from error
        raise
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"{printable(str(path))}: no file can have this name.") from error
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise _not_regular(path)
    return FileIO(descriptor)


def read_limited(path: Path, most: int = MOST_TEXT, *, follow: bool = True) -> bytes:
    """All of a regular file; one that is larger than ``most`` bytes is refused, not cut."""
    with open_regular(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most else _all(file, most)
        if size > most or len(content) > most:
            raise BadInput(
                f"{printable(str(path))}: has more than {most:,} bytes, which is too large for "
                "what it should be. Check that it is the right file."
            )
        return content


def read_unpacked(path: Path, most: int) -> bytes:
    """The same, unpacked where gzip has packed it: what comes out has at most ``most`` bytes, too.

    Of a file that is cut off, what was there; what else gzip cannot unpack is an error.
    """
    content = read_limited(path, most)
    if not content.startswith(_GZIP):
        return content
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(content, most + 1)
    except zlib.error as error:
        raise _not_gzip(path, str(error)) from error
    if len(unpacked) > most:
        raise BadInput(
            f"{printable(str(path))}: unpacks to more than {most:,} bytes, which is too large for "
            "what it should be. Check that it is the right file."
        )
    if unpacker.unused_data:
        raise _not_gzip(path, "something follows its end")
    return unpacked


def parse_json(content: bytes | str) -> Any:
    """A value of JSON. ValueError for what is none, too deep, or has numbers no JSON can have."""
    try:
        value = json.loads(content, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ValueError("it is too deep") from None
    _check(value, DEEPEST)
    return value


def cannot_read(path: Path, error: OSError) -> BadInput:
    """The sentence for a file that cannot be read."""
    what = "there is no such file or folder" if isinstance(error, FileNotFoundError) else ""
    return BadInput(
        f"{printable(str(path))}: cannot be read ({what or error.strerror or error}). Check the "
        "path, and that you may read it."
    )


def _all(file: FileIO, most: int) -> bytes:
    """What there is, up to a byte more than allowed; the file may grow meanwhile."""
    pieces: list[bytes] = []
    left = most + 1
    while left > 0 and (piece := file.read(min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"a number in it is {text[:20]}")
    return value


def _check(value: Any, deepest: int) -> None:
    if isinstance(value, str):
        os.fsencode(value)  # ValueError for half a character, which no file name holds either
    elif isinstance(value, dict | list):
        if not deepest:
            raise ValueError("it is too deep")
        for item in value:
            _check(item, deepest - 1)
        if isinstance(value, dict):
            _check(list(value.values()), deepest - 1)


def _not_regular(path: Path) -> BadInput:
    return BadInput(
        f"{printable(str(path))}: is not a regular file. Give the file itself: pipes and devices "
        "are not read."
    )


def _not_gzip(path: Path, why: str) -> BadInput:
    return BadInput(
        f"{printable(str(path))}: gzip cannot unpack it ({why}). Get it again, or unpack it "
        "by hand."
    )
