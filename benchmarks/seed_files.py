"""Small valid inputs for the real libraries, made here byte by byte."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable

TEXT = b"Fuzzers look for inputs that do what no input did before. " * 6


def zlib_seeds() -> dict[str, bytes]:
    """Compressed streams."""
    stored = zlib.compressobj(0)
    skewed = bytes(97 + (index * index * 7 % 1009) ** 2 // 40000 for index in range(900))
    fixed = zlib.compressobj(9, zlib.DEFLATED, 15, 8, zlib.Z_FIXED)
    return {
        "empty": zlib.compress(b""),
        "text": zlib.compress(TEXT, 9),
        "stored": stored.compress(TEXT[:100]) + stored.flush(),
        "dynamic": zlib.compress(skewed, 6),
        "fixed": fixed.compress(TEXT) + fixed.flush(),
        "gzip": gzip.compress(TEXT * 20, mtime=0),
        "gzip-named": _named_gzip(TEXT[:80]),
    }


def _named_gzip(data: bytes) -> bytes:
    """A gzip member with every optional field of its header."""
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = b"\x1f\x8b\x08\x1e" + struct.pack("<IBB", 0, 2, 3)
    head += struct.pack("<H", 4) + b"AB\x00\x00" + b"name\x00" + b"comment\x00"
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    tail = struct.pack("<II", zlib.crc32(data), len(data))
    return head + raw.compress(data) + raw.flush() + tail


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(
    width: int,
    height: int,
    depth: int,
    colour: int,
    *chunks: tuple[bytes, bytes],
    interlaced: bool = False,
) -> bytes:
    """A PNG picture of some pattern, with more chunks before its pixels."""
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    starts = [
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]
    passes = starts if interlaced else [(0, 0, 1, 1)]
    rows = b""
    for left, top, across, down in passes:
        columns = len(range(left, width, across))
        for row in range(top, height, down):
            length = (columns * bits + 7) // 8
            if length:
                rows += bytes([row % 5]) + bytes((row * 37 + at * 11) % 256 for at in range(length))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def png_seeds() -> dict[str, bytes]:
    """Small images."""
    palette = (b"PLTE", bytes(range(4 * 3)))
    gamma = (b"gAMA", struct.pack(">I", 45455))
    text = (b"tEXt", b"Title\x00a picture")
    packed = (b"zTXt", b"Comment\x00\x00" + zlib.compress(b"a longer comment " * 4))
    size = (b"pHYs", struct.pack(">IIB", 2835, 2835, 1))
    points = (31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
    white = (b"cHRM", struct.pack(">8I", *points))
    return {
        "rgb": _png(6, 5, 8, 2, gamma, text),
        "palette": _png(7, 4, 2, 3, palette, (b"tRNS", b"\x00\x80\xff"), (b"hIST", bytes(8))),
        "gray16": _png(4, 4, 16, 0, size, (b"tRNS", b"\x00\x10")),
        "bits-interlaced": _png(9, 9, 1, 0, (b"bKGD", b"\x00\x01"), interlaced=True),
        "rgba-interlaced": _png(8, 8, 8, 6, white, (b"sRGB", b"\x00"), interlaced=True),
        "gray-alpha": _png(
            3, 3, 8, 4, packed, (b"tIME", struct.pack(">H5B", 2021, 8, 23, 1, 2, 3))
        ),
    }


def xml_seeds() -> dict[str, bytes]:
    """Documents."""
    texts = {
        "plain": '<?xml version="1.0"?>\n<a><b id="1">text</b><c/><!-- comment --></a>\n',
        "namespaces": '<x:a xmlns:x="urn:x" xmlns="urn:y"><b x:c="1" d=\'2\'/></x:a>',
        "entities": (
            '<!DOCTYPE a [<!ENTITY e "value"><!ENTITY f "&e; &#65;">\n'
            '<!ENTITY % p "<!ELEMENT b EMPTY>"> %p;]>\n<a>&f;&lt;&amp;&#x20AC;</a>'
        ),
        "dtd": (
            "<!DOCTYPE a [<!ELEMENT a (b+,(c|d)?)><!ELEMENT b (#PCDATA)><!ELEMENT c EMPTY>\n"
            '<!ELEMENT d ANY><!ATTLIST b id ID #REQUIRED kind (x|y) "x" ref IDREF #IMPLIED>\n'
            '<!NOTATION n SYSTEM "n">]>\n<a><b id="i">t</b><b id="j" ref="i" kind="y"/><c/></a>'
        ),
        "cdata": "<a><![CDATA[ <not> & parsed ]]><?target some data?></a>",
        "space": '<a xml:space="preserve" xml:lang="en">\n\t<b>\r\n</b> </a>',
    }
    seeds = {name: text.encode() for name, text in texts.items()}
    seeds["latin1"] = '<?xml version="1.0" encoding="ISO-8859-1"?><a b="ü">é</a>'.encode("latin-1")
    seeds["utf16"] = '<?xml version="1.0" encoding="UTF-16"?><a>ü€</a>'.encode("utf-16")
    return seeds


def json_seeds() -> dict[str, bytes]:
    """Values."""
    return {
        "object": b'{"name": "value", "list": [1, 2.5, -3e10, true, false, null], "deep": {"a": {}}}',
        "numbers": b"[0, -0, 1.0, 1e-7, 123456789012345678901234567890, -9223372036854775808, 1E400]",
        "strings": '["\\u00e9\\ud83d\\ude00", "\\"\\\\\\/\\b\\f\\n\\r\\t", "ü€😀", ""]'.encode(),
        "nested": b"[" * 12 + b"]" * 12,
        "spaces": b' \t\r\n{ "a" : [ ] , "b" : { } } \n',
        "scalar": b"true",
        "mark": b"\xef\xbb\xbf[1]",
    }


def markdown_seeds() -> dict[str, bytes]:
    """Texts."""
    texts = {
        "headings": "# One\n\nTwo\n===\n\nThree\n---\n\n### Four ###\n\n***\n",
        "inline": '*a* **b** ***c*** `code` ``a`b`` <b>x</b> \\* &amp; &#65; "quoted" -- it\'s...  \nend\n',
        "links": "[a](http://x.y \"t\") ![i](/u) [r][ref] [ref] <http://a.b> <me@a.b>\n\n[ref]: /url 'title'\n",
        "lists": "- a\n- b\n  1. c\n  2. d\n\n     para\n* e\n+ f\n\n10) g\n",
        "quotes": "> a\n> > b\nlazy\n\n> - c\n>\n> ```\n> code\n> ```\n",
        "code": "```c\nint x;\n```\n\n    indented\n\t tab\n\n~~~~\nx\n~~~~\n",
        "html": '<div class="x">\n*a*\n</div>\n\n<!-- c -->\n\n<script>\nx\n</script>\n<?p?>\n',
    }
    return {name: text.encode() for name, text in texts.items()}


def _lz4_sequence(literals: bytes, offset: int = 0, match: int = 4) -> bytes:
    """One sequence of an LZ4 block; without an offset, the last one."""

    def more(count: int) -> bytes:
        return b"" if count < 15 else b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])

    token = min(len(literals), 15) << 4 | (min(match - 4, 15) if offset else 0)
    block = bytes([token]) + more(len(literals)) + literals
    return block + struct.pack("<H", offset) + more(match - 4) if offset else block


def _xxh32(data: bytes) -> int:
    """The xxHash (32 bit, seed 0) of fewer than 16 bytes."""
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFFFFFF

    def turn(value: int, by: int) -> int:
        return (value << by | value >> (32 - by)) & mask

    value = p5 + len(data) & mask
    words = len(data) // 4 * 4
    for (word,) in struct.iter_unpack("<I", data[:words]):
        value = turn(value + word * p3 & mask, 17) * p4 & mask
    for byte in data[words:]:
        value = turn(value + byte * p5 & mask, 11) * p1 & mask
    value = (value ^ value >> 15) * p2 & mask
    value = (value ^ value >> 13) * p3 & mask
    return value ^ value >> 16


def _lz4_frame(flags: int, *blocks: bytes, length: int | None = None, tail: bytes = b"") -> bytes:
    descriptor = bytes([0x40 | flags, 0x40]) + (
        struct.pack("<Q", length) if length is not None else b""
    )
    head = struct.pack("<I", 0x184D2204) + descriptor + bytes([_xxh32(descriptor) >> 8 & 0xFF])
    return head + b"".join(blocks) + bytes(4) + tail


def lz4_seeds() -> dict[str, bytes]:
    """Blocks and frames."""
    literals = _lz4_sequence(b"only literals here")
    matches = _lz4_sequence(b"abcd", 4, 20) + _lz4_sequence(b"xyz", 7, 5) + _lz4_sequence(b"tail!")
    long = _lz4_sequence(TEXT[:58], 58, 290) + _lz4_sequence(b"", 1, 300) + _lz4_sequence(b"12345")
    block = struct.pack("<I", len(matches)) + matches
    stored = struct.pack("<I", 0x80000000 | 12) + b"as they were"
    checksum = struct.pack("<I", _xxh32(b"as they were"))
    return {
        "literals": literals,
        "matches": matches,
        "long": long,
        "frame": _lz4_frame(0x20, block, stored),
        "frame-linked": _lz4_frame(0x00, block, block),
        "frame-length": _lz4_frame(0x28, stored, length=12),
        "frame-content-checksum": _lz4_frame(0x24, stored, tail=checksum),
        "frame-block-checksum": _lz4_frame(0x30, stored + checksum),
        "skippable": struct.pack("<II", 0x184D2A50, 4) + b"skip" + _lz4_frame(0x20, block),
    }


def _pcap(order: str, magic: int, kind: int, packets: Iterable[bytes]) -> bytes:
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, kind)
    return head + b"".join(
        struct.pack(f"{order}IIII", 1600000000 + at, at, len(packet), len(packet) + at) + packet
        for at, packet in enumerate(packets)
    )


def _pcapng(order: str, packets: Iterable[bytes]) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = struct.pack(f"{order}I", len(body) + 12)
        return struct.pack(f"{order}I", kind) + size + body + size

    def option(code: int, data: bytes) -> bytes:
        return struct.pack(f"{order}HH", code, len(data)) + data + bytes(-len(data) % 4)

    section = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    options = option(9, b"\x09") + option(14, struct.pack(f"{order}q", 5)) + option(0, b"")
    interface = block(1, struct.pack(f"{order}HHI", 1, 0, 65535) + options)
    enhanced = b"".join(
        block(6, struct.pack(f"{order}IIIII", 0, 1, at, len(packet), len(packet)) + packet)
        for at, packet in enumerate(packets)
    )
    simple = block(3, struct.pack(f"{order}I", 8) + b"12345678")
    return section + interface + enhanced + simple


def pcap_seeds() -> dict[str, bytes]:
    """Captures."""
    arp = bytes.fromhex("ffffffffffff0102030405060806000108000604000101020304050601020304") + bytes(
        10
    )
    usb = bytes(range(64)) + b"data"
    return {
        "little": _pcap("<", 0xA1B2C3D4, 1, [arp, arp[:20]]),
        "big": _pcap(">", 0xA1B2C3D4, 101, [arp]),
        "nanoseconds": _pcap("<", 0xA1B23C4D, 113, [arp]),
        "usb-swapped": _pcap(">", 0xA1B2C3D4, 220, [usb]),
        "pflog-swapped": _pcap(">", 0xA1B2C3D4, 117, [usb]),
        "next-generation": _pcapng("<", [arp, arp[:30]]),
        "next-generation-big": _pcapng(">", [arp]),
    }
