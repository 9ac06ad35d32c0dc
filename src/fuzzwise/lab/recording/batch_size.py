"""What a batch of events will take in memory, from what it says about itself, before it does.

A batch is a message of Arrow: a table of flatbuffers that says where each column's bytes are, and
the bytes, compressed. Each compressed column begins with its length as it was, in eight bytes, and
whoever decompresses allocates that. A few bytes can so ask for any amount of memory.
"""

from __future__ import annotations

import struct

_HEADER, _BUFFERS, _COMPRESSION = 2, 2, 3
"""Numbers of fields: the header of a message; buffers and compression of a batch."""


def declared_bytes(metadata: bytes, body: memoryview) -> int:
    """The bytes of all columns as they will be; ValueError where the message contradicts itself."""
    try:
        message = struct.unpack_from("<I", metadata, 0)[0]
        batch = _table(metadata, message, _HEADER)
        buffers, compression = (_field(metadata, batch, n) for n in (_BUFFERS, _COMPRESSION))
        if buffers is None:
            return 0
        start = buffers + struct.unpack_from("<I", metadata, buffers)[0]
        (count,) = struct.unpack_from("<I", metadata, start)
        total = 0
        for number in range(count):
            where, length = struct.unpack_from("<qq", metadata, start + 4 + 16 * number)
            if not (where >= 0 and length >= 0 and where + length <= len(body)):
                raise ValueError("a column is outside of its batch")
            whole = -1
            if compression is not None and length >= 8:
                (whole,) = struct.unpack_from("<q", body, where)
            total += length if whole == -1 else whole
            if whole < -1:
                raise ValueError("a column has a negative length")
        return total
    except struct.error as error:
        raise ValueError("a batch was cut off") from error


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a table is; None where the table does not have it."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    if layout < 0:
        raise ValueError("a table has no layout")
    (size,) = struct.unpack_from("<H", data, layout)
    if 4 + 2 * number >= size:
        return None
    (offset,) = struct.unpack_from("<H", data, layout + 4 + 2 * number)
    return table + offset if offset else None


def _table(data: bytes, table: int, number: int) -> int:
    at = _field(data, table, number)
    if at is None:
        raise ValueError("a message is empty")
    (offset,) = struct.unpack_from("<I", data, at)
    return at + int(offset)
