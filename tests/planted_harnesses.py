"""The example harnesses with known bugs: an input, made by hand or by search, for each bug.

Some bugs are tables that are one place too short: the search restates how the example spreads what
it counts over the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

WORD = 0xFFFFFFFF


def _spread(a: int, b: int, c: int) -> int:
    h = (((a * 0x9E3779B1 ^ b) & WORD) * 0x85EBCA6B ^ c) & WORD
    h = ((h ^ h >> 15) * 0xC2B2AE35) & WORD
    return h ^ h >> 13


# ── bitmap.c ─────────────────────────────────────────────────────────────────────────────────────


def _picture(packing: int, pixels: bytes, width: int = 32, height: int = 32) -> bytes:
    return b"PX" + bytes([width, height, 1, packing, 255]) + b"rgb" + pixels


def _run() -> bytes:
    """A run, as the first or behind a harmless one, that the table has no place for."""
    for at, count, pixel in itertools.product(range(256), range(1, 256), range(256)):
        if _spread(at, count, pixel) % 400000 == 399999:
            before = bytes([at, 7]) if at else b""
            return _picture(1, before + bytes([count, pixel, 0, 0]))
    raise AssertionError


def _jump() -> bytes:
    for x, y, pixel in itertools.product(range(32), range(32), range(256)):
        if _spread(x, y, pixel) % 400000 == 399999:
            return _picture(1, bytes([0, x, y, pixel]))
    raise AssertionError


def _crop() -> bytes:
    for x, y, angle in itertools.product(range(32), range(32), range(256)):
        if _spread(x, y, 1 + 256 * angle) % 30000 == 29999:
            return _picture(0, bytes(32 * 32)) + b"CR" + bytes([x, y, 1, angle])
    raise AssertionError


def _background() -> bytes:
    return b"PX" + bytes([1, 1, 2, 0, 2]) + b"rgbrgb" + b"\1"


# ── lz.c ─────────────────────────────────────────────────────────────────────────────────────────


def _packed(size: int, tokens: bytes, flags: int = 0) -> bytes:
    return b"LZ" + bytes([flags]) + size.to_bytes(2, "little") + tokens


def _match() -> bytes:
    for done, length in itertools.product(range(15, 256), range(1, 16)):
        for back in range(done + 1):
            if _spread(back, length, done) % 100000 == 99999:
                token = bytes([0xF0 | length, done - 15]) + bytes(done) + bytes([back])
                return _packed(500, token)
    raise AssertionError


def _filter() -> bytes:
    text = b"abcd"
    a, b = 1, 0
    for letter in text:
        a = (a + letter) % 65521
        b = (b + a) % 65521
    return _packed(4, b"\x40" + text + (b << 16 | a).to_bytes(4, "little"), flags=0x23)


# ── expression.c ─────────────────────────────────────────────────────────────────────────────────


def _pairs() -> Iterator[tuple[int, int]]:
    for row, k in itertools.product(range(1000), range(1000)):
        place = (((row * 0x9E3779B1 ^ k) & WORD) * 0x85EBCA6B & WORD) >> 8
        if place % 20000 == 19999:
            yield row, k


def _choose() -> bytes:
    row, k = next(_pairs())
    return f"choose({row}, {k})".encode()


HARNESSES: dict[str, dict[str, bytes]] = {
    "bitmap": {
        "run": _run(),
        "background": _background(),
        "jump": _jump(),
        "crop": _crop(),
    },
    "expression": {
        "quotient": b"7 / 30000",
        "argument": b"max(" + b",".join([b"1"] * 25) + b")",
        "choose": _choose(),
        "earlier": b"1\n" * 8 + b"$8",
    },
    "lz": {
        "copy_match": _match(),
        "copy_literals": _packed(8, b"\x80" + bytes.fromhex("d803bb1dc23a8723")),
        "undo_filter": _filter(),
    },
    "markup": {
        "close_all": b"<a><b><c><d></p>",
        "attribute": b'<a b="\\',
        "character": b"&#2097152;",
        "expand": b'<!ENTITY a "&b;"><!ENTITY b "&a;">&a;',
    },
}
"""For each harness, an input for each function with a bug."""

DEEPER: dict[str, dict[str, bytes]] = {
    "expression": {
        "quotient": b"2 + (3 * (8 / -50000))",
        "argument": b"1+(max(" + b",".join([b"2"] * 25) + b"))",
        "choose": b"-(" + _choose() + b")",
        "earlier": b"2\n" * 8 + b"(1+(1+$8))",
    },
    "markup": {
        "expand": b'x<!ENTITY q "r&z;"><!ENTITY z "&q;"><b>&z;',
        "close_all": b"<p></p><a><b><c><d><e></p>",
    },
}
"""Other inputs for the same bugs, from inside of brackets and the like."""

CLEAN = ("base64", "dates", "ini", "url", "utf8")
"""Harnesses without a known bug."""
