"""Where the functions of a program begin, without its symbols.

Stripping removes the names of functions, but not what unwinds the stack when an exception is
thrown: the section ``.eh_frame_hdr`` holds a sorted table with the first address of nearly every
function (Linux Standard Base, "Exception Frame Header"). With it, all places in one function become
one place, as they would with its name.

Limits: 64-bit little-endian ELF files; functions in assembler without unwind data count as part of
the function before them, and the cold part that a compiler moved away as a function of its own.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_LOAD, _EH_FRAME = 1, 0x6474E550
_TABLE_OF_OFFSETS = 0x3B  # pairs of signed 32-bit numbers, relative to the start of the section
_FOUR_BYTES = 0x03
_MAX_SEGMENTS = 1 << 10
_MAX_FUNCTIONS = 1 << 22
_PAGE = 4096


@dataclass(frozen=True)
class _Program:
    base: int
    starts: Sequence[int]


def function_start(module: str, address: int) -> int | None:
    """The address of the function that an address of a module is in, or None if unknown.

    Addresses are those of the file, as sanitizers print them: where a position-independent module
    is loaded does not count.
    """
    program = _program(module)
    index = bisect_right(program.starts, address) if program else 0
    return program.starts[index - 1] if program and index else None


def base_address(module: str) -> int:
    """The address at which a module wants to be: 0 if it can be anywhere, or is not readable."""
    program = _program(module)
    return program.base if program else 0


def _program(module: str) -> _Program | None:
    try:
        status = Path(module).stat()
    except (OSError, ValueError):
        return None
    return _read(module, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read(module: str, changed: int, size: int) -> _Program | None:  # noqa: ARG001 - cache key
    try:
        with Path(module).open("rb") as file:
            return _parse(file)
    except (OSError, OverflowError, ValueError, struct.error):  # a damaged file
        return None


def _parse(file: BinaryIO) -> _Program | None:
    header = file.read(64)
    if header[:6] != _ELF64_LITTLE:
        return None
    (table,) = struct.unpack_from("<Q", header, 32)
    entry_size, count = struct.unpack_from("<HH", header, 54)
    if entry_size != 56 or count > _MAX_SEGMENTS:
        return None
    file.seek(table)
    segments = list(struct.iter_unpack("<IIQQQQQQ", file.read(entry_size * count)))
    loads = [vaddr for kind, _, _, vaddr, *_ in segments if kind == _LOAD]
    base = min(loads, default=0) // _PAGE * _PAGE
    for kind, _, offset, vaddr, *_ in segments:
        if kind == _EH_FRAME:
            return _Program(base, _starts(file, offset, vaddr))
    return _Program(base, ())


def _starts(file: BinaryIO, offset: int, vaddr: int) -> Sequence[int]:
    file.seek(offset)
    version, _, count_encoding, table_encoding, _, count = struct.unpack("<BBBBiI", file.read(12))
    known = version == 1 and count_encoding == _FOUR_BYTES and table_encoding == _TABLE_OF_OFFSETS
    if not known or count > _MAX_FUNCTIONS:
        return ()
    return sorted(vaddr + start for start, _ in struct.iter_unpack("<ii", file.read(8 * count)))
