"""Seed files of the recorded data set that are built byte by byte."""

from __future__ import annotations

import io
import math
import struct
import wave


def midi_one_track() -> bytes:
    """Format 0, with running status, lyrics and drums."""
    track = bytes.fromhex(
        "00ff0306 736d616c6c21 00ff0107 636f6d6d656e74 00ff510307a120 00c905 00993c64 303c00 002450 302400 00ff0502 6c61"
    )
    track += bytes.fromhex("00b95b28 00e90050 8360993264 303200 00ff0604 6d61726b 00ff2f00")
    return (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 480)
        + b"MTrk"
        + struct.pack(">I", len(track))
        + track
    )


def midi() -> bytes:
    """Format 1: a track of tempo and signatures, a track of notes and controllers."""
    head = b"MThd" + struct.pack(">IHHH", 6, 1, 2, 96)
    tempo = bytes.fromhex(
        "00ff510307a120 00ff58040602 1808 00ff5902ff00 00ff0305 54756e6531 00ff2f00"
    )
    notes = bytes.fromhex("00ff030556 6f696365 00c014 00b00764 00e00040")
    for pitch in (60, 62, 64, 65, 67, 69, 71, 72):
        notes += bytes((0, 0x90, pitch, 80, 48, 0x80, pitch, 64))
    notes += bytes.fromhex("00ff0504776f7264 00f0057e7f0901f7 8100b04000 00d040 00a03c20 00ff2f00")
    return head + b"".join(b"MTrk" + struct.pack(">I", len(t)) + t for t in (tempo, notes))


def _samples(count: int) -> bytes:
    return b"".join(
        struct.pack("<h", int(9000 * math.sin(i * i / 900) + i * 37 % 500)) for i in range(count)
    )


def wav() -> bytes:
    """A twentieth of a second."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(_samples(400))
    return out.getvalue()


def mp3() -> bytes:
    """ID3v2.3 and v1 tags around silent MPEG-1 layer III frames, the first with a Xing header."""

    def text(kind: bytes, value: bytes) -> bytes:
        return kind + struct.pack(">IH", len(value), 0) + value

    tags = text(b"TIT2", b"\0Title") + text(b"TPE1", b"\1\xff\xfeA\0b\0") + text(b"TCON", b"\0(17)")
    tags += text(b"COMM", b"\0eng\0Comment") + text(b"APIC", b"\0image/png\0\3\0" + bytes(20))
    size = len(tags)
    head = b"ID3\3\0\0" + bytes((size >> s & 127) for s in (21, 14, 7, 0))
    frame = (bytes.fromhex("fffb5064") + bytes(32)).ljust(208, b"\0")
    xing = bytes.fromhex("fffb5064") + bytes(32) + b"Xing" + struct.pack(">III", 3, 12, 2500)
    tail = b"TAG" + b"Title".ljust(30, b"\0") + b"Artist".ljust(30, b"\0") + bytes(64) + b"\x11"
    return head + tags + xing.ljust(208, b"\0") + frame * 11 + tail


def ppm(width: int = 24, height: int = 20) -> bytes:
    """A picture of few colours, to be converted into other formats."""
    body = bytearray()
    for y in range(height):
        for x in range(width):
            body += bytes(((x // 3) * 32 % 256, (y // 4) * 48 % 256, 192 if (x ^ y) & 4 else 0))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(body)


def pgm(width: int = 32, height: int = 24) -> bytes:
    """A picture of many greys."""
    body = bytes((x * x // 4 + y * 9) % 256 for y in range(height) for x in range(width))
    return b"P5\n%d %d\n255\n" % (width, height) + body


Entry = tuple[int, int, tuple[int, ...]]
"""Tag, type and values of a field of a TIFF directory."""


def _directory(entries: list[Entry], at: int, data: dict[int, bytes] | None = None) -> bytes:
    """A little-endian TIFF directory for offset ``at``, followed by what does not fit into it.

    The values of a tag in ``data`` become the place where its bytes are put.
    """
    formats = {1: "B", 2: "B", 3: "H", 4: "I", 5: "I", 7: "B"}
    table = struct.pack("<H", len(entries))
    end = at + 2 + 12 * len(entries) + 4
    tail = b""
    for tag, kind, values in entries:
        if data and tag in data:
            values = (end + len(tail),)
            tail += data[tag] + b"\0" * (len(data[tag]) % 2)
        count = len(values) // 2 if kind == 5 else len(values)
        packed = struct.pack(f"<{len(values)}{formats[kind]}", *values)
        if len(packed) > 4:
            where = struct.pack("<I", end + len(tail))
            tail += packed + b"\0" * (len(packed) % 2)
            packed = where
        table += struct.pack("<HHI", tag, kind, count) + packed.ljust(4, b"\0")
    return table + bytes(4) + tail


def tiff() -> bytes:
    """16 by 12 uncompressed colours."""
    pixels = ppm(16, 12)[-16 * 12 * 3 :]
    entries = [
        (254, 4, (0,)), (256, 3, (16,)), (257, 3, (12,)), (258, 3, (8, 8, 8)), (259, 3, (1,)),
        (262, 3, (2,)), (270, 2, tuple(b"a picture\0")), (273, 4, (0,)), (274, 3, (1,)),
        (277, 3, (3,)), (278, 3, (12,)), (279, 4, (len(pixels),)), (282, 5, (72, 1)),
        (283, 5, (72, 1)), (284, 3, (1,)), (296, 3, (2,)),
    ]  # fmt: skip
    return b"II*\0\x08\0\0\0" + _directory(entries, 8, {273: pixels})


def exif() -> bytes:
    """A JPEG file's segment with camera data: directories for it, its maker and the place."""
    maker = b"Nikon\0\2\0\0\0II*\0\x08\0\0\0" + _directory([(1, 7, tuple(b"0210"))], 8)
    camera = [
        (0x829A, 5, (1, 60)), (0x829D, 5, (28, 10)), (0x8827, 3, (100,)),
        (0x9000, 7, tuple(b"0210")), (0x9003, 2, tuple(b"2020:01:02 03:04:05\0")),
        (0x920A, 5, (50, 1)), (0x927C, 7, tuple(maker)), (0x9286, 7, tuple(b"ASCII\0\0\0hello")),
    ]  # fmt: skip
    place = [(0, 1, (2, 2, 0, 0)), (1, 2, tuple(b"N\0")), (2, 5, (52, 1, 30, 1, 0, 1))]

    def main(camera_at: int, place_at: int) -> bytes:
        entries = [
            (0x10E, 2, tuple(b"a picture\0")), (0x10F, 2, tuple(b"NIKON\0")),
            (0x110, 2, tuple(b"COOLPIX\0")), (0x112, 3, (6,)), (0x11A, 5, (72, 1)),
            (0x8769, 4, (camera_at,)), (0x8825, 4, (place_at,)),
        ]  # fmt: skip
        return _directory(entries, 8)

    camera_at = 8 + len(main(0, 0))
    place_at = camera_at + len(_directory(camera, camera_at))
    body = b"Exif\0\0II*\0\x08\0\0\0" + main(camera_at, place_at)
    body += _directory(camera, camera_at) + _directory(place, place_at)
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def pe() -> bytes:
    """A 32-bit program for Windows with code, an import, an export and a tree of resources."""
    code = bytes.fromhex("5589e583ec10c745fc00000000ff1530204000c9c3").ljust(512, b"\xcc")
    data = bytearray(1024)
    struct.pack_into("<5I", data, 0, 0x2028, 0, 0, 0x2040, 0x2030)
    struct.pack_into("<4I", data, 0x28, 0x2050, 0, 0x2050, 0)
    data[0x40:0x4D] = b"KERNEL32.dll\0"
    data[0x50:0x60] = b"\0\0ExitProcess\0\0\0"
    struct.pack_into("<IIHH7I", data, 0x80, 0, 0, 0, 0, 0x20B0, 1, 1, 1, 0x20C0, 0x20C4, 0x20C8)
    data[0xB0:0xB6] = b"me.dll"
    struct.pack_into("<IIH", data, 0xC0, 0x1000, 0x20D0, 0)
    data[0xD0:0xD4] = b"run\0"
    rsrc = bytearray(1024)

    def directory(at: int, *entries: tuple[int, int]) -> None:
        struct.pack_into("<IIHHHH", rsrc, at, 0, 0, 4, 0, 0, len(entries))
        for i, (name, where) in enumerate(entries):
            struct.pack_into("<II", rsrc, at + 16 + 8 * i, name, where)

    far = 0x80000000
    directory(0, (3, far | 0x30), (14, far | 0x48), (16, far | 0x60))
    for at, leaf in ((0x30, 0xC0), (0x48, 0xD8), (0x60, 0xF0)):
        directory(at, (1, far | leaf))
    for index, (at, size) in enumerate(((0xC0, 0xE8), (0xD8, 20), (0xF0, 92))):
        directory(at, (1033, 0x110 + 16 * index))
        struct.pack_into("<IIII", rsrc, 0x110 + 16 * index, 0x3140 + 0x100 * index, size, 0, 0)
    struct.pack_into("<IiiHHIIiiII", rsrc, 0x140, 40, 16, 32, 1, 4, 0, 192, 0, 0, 0, 0)
    struct.pack_into("<HHHBBBBHHIH", rsrc, 0x240, 0, 1, 1, 16, 16, 16, 0, 1, 4, 0xE8, 1)
    struct.pack_into("<HHH", rsrc, 0x340, 92, 52, 0)
    rsrc[0x346:0x366] = "VS_VERSION_INFO\0".encode("utf-16-le")
    struct.pack_into("<IIIIII", rsrc, 0x368, 0xFEEF04BD, 0x10000, 0x10000, 0, 0x10000, 0)
    head = bytearray(512)
    head[:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x40)
    struct.pack_into("<4sHHIIIHH", head, 0x40, b"PE\0\0", 0x14C, 3, 0, 0, 0, 0xE0, 0x102)
    struct.pack_into("<HBBIIIIII", head, 0x58, 0x10B, 6, 0, 512, 2048, 0, 0x1000, 0x1000, 0x2000)
    struct.pack_into("<III6HI", head, 0x74, 0x400000, 0x1000, 0x200, 4, 0, 0, 0, 4, 0, 0)
    struct.pack_into("<IIIHH", head, 0x90, 0x4000, 0x200, 0, 3, 0)
    struct.pack_into("<6I", head, 0xA0, 0x100000, 0x1000, 0x100000, 0x1000, 0, 16)
    struct.pack_into("<6I", head, 0xB8, 0x2080, 0x60, 0x2000, 0x28, 0x3000, 0x400)
    sections = (
        (b".text", 512, 0x1000, 0x200, 0x60000020),
        (b".data", 1024, 0x2000, 0x400, 0xC0000040),
        (b".rsrc", 1024, 0x3000, 0x800, 0x40000040),
    )
    for i, (name, size, at, where, flags) in enumerate(sections):
        row = struct.pack("<8s4I12xI", name, size, at, size, where, flags)
        head[0x138 + 40 * i : 0x160 + 40 * i] = row
    return bytes(head) + code + bytes(data) + bytes(rsrc)


def pcap() -> bytes:
    """A TCP connection, a DNS question, a ping and a tunnelled packet."""

    def packet(data: bytes, index: int) -> bytes:
        return struct.pack("<IIII", 1577934245 + index, index * 1000, len(data), len(data)) + data

    def ip(protocol: int, payload: bytes, swap: bool = False) -> bytes:
        a, b = (b"\x0a\0\0\1", b"\x0a\0\0\2")[:: -1 if swap else 1]
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, 64, protocol, 0) + a + b
        total = sum(w for (w,) in struct.iter_unpack(">H", head))
        total = (total & 0xFFFF) + (total >> 16)
        head = head[:10] + struct.pack(">H", ~total & 0xFFFF) + head[12:]
        return bytes(6) + b"\2\0\0\0\0\1\x08\0" + head + payload

    def tcp(flags: int, seq: int, ack: int, data: bytes, swap: bool = False) -> bytes:
        ports = (40000, 80)[:: -1 if swap else 1]
        options = bytes.fromhex("020405b40402080a0000000100000000") if flags & 2 else b""
        length = (20 + len(options)) // 4 << 4
        head = struct.pack(">HHIIBBHHH", *ports, seq, ack, length, flags, 8000, 0, 0)
        return ip(6, head + options + data, swap)

    dns = bytes.fromhex("1234010000010000000000000377777707657861 6d706c65036f72670000010001")
    packets = [
        tcp(2, 100, 0, b""),
        tcp(0x12, 500, 101, b"", True),
        tcp(0x10, 101, 501, b""),
        tcp(0x18, 101, 501, b"GET / HTTP/1.0\r\nHost: example.org\r\n\r\n"),
        tcp(0x18, 501, 138, b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", True),
        tcp(0x11, 138, 543, b""),
        tcp(0x11, 543, 139, b"", True),
        ip(17, struct.pack(">HHHH", 40001, 53, 8 + len(dns), 0) + dns),
        ip(1, bytes.fromhex("0800000000010001") + b"ping"),
        ip(47, bytes.fromhex("00000800") + ip(17, struct.pack(">HHHH", 5, 161, 8, 0))[14:]),
    ]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(packet(p, i) for i, p in enumerate(packets))


def tnef() -> bytes:
    """A message of Outlook's with properties and an attached text."""

    def attribute(level: int, tag: int, data: bytes) -> bytes:
        return (
            struct.pack("<BII", level, tag, len(data))
            + data
            + struct.pack("<H", sum(data) & 0xFFFF)
        )

    props = (
        struct.pack("<I", 2)
        + struct.pack("<HHI", 3, 0x0E17, 1)
        + struct.pack("<HHII", 0x1E, 0x0037, 1, 6)
        + b"hello\0\0\0"
    )
    return (
        struct.pack("<IH", 0x223E9F78, 1)
        + attribute(1, 0x89006, struct.pack("<I", 0x10000))
        + attribute(1, 0x69007, struct.pack("<II", 1252, 0))
        + attribute(1, 0x78008, b"IPM.Microsoft Mail.Note\0")
        + attribute(1, 0x18004, b"Subject\0")
        + attribute(1, 0x38005, struct.pack("<7H", 2020, 1, 2, 3, 4, 5, 4))
        + attribute(1, 0x69003, props)
        + attribute(2, 0x69002, struct.pack("<HII4x", 1, 0xFFFFFFFF, 0))
        + attribute(2, 0x18010, b"a.txt\0")
        + attribute(2, 0x6800F, b"Some text to keep.")
    )


def edid() -> bytes:
    """What a monitor says of itself, with an extension block."""
    head = bytes.fromhex(
        "00ffffffffffff0010ac23f04d4d4d31 0116010380342078eaee95a3544c99260f5054a54b008100a940714f01010101010101010101"
    )
    timing = bytes.fromhex("283c80a070b023403020360006442100001a")
    name = b"\0\0\0\xff\0SERIAL123\n   "
    limits = bytes.fromhex("000000fd00384c1e5311000a202020202020")
    label = b"\0\0\0\xfc\0SCREEN\n      "
    block = head + timing + name + limits + label + b"\1"
    block += bytes((-sum(block) & 255,))
    more = bytes.fromhex("020317f14c901f0413051403120211012309070783010000") + timing
    more = more.ljust(127, b"\0")
    return block + more + bytes((-sum(more) & 255,))
