"""Small valid fonts: TrueType, OpenType, Type 1 and bitmap, made here byte by byte."""

from __future__ import annotations

import struct
import zlib


def _sfnt(tables: dict[bytes, bytes], magic: bytes) -> bytes:
    """A font file of the given tables."""

    def checksum(data: bytes) -> int:
        padded = data + bytes(-len(data) % 4)
        words = struct.unpack(f">{len(padded) // 4}I", padded)
        return int(sum(words)) & 0xFFFFFFFF

    count = len(tables)
    power = count.bit_length() - 1
    search = 16 << power
    head = magic + struct.pack(">HHHH", count, search, power, count * 16 - search)
    at = 12 + 16 * count
    directory, body = b"", b""
    for tag, data in sorted(tables.items()):
        directory += tag + struct.pack(">III", checksum(data), at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    return head + directory + body


def _woff(font: bytes) -> bytes:
    """The same font with its tables compressed, as a WOFF file."""
    count = struct.unpack_from(">H", font, 4)[0]
    directory, body = b"", b""
    for index in range(count):
        tag, checksum, at, size = struct.unpack_from(">4sIII", font, 12 + 16 * index)
        data = font[at : at + size]
        packed = min(zlib.compress(data, 9), data, key=len)
        place = 44 + 20 * count + len(body)
        directory += struct.pack(">4sIIII", tag, place, len(packed), size, checksum)
        body += packed + bytes(-len(packed) % 4)
    length = 44 + len(directory) + len(body)
    head = struct.pack(">4s4sIHHIHH", b"wOFF", font[:4], length, count, 0, len(font), 1, 0)
    return head + bytes(20) + directory + body


def _common_tables(glyphs: int) -> dict[bytes, bytes]:
    """The tables that TrueType and OpenType fonts share, for the letters from A on."""
    last = 65 + glyphs - 2
    segments = struct.pack(">HHHHHHH", 4, 4, 1, 0, last, 0xFFFF, 0)
    segments += struct.pack(">HHhhHH", 65, 0xFFFF, 1 - 65, 1, 0, 0)
    unicode = struct.pack(">HHH", 4, len(segments) + 6, 0) + segments
    return {
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12) + unicode,
        b"head": struct.pack(
            ">IIIIHHqqhhhhHHhhh",
            0x10000, 0x10000, 0, 0x5F0F3CF5, 3, 1000, 0, 0, 0, -200, 1000, 800, 0, 8, 2, 0, 0,
        ),
        b"hhea": struct.pack(
            ">IhhhHhhhhhhhhhhhH", 0x10000, 800, -200, 0, 600, 0, 0, 600, 1, 0, 0, 0, 0, 0, 0, 0, glyphs
        ),
        b"hmtx": struct.pack(">Hh", 600, 50) * glyphs,
        b"name": struct.pack(">HHHHHHHHH", 0, 1, 18, 3, 1, 0x409, 1, 8, 0) + "Tiny".encode("utf-16-be"),
        b"post": struct.pack(">IIhhI4I", 0x30000, 0, -100, 50, 0, 0, 0, 0, 0),
    }  # fmt: skip


def _outline(ends: list[int], points: list[tuple[int, int, int]], program: bytes = b"") -> bytes:
    """A TrueType glyph from points (x, y, on the curve), without packing."""
    xs = [x for x, _, _ in points]
    ys = [y for _, y, _ in points]
    glyph = struct.pack(">hhhhh", len(ends), min(xs), min(ys), max(xs), max(ys))
    glyph += struct.pack(f">{len(ends)}HH", *ends, len(program)) + program
    glyph += bytes(on for _, _, on in points)
    for values in (xs, ys):
        steps = [after - before for before, after in zip([0, *values], values, strict=False)]
        glyph += struct.pack(f">{len(steps)}h", *steps)
    return glyph + bytes(-len(glyph) % 4)


def _truetype(hinted: bool) -> bytes:
    """A TrueType font with a box, a curved letter and a letter composed of both."""
    # Touch point 0, move point 1 by control value 0, interpolate the rest on both axes.
    program = bytes([0x00, 0xB0, 0, 0x2F, 0xB1, 1, 0, 0xFD, 0x01, 0xB0, 2, 0x2F, 0x30, 0x31])
    hints = program if hinted else b""
    box = _outline([3], [(50, 0, 1), (50, 700, 1), (500, 700, 1), (500, 0, 1)], hints)
    inner = [(200, 200, 1), (300, 200, 0), (300, 400, 1), (200, 400, 0)]
    letter = _outline(
        [3, 7], [(0, 0, 1), (300, 800, 0), (600, 0, 1), (300, -100, 0), *inner], hints
    )
    composed = struct.pack(">hhhhh", -1, 0, -100, 600, 800)
    composed += struct.pack(">HHhh", 0x0023, 1, 0, 0) + struct.pack(
        ">HHbbh", 0x000A, 0, 10, 20, 0x2000
    )
    glyphs = [box, letter, composed + bytes(-len(composed) % 4)]
    places = [sum(map(len, glyphs[:count])) for count in range(len(glyphs) + 1)]
    limits = (0x10000, 3, 8, 2, 12, 3, 2, 4, 8, 4, 0, 64, 32, 2, 1)
    tables = {
        **_common_tables(len(glyphs)),
        b"glyf": b"".join(glyphs),
        b"kern": struct.pack(">HHHHHHHHHHHh", 0, 1, 0, 20, 1, 1, 6, 0, 0, 0, 1, -50),
        b"loca": struct.pack(">4H", *(place // 2 for place in places)),
        b"maxp": struct.pack(">I14H", *limits),
    }
    if hinted:
        tables[b"cvt "] = struct.pack(">hh", 700, 500)
        tables[b"fpgm"] = bytes([0xB0, 0, 0x2C, 0xB1, 1, 2, 0x60, 0x21, 0x2D])
        tables[b"prep"] = bytes([0xB0, 0, 0x2B, 0xB1, 0, 64, 0x1D, 0xB0, 1, 0x5E])
    return _sfnt(tables, b"\x00\x01\x00\x00")


def _cff_number(value: int) -> bytes:
    return b"\x1c" + struct.pack(">h", value)


def _cff_index(*items: bytes) -> bytes:
    if not items:
        return bytes(2)
    offsets = [1 + sum(map(len, items[:count])) for count in range(len(items) + 1)]
    return struct.pack(f">HB{len(offsets)}H", len(items), 2, *offsets) + b"".join(items)


def _opentype() -> bytes:
    """An OpenType font with CFF outlines."""

    def program(*parts: int | bytes) -> bytes:
        return b"".join(part if isinstance(part, bytes) else _cff_number(part) for part in parts)

    notdef = program(b"\x0e")
    stems = program(0, 50, b"\x01", 100, 50, b"\x03")
    lines = program(100, 100, b"\x15", 300, b"\x06", 400, b"\x07", -300, b"\x06")
    curve = program(50, 60, 70, 80, 90, 100, b"\x08", -107, b"\x0a", b"\x0e")
    letters = _cff_index(notdef, stems + lines + curve)
    subroutines = _cff_index(program(10, 20, b"\x05", b"\x0b"))

    def layout(letters_at: int, private_at: int, private_size: int) -> bytes:
        top = _cff_number(letters_at) + b"\x11"
        top += _cff_number(private_size) + _cff_number(private_at) + b"\x12"
        return (
            b"\x01\x00\x04\x02"
            + _cff_index(b"Tiny")
            + _cff_index(top)
            + _cff_index()
            + _cff_index()
        )

    private = _cff_number(-10) + _cff_number(10) + b"\x06" + _cff_number(500) + b"\x14"
    private += _cff_number(len(private) + 4) + b"\x13"
    letters_at = len(layout(0, 0, 0))
    private_at = letters_at + len(letters)
    table = layout(letters_at, private_at, len(private)) + letters + private + subroutines
    tables = {**_common_tables(2), b"CFF ": table, b"maxp": struct.pack(">IH", 0x5000, 2)}
    return _sfnt(tables, b"OTTO")


def _type1() -> bytes:
    """A Type 1 font as text, with its private part encrypted as the format asks."""

    def encrypt(data: bytes, key: int) -> bytes:
        out = bytearray()
        for byte in bytes(4) + data:
            out.append(byte ^ key >> 8)
            key = (out[-1] + key) * 52845 + 22719 & 0xFFFF
        return bytes(out)

    def number(value: int) -> bytes:
        return b"\xff" + struct.pack(">i", value)

    def charstring(*parts: int | bytes) -> bytes:
        code = encrypt(b"".join(p if isinstance(p, bytes) else number(p) for p in parts), 4330)
        return str(len(code)).encode() + b" RD " + code

    notdef = charstring(0, 500, b"\x0d", b"\x0e")
    letter = charstring(
        50, 600, b"\x0d", 0, 50, b"\x01", 100, 50, b"\x03", 100, 100, b"\x15", 300, b"\x06",
        400, b"\x07", 10, 20, 30, 40, 50, 60, b"\x08", 0, b"\x0a", b"\x09", b"\x0e",
    )  # fmt: skip
    private = (
        b"dup /Private 8 dict dup begin\n/RD {string currentfile exch readstring pop} def\n"
        b"/ND {def} def\n/NP {put} def\n/BlueValues [-10 0 500 510] def\n/StdHW [50] def\n"
        b"/password 5839 def\n/lenIV 4 def\n"
        b"/Subrs 1 array\ndup 0 " + charstring(10, 20, b"\x05", b"\x0b") + b" NP\nND\n"
        b"2 index /CharStrings 2 dict dup begin\n"
        b"/.notdef " + notdef + b" ND\n/A " + letter + b" ND\nend\nend\nput\nput\n"
        b"dup /FontName get exch definefont pop\nmark currentfile closefile\n"
    )
    head = (
        b"%!PS-AdobeFont-1.0: Tiny 1\n11 dict begin\n/FontInfo 3 dict dup begin\n"
        b"/FullName (Tiny) def\n/ItalicAngle 0 def\n/isFixedPitch false def\nend def\n"
        b"/FontName /Tiny def\n/PaintType 0 def\n/FontType 1 def\n"
        b"/FontMatrix [0.001 0 0 0.001 0 0] def\n/FontBBox {0 -200 600 800} def\n"
        b"/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 65 /A put\n"
        b"readonly def\ncurrentdict end\ncurrentfile eexec\n"
    )
    hidden = encrypt(private, 55665).hex().encode()
    rows = b"\n".join(hidden[at : at + 64] for at in range(0, len(hidden), 64))
    return head + rows + b"\n" + (b"0" * 64 + b"\n") * 8 + b"cleartomark\n"


BITMAP_FONT = b"""STARTFONT 2.1
FONT -misc-tiny-medium-r-normal--8-80-75-75-c-60-iso10646-1
SIZE 8 75 75
FONTBOUNDINGBOX 6 8 0 -1
STARTPROPERTIES 4
FONT_ASCENT 7
FONT_DESCENT 1
DEFAULT_CHAR 65
CHARSET_REGISTRY "ISO10646"
ENDPROPERTIES
CHARS 2
STARTCHAR A
ENCODING 65
SWIDTH 600 0
DWIDTH 6 0
BBX 5 7 0 0
BITMAP
20
50
88
88
F8
88
88
ENDCHAR
STARTCHAR B
ENCODING 66
SWIDTH 600 0
DWIDTH 6 0
BBX 5 3 0 -1
BITMAP
F0
88
F0
ENDCHAR
ENDFONT
"""


def font_seeds() -> dict[str, bytes]:
    """Fonts of five kinds."""
    return {
        "truetype": _truetype(hinted=False),
        "truetype-hinted": _truetype(hinted=True),
        "opentype": _opentype(),
        "type1": _type1(),
        "bitmap": BITMAP_FONT,
        "packed": _woff(_truetype(hinted=False)),
    }
