"""Seed files of the recorded data set that are built byte by byte: archives, tables and sounds."""

from __future__ import annotations

import io
import plistlib
import struct
import zipfile
import zlib

from dataset_binaries import pgm, ppm


def aiff() -> bytes:
    """Big-endian stereo with a marker, an instrument and a comment."""
    rate = bytes.fromhex("400bfa00000000000000")
    frames = b"".join(struct.pack(">hh", i * 331 % 9000, -i * 97 % 5000) for i in range(100))
    chunks = (
        (b"COMM", struct.pack(">hIh", 2, 100, 16) + rate),
        (b"MARK", struct.pack(">HHI", 1, 1, 20) + b"\x05start"),
        (b"INST", struct.pack(">6bh6h", 60, 0, 0, 127, 1, 127, 0, 1, 1, 1, 0, 0, 0)),
        (b"COMT", struct.pack(">HIHH", 1, 0, 0, 4) + b"note"),
        (b"NAME", b"tone"),
        (b"SSND", bytes(8) + frames),
    )
    body = b"AIFF" + b"".join(k + struct.pack(">I", len(d)) + d for k, d in chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body


def adpcm() -> bytes:
    """WAVE with blocks of Microsoft's ADPCM, its table of coefficients and a list of texts."""
    pairs = (256, 0, 512, -256, 0, 0, 192, 64, 240, 0, 460, -208, 392, -232)
    shape = struct.pack("<HHIIHHHHH", 2, 1, 8000, 4096, 128, 4, 32, 244, 7)
    blocks = b"".join(
        struct.pack("<BhhH", k % 7, 16 + k, 50, 20).ljust(10, b"\1")
        + bytes((0x10, 0x0F, 0xF1, 0x01, 0x2E)[i % 5] for i in range(118))
        for k in range(4)
    )
    chunks = (
        (b"fmt ", shape + struct.pack("<14h", *pairs)),
        (b"fact", struct.pack("<I", 976)),
        (b"LIST", b"INFOINAM\4\0\0\0toneISFT\4\0\0\0code"),
        (b"data", blocks),
    )
    body = b"WAVE" + b"".join(k + struct.pack("<I", len(d)) + d for k, d in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def voc() -> bytes:
    """Creative's format: sound, silence, a loop, a text and a block with more bits."""

    def block(kind: int, data: bytes) -> bytes:
        return bytes((kind,)) + len(data).to_bytes(3, "little") + data

    tone = bytes(128 + i * 13 % 60 for i in range(120))
    body = block(5, b"a text\0") + block(6, struct.pack("<H", 2)) + block(1, b"\x83\0" + tone)
    body += block(7, b"") + block(3, struct.pack("<HB", 50, 131))
    body += block(9, struct.pack("<IBBHI", 8000, 16, 1, 4, 0) + tone) + b"\0"
    return b"Creative Voice File\x1a" + struct.pack("<HHH", 26, 0x114, 0x111F) + body


def mp3_of_mpeg2() -> bytes:
    """ID3v2.2, whose frames have three letters, unsynchronised, before MPEG-2 frames with sums."""

    def text(kind: bytes, value: bytes) -> bytes:
        return kind + len(value).to_bytes(3, "big") + value

    tags = text(b"TT2", b"\0Title") + text(b"TP1", b"\1\xff\xfeA\0b\0") + text(b"TRK", b"\0003/9")
    tags += text(b"ULT", b"\0engwords\0la la") + text(b"PIC", b"\0PNG\3\0" + bytes(12))
    tags += text(b"CNT", b"\0\0\0\7") + text(b"UFI", b"owner\0id")
    tags = tags.replace(b"\xff\xfe", b"\xff\0\xfe").ljust(200, b"\0")
    head = b"ID3\2\0\x80" + bytes((len(tags) >> s & 127) for s in (21, 14, 7, 0))
    frame = (bytes.fromhex("fff24404beef") + bytes(17)).ljust(104, b"\x55")
    lyrics = b"LYRICSBEGININD0000200LYR00004text000026LYRICS200"
    return head + tags + frame * 8 + lyrics


def zip_archive() -> bytes:
    """A stored, a deflated and a bzip2 member, a folder, a comment and times of Unix."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, method in (("a.txt", 0), ("b/c.txt", 8), ("d.txt", 12)):
            member = zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 4))
            member.compress_type = method
            member.external_attr = 0o644 << 16
            member.extra = struct.pack("<HHBI", 0x5455, 5, 1, 1577934244)
            member.comment = b"note"
            archive.writestr(member, b"Some text to keep. " * 6)
        archive.writestr(zipfile.ZipInfo("e/", (2020, 1, 2, 3, 4, 4)), b"")
        archive.comment = b"all of it"
    return out.getvalue()


def lzh() -> bytes:
    """Headers of the levels 0, 1 and 2, each with a stored member."""
    text = b"Some text to keep."
    crc = _crc16(text)
    sizes = struct.pack("<II", len(text), len(text))
    plain = b"-lh0-" + sizes + struct.pack("<I", 0x50221882) + b"\x20\0\5a.txt"
    plain += struct.pack("<H", crc)
    first = bytes((len(plain), sum(plain) & 255)) + plain + text
    more = b"\x07\0\x54" + struct.pack("<I", 1577934244) + b"\0\0"
    base = b"-lh0-" + struct.pack("<II", len(text) + 7, len(text)) + struct.pack("<I", 0x50221882)
    base += b"\x20\1\5b.txt" + struct.pack("<H", crc) + b"U" + more[:2]
    second = bytes((len(base), sum(base) & 255)) + base + more[2:] + text
    name = b"\x08\0\1c.txt\5\0\0\0\0\0\0"[:8] + b"\5\0\x40\0\0"
    third = b"-lh0-" + sizes + struct.pack("<I", 1577934244) + b"\x20\2" + struct.pack("<H", crc)
    third += b"U" + name + b"\0\0"
    return first + second + struct.pack("<H", len(third) + 2) + third + text + b"\0"


def _crc16(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


def cabinet() -> bytes:
    """Two members in a folder of MSZIP blocks, one in a folder that is stored."""
    text = b"Some text to keep. " * 6
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"CK" + packer.compress(text * 2) + packer.flush()
    files = [(b"a.txt", len(text), 0, 0), (b"b.txt", len(text), len(text), 0), (b"c", 19, 0, 1)]
    table = b"".join(
        struct.pack("<IIHHHH", size, at, folder, 0x5022, 0x1882, 0x20) + name + b"\0"
        for name, size, at, folder in files
    )
    blocks = [(packed, 2 * len(text)), (text[:19], 19)]
    data_at = 36 + 16 + len(table)
    folders, data = b"", b""
    for (block, size), method in zip(blocks, (1, 0), strict=True):
        folders += struct.pack("<IHH", data_at + len(data), 1, method)
        data += struct.pack("<IHH", 0, len(block), size) + block
    head = struct.pack("<IIII", 0, data_at + len(data), 0, 52)
    return (
        b"MSCF" + head + struct.pack("<IBBHHHHH", 0, 3, 1, 2, 3, 0, 7, 0) + folders + table + data
    )


def dbf() -> bytes:
    """A table of dBASE with columns of every plain kind, and a deleted row."""
    columns = (
        (b"NAME", b"C", 8, 0),
        (b"COUNT", b"N", 6, 2),
        (b"DAY", b"D", 8, 0),
        (b"OK", b"L", 1, 0),
    )
    described = b"".join(
        n.ljust(11, b"\0") + k + bytes(4) + bytes((size, decimals)) + bytes(14)
        for n, k, size, decimals in columns
    )
    rows = b" Alice     1.5020200102T*Bob     -12.0019991231F Carol     7.25        ?"
    width = 1 + sum(size for _, _, size, _ in columns)
    head = b"\3\x78\1\2" + struct.pack("<IHH", 3, 32 + len(described) + 1, width) + bytes(20)
    return head + described + b"\r" + rows + b"\x1a"


def spreadsheet() -> bytes:
    """Excel's cells (BIFF8) in a compound document: strings, numbers, formats and a formula."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def text(words: bytes) -> bytes:
        return struct.pack("<HB", len(words), 0) + words

    sheet = record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    sheet += record(0x200, struct.pack("<IIHHH", 0, 3, 0, 3, 0))
    sheet += record(0xFD, struct.pack("<HHHI", 0, 0, 0, 1))
    sheet += record(0x203, struct.pack("<HHHd", 0, 1, 1, 43832.5))
    sheet += record(0x27E, struct.pack("<HHHI", 1, 0, 0, 42 << 2 | 2))
    sheet += record(0xBD, struct.pack("<HHHIHIH", 1, 1, 0, 6, 0, 10, 2))
    sheet += record(0x204, struct.pack("<HHH", 2, 0, 0) + text(b"label"))
    sheet += record(6, struct.pack("<HHHdHIH", 2, 1, 0, 6.5, 0, 0, 3) + b"\x1e\1\0")
    sheet += record(0x205, struct.pack("<HHHBB", 2, 2, 0, 1, 0)) + record(10, b"")
    book = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    book += record(0x42, struct.pack("<H", 1252)) + record(0x22, b"\0\0")
    book += record(0x41E, struct.pack("<H", 164) + text(b"yyyy/mm/dd hh:mm"))
    for form in (0, 164):
        book += record(0xE0, struct.pack("<HH", 0, form) + bytes(16))
    strings = text(b"first") + struct.pack("<HB", 2, 1) + "zw".encode("utf-16-le")
    book += record(0xFC, struct.pack("<II", 2, 2) + strings)
    book += record(0x85, struct.pack("<IHBB", len(book) + 18 + 4, 0, 5, 0) + b"Sheet") + record(
        10, b""
    )
    return _compound("Workbook", book + sheet)


def _compound(name: str, stream: bytes) -> bytes:
    """A compound document with one stream, large enough to have sectors of its own."""
    data = stream.ljust(4096, b"\0")
    sectors = len(data) // 512
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    chain = [0xFFFFFFFD, end, *range(3, 2 + sectors), end]
    table = struct.pack("<128I", *chain, *[free] * (128 - len(chain)))

    def entry(called: str, kind: int, child: int, start: int, size: int) -> bytes:
        coded = called.encode("utf-16-le") + b"\0\0"
        links = struct.pack("<HBBIII", len(coded), kind, 1, free, free, child)
        return coded.ljust(64, b"\0") + links + bytes(36) + struct.pack("<III", start, size, 0)

    folder = entry("Root Entry", 5, 1, end, 0) + entry(name, 2, free, 2, len(data)) + bytes(256)
    head = (
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6)
    )
    head += bytes(10) + struct.pack("<IIIIIIIII", 1, 1, 0, 4096, end, 0, end, 0, 0)
    return head.ljust(512, b"\xff")[:512] + table + folder + data


def pgp() -> bytes:
    """Packets of a key with its user and signature, and a message, compressed and literal."""

    def old(tag: int, body: bytes) -> bytes:
        return bytes((0x81 | tag << 2,)) + struct.pack(">H", len(body)) + body

    def new(tag: int, body: bytes) -> bytes:
        return bytes((0xC0 | tag, len(body))) + body

    def big(bits: int) -> bytes:
        return struct.pack(">H", bits) + b"\xff" * ((bits + 7) // 8)

    key = struct.pack(">BIB", 4, 1577934244, 1) + big(256) + big(17)
    sub = (
        b"\5\2"
        + struct.pack(">I", 1577934244)
        + b"\2\x1b\3"
        + b"\5\x0b\x09\x08\7\2"
        + b"\2\x15\x08"
    )
    unhashed = b"\x09\x10" + bytes(range(8))
    signature = b"\4\x13\1\x08" + struct.pack(">H", len(sub)) + sub
    signature += struct.pack(">H", len(unhashed)) + unhashed + b"\x12\x34" + big(256)
    literal = new(11, b"t\5a.txt" + struct.pack(">I", 1577934244) + b"Some text.")
    session = b"\3" + bytes(range(8)) + b"\1" + big(256)
    symmetric = b"\4\x09\3\x08" + bytes(range(8)) + b"\x60"
    return (
        old(6, key) + old(13, b"Somebody <a@example.org>") + old(2, signature)
        + new(1, session) + new(3, symmetric) + new(8, b"\2" + zlib.compress(literal, 9))
        + new(4, b"\3\0\x08\1" + bytes(range(8)) + b"\1") + literal
    )  # fmt: skip


def property_list() -> bytes:
    """Apple's binary list with values of every kind."""
    values = {"name": "text", "wide": "\u00e9\u4e2d", "data": b"\0\1\2", "n": [1, -2, 300, 2**40]}
    more = {"real": 1.5, "yes": True, "inner": {"a": [], "b": {}}, "id": plistlib.UID(7)}
    return plistlib.dumps({**values, **more}, fmt=plistlib.FMT_BINARY, sort_keys=True)


def solid() -> bytes:
    """A tetrahedron and a loose face, as binary STL."""
    a, b, c, d = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    faces = ((a, c, b), (a, b, d), (a, d, c), (b, c, d), (b, c, (2, 2, 2)))
    rows = b"".join(
        struct.pack("<12fH", 0, 0, 1, *(float(x) for point in face for x in point), 0)
        for face in faces
    )
    return b"a solid".ljust(80, b" ") + struct.pack("<I", len(faces)) + rows


def bits() -> bytes:
    """A picture of black and white, to be converted into other formats."""
    grey = pgm(32, 24)[-32 * 24 :]
    rows = bytes(
        sum((grey[8 * i + j] > 99) << (7 - j) for j in range(8)) for i in range(len(grey) // 8)
    )
    return b"P4\n32 24\n" + rows


def pcap_of_six() -> bytes:
    """IPv6 with options and fragments, ARP, a tagged frame, DHCP and an answer of DNS, in nanoseconds."""

    def packet(data: bytes, index: int) -> bytes:
        return (
            struct.pack(">IIII", 1577934245 + index, index * 1000, len(data), len(data) + 4) + data
        )

    def six(following: int, payload: bytes) -> bytes:
        ends = bytes.fromhex("fe80000000000000 0000000000000001 ff020000000000000000000000000002")
        return b"\x60\0\0\0" + struct.pack(">HBB", len(payload), following, 64) + ends + payload

    def four(protocol: int, payload: bytes) -> bytes:
        head = struct.pack(">BBHHHBBH", 0x46, 0, 24 + len(payload), 7, 0x4000, 64, protocol, 0)
        return head + b"\x0a\0\0\1\x0a\0\0\2" + b"\x94\4\0\0" + payload

    def udp(source: int, target: int, data: bytes) -> bytes:
        return struct.pack(">HHHH", source, target, 8 + len(data), 0) + data

    ether = b"\x33\x33\0\0\0\2\2\0\0\0\0\1"
    answer = bytes.fromhex("1234818000010002000000000377777707657861 6d706c65036f72670000010001")
    answer += bytes.fromhex("c00c0001000100000e1000040a000003 c00c0005000100000e100004016fc010")
    dhcp = bytes.fromhex("010106003903f326") + bytes(20) + b"\2\0\0\0\0\1" + bytes(202)
    dhcp += bytes.fromhex(
        "63825363 350101 3d0701020000000001 370401030 62a 0c0468 6f7374 ff".replace(" ", "")
    )
    soliciting = bytes.fromhex("8700000000000000") + bytes(16) + b"\1\1\2\0\0\0\0\1"
    packets = (
        ether + b"\x86\xdd" + six(0, b"\x3a\0\5\2\0\0\1\0" + soliciting),
        ether
        + b"\x86\xdd"
        + six(44, struct.pack(">BBHI", 17, 0, 1, 9) + udp(546, 547, b"\1\0\0\1")),
        ether
        + b"\x08\6"
        + bytes.fromhex("0001080006040001020000000001 0a000001000000000000 0a000002"),
        ether + b"\x81\0\0\5\x08\0" + four(17, udp(53, 40001, answer)),
        ether + b"\x08\0" + four(17, udp(68, 67, dhcp)),
        ether + b"\x08\0" + four(2, bytes.fromhex("1114eeebe0000001")),
        ether
        + b"\x88\xcc"
        + bytes.fromhex("0207040200000000010403057365 0602 0078 0000".replace(" ", "")),
    )
    head = struct.pack(">IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(packet(p, i) for i, p in enumerate(packets))


def palette() -> bytes:
    """An interlaced PNG with a palette, transparency, texts, a time and a physical size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    passes = ((1, 1), (1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4))
    rows = b"".join((b"\0" + bytes([0x1B]) * ((w + 3) // 4)) * h for w, h in passes)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data)
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", 8, 8, 2, 3, 0, 0, 1)),
            (b"gAMA", struct.pack(">I", 45455)),
            (b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)),
            (b"sBIT", b"\5\6\5"),
            (b"PLTE", b"\0\0\0\xff\0\0\0\xff\0\0\0\xff"),
            (b"tRNS", b"\0\x80"),
            (b"hIST", struct.pack(">4H", 1, 2, 3, 4)),
            (b"pHYs", struct.pack(">IIB", 2835, 2835, 1)),
            (b"tIME", struct.pack(">HBBBBB", 2020, 1, 2, 3, 4, 5)),
            (b"tEXt", b"Title\0A picture"),
            (b"zTXt", b"Comment\0\0" + zlib.compress(b"some words " * 3)),
            (b"iTXt", b"Author\0\0\0en\0Wer\0Somebody"),
            (b"sPLT", b"few\0\x08" + struct.pack(">4BH", 1, 2, 3, 255, 9)),
            (b"IDAT", zlib.compress(rows, 9)),
            (b"IEND", b""),
        )
    )


def colours() -> bytes:
    """The picture of few colours, small enough for formats with sixteen."""
    return ppm(16, 12)
