"""Seeds of the libraries that only check where time is spent, made by code."""

from __future__ import annotations

import struct

from seed_files import json_seeds

_ZSTD = struct.pack("<I", 0xFD2FB528)


def flagged_json_seeds() -> dict[str, bytes]:
    """JSON documents behind a byte of options."""
    return {name: b"\0" + data for name, data in json_seeds().items()}


def onig_seeds() -> dict[str, bytes]:
    """Options, the length of a pattern, the pattern, and a text."""
    cases = {
        "plain": (0, b"(a|b)*c+?[^d-f]{2,3}", b"abababccxy"),
        "names": (16, rb"(?<n>\w+)\s\k<n>", b"hello hello"),
        "around": (1, rb"(?<=a)B(?!c)\bx$", b"ab x"),
        "classes": (64, rb"[[:alpha:]\d\p{Greek}&&[^x]]++\R", "αβ1\r\n".encode()),
    }
    return {
        name: bytes([options, len(pattern)]) + pattern + text
        for name, (options, pattern, text) in cases.items()
    }


def unicode_seeds() -> dict[str, bytes]:
    """Texts that are composed, decomposed, wide or badly encoded."""
    texts = {
        "latin": "Ångström ﬁ",
        "marks": "e\u0301\u0323 \u1100\u1161\u11a8",
        "wide": "ＡＢ１\u200d👩",
    }
    return {name: text.encode() for name, text in texts.items()} | {"bad": b"a\xc3(\xed\xa0\x80"}


def zstd_seeds() -> dict[str, bytes]:
    """Frames with a stored block, a repeated byte, and literals without sequences."""
    words = b"hello, hello, hello"
    literals = bytes([len(words) << 3]) + words + b"\0"
    return {
        "stored": _frame(len(words), 0, len(words), words),
        "repeated": _frame(200, 1, 200, b"x"),
        "literals": _frame(len(words), 2, len(literals), literals),
    }


def _frame(content: int, kind: int, size: int, block: bytes) -> bytes:
    """One frame of one block; its header says how long its content is."""
    return _ZSTD + bytes([0x20, content]) + struct.pack("<I", 1 | kind << 1 | size << 3)[:3] + block


def webp_seeds() -> dict[str, bytes]:
    """Pictures of one colour: without loss, with loss, and in the extended form."""
    lossless, lossy = _chunk(b"VP8L", _lossless(5, 3)), _chunk(b"VP8 ", _lossy(16, 16))
    extended = _chunk(b"VP8X", struct.pack("<I", 0) + bytes([15, 0, 0, 15, 0, 0]))
    return {
        "lossless": _riff(lossless),
        "lossy": _riff(lossy),
        "extended": _riff(extended + lossy),
    }


def _riff(chunks: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _lossless(width: int, height: int) -> bytes:
    """All pixels the same: each prefix code has one symbol, which takes no bits."""
    bits = [(width - 1, 14), (height - 1, 14), (0, 1), (0, 3)]
    bits += [(0, 1), (0, 1), (0, 1)]  # no transform, no cache of colours, one group of codes
    for symbol in (0x40, 0x80, 0xC0, 0xFF):
        bits += [(1, 1), (0, 1), (1, 1), (symbol, 8)]
    bits += [(1, 1), (0, 1), (0, 1), (0, 1)]  # no distances
    value = place = 0
    for number, width_of in bits:
        value |= number << place
        place += width_of
    return b"\x2f" + value.to_bytes((place + 7) // 8, "little")


def _lossy(width: int, height: int) -> bytes:
    """A key frame whose arithmetic code is all zeros."""
    first, rest = bytes(64), bytes(64)
    tag = 1 << 4 | len(first) << 5
    size = struct.pack("<HH", width, height)
    return struct.pack("<I", tag)[:3] + b"\x9d\x01\x2a" + size + first + rest
