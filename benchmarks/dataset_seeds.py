"""Seed files of the recorded data set: small, valid, made from code, the same every time.

Text is in ``dataset_texts``, ``dataset_documents``, ``dataset_sources`` and ``dataset_assembly``, formats
that are built byte by byte in ``dataset_binaries`` and ``dataset_formats``; here and in
``dataset_converted`` are those that a packaged tool writes best. ``make_seeds`` makes all of them.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import dataset_assembly as assembly
import dataset_binaries as binaries
import dataset_documents as documents
import dataset_formats as formats
import dataset_sources as sources
import dataset_texts as texts
from dataset_converted import CONVERTED, PACKAGES
from dataset_tools import LONG_AGO, run

TOOL_PACKAGES = (
    "acpica-tools", "arj", "binutils", "db5.3-util", "device-tree-compiler", "gcc",
    "hdf4-tools", "libjpeg-turbo-progs", "libjxr-tools", "netpbm", "plotutils", "rrdtool",
    *PACKAGES,
)  # fmt: skip
"""Debian packages of the tools that make seeds."""


def _picture(folder: Path, command: str) -> bytes:
    return run(folder, command, binaries.ppm())


def _sgi_packed(folder: Path) -> bytes:
    return _picture(folder, "pnmtosgi -rle")


def _ras_packed(folder: Path) -> bytes:
    return _picture(folder, "pnmtorast -rle")


def _png(folder: Path) -> bytes:
    return _picture(folder, "pnmtopng")


def _jpeg(folder: Path) -> bytes:
    picture = _picture(folder, "cjpeg -quality 50")
    return picture[:2] + binaries.exif() + picture[2:]


def _jxr(folder: Path) -> bytes:
    bitmap = run(folder, "ppmtobmp -bpp 24", binaries.ppm(32, 32))
    (folder / "a.bmp").write_bytes(bitmap)
    run(folder, "JxrEncApp -i a.bmp -o a.jxr -q 0.7")
    return (folder / "a.jxr").read_bytes()


def _hdf(folder: Path) -> bytes:
    (folder / "a.raw").write_bytes(binaries.pgm(32, 24)[-32 * 24 :])
    run(folder, "r8tohdf 24 32 a.hdf -c a.raw")
    return (folder / "a.hdf").read_bytes()


def _metafile(folder: Path) -> bytes:
    return run(folder, "graph -T meta -L Title -X x", b"0 0\n1 2\n2 1\n3 5\n")


def _object(folder: Path) -> bytes:
    (folder / "a.c").write_bytes(texts.small_c())
    run(folder, f"gcc -c -O1 -gdwarf-4 -fdebug-prefix-map={folder}=. a.c -o a.o")
    return (folder / "a.o").read_bytes()


def _archived(folder: Path, command: str, archive: str) -> bytes:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_bytes(b"Some text to keep. " * 12)
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    run(folder, f"{command} {archive} a.txt b.txt")
    return (folder / archive).read_bytes()


def _arj(folder: Path) -> bytes:
    """An archive whose times of making are set to zero, and its header sums made right again."""
    data = bytearray(_archived(folder, "arj a -i", "a.arj"))
    at = 0
    while size := struct.unpack_from("<H", data, at + 2)[0]:
        start, end = at + 4, at + 4 + size
        is_file = data[start + 6] != 2
        times = slice(start + 34, start + 42) if is_file else slice(start + 8, start + 16)
        data[times] = bytes(8)
        data[start + 7] = 0  # the low byte of the time of making
        struct.pack_into("<I", data, end, zlib.crc32(data[start:end]))
        packed = struct.unpack_from("<I", data, start + 12)[0] if is_file else 0
        at = end + 6 + packed
    return bytes(data)


def _berkeley(folder: Path, kind: str) -> bytes:
    rows = "".join(f"{i}\nvalue{i * i}\n" for i in range(1, 20))
    run(folder, f"db5.3_load -T -t {kind} -c db_pagesize=512 a.db", rows.encode())
    data = bytearray((folder / "a.db").read_bytes())
    data[52:72] = bytes(20)  # the file's identity, which is new at every making
    return bytes(data)


def _btree(folder: Path) -> bytes:
    return _berkeley(folder, "btree")


def _hash(folder: Path) -> bytes:
    return _berkeley(folder, "hash")


def _aml(folder: Path) -> bytes:
    (folder / "a.asl").write_bytes(texts.acpi())
    run(folder, "iasl -vs -p a a.asl")
    return (folder / "a.aml").read_bytes()


def _dtb(folder: Path) -> bytes:
    (folder / "a.dts").write_bytes(texts.device_tree())
    return run(folder, "dtc -q a.dts")


def _rrd(folder: Path) -> bytes:
    """Two series in two archives, whose rings are turned to start at their first rows.

    The tool starts them at random rows. In the file are, last, the present row of each archive,
    then all rows of each.
    """
    start = 1577934000
    lengths = (12, 6)
    sources = "DS:in:GAUGE:120:0:U DS:out:COUNTER:120:U:U RRA:AVERAGE:0.5:1:12 RRA:MAX:0.5:3:6"
    run(folder, f"rrdtool create a.rrd --start {start} --step 60 {sources}")
    values = " ".join(f"{start + 60 * i}:{i * i}:{i * 100}" for i in range(1, 9))
    run(folder, f"rrdtool update a.rrd {values}")
    data = (folder / "a.rrd").read_bytes()
    row_size = 8 * 2
    at = len(data) - row_size * sum(lengths)
    present = struct.unpack_from("<QQ", data, at - 16)
    turned = data[: at - 16] + struct.pack("<QQ", *(length - 1 for length in lengths))
    for length, row in zip(lengths, present, strict=True):
        cut, end = at + row_size * (row + 1), at + row_size * length
        turned += data[cut:end] + data[at:cut]
        at = end
    return turned


FROM_CODE: dict[str, Callable[[], bytes]] = {
    "adpcm.wav": formats.adpcm,
    "another.abc": documents.abc_with_graces,
    "archive.cab": formats.cabinet,
    "archive.lzh": formats.lzh,
    "archive.zip": formats.zip_archive,
    "book.bib": documents.bibtex,
    "book.ris": documents.ris,
    "book.xls": formats.spreadsheet,
    "camera.tif": binaries.tiff,
    "document.rtf": documents.rtf,
    "font.bdf": documents.font,
    "font.t1": documents.type_1,
    "fortran.f": texts.fortran,
    "fortran77.f": sources.fortran_77,
    "grammar.y": texts.yacc,
    "keys.pgp": formats.pgp,
    "list.plist": formats.property_list,
    "macros.6801": assembly.c6502_macros,
    "mdoc.8": documents.mdoc,
    "message.tnef": binaries.tnef,
    "monitor.edid": binaries.edid,
    "mpeg2.mp3": formats.mp3_of_mpeg2,
    "nesting.html": documents.page_of_html,
    "one-track.mid": binaries.midi_one_track,
    "packets.pcap": binaries.pcap,
    "packets6.pcap": formats.pcap_of_six,
    "page.1": texts.man,
    "page.html": texts.html,
    "page.tex": texts.tex,
    "palette.png": formats.palette,
    "pic16.hex": texts.intel_hex,
    "plain.6502": texts.plain_6502,
    "program.8051": assembly.as31,
    "program.avr": assembly.avr,
    "program.dasm": assembly.dasm,
    "program.exe": binaries.pe,
    "program.gas": assembly.gas,
    "program.nasm": assembly.nasm_64,
    "program.pasmo": assembly.pasmo,
    "program.pic": assembly.gpasm,
    "program.tass": assembly.mos_tass,
    "program.x86": texts.nasm,
    "program.xa": assembly.xa,
    "program.z80": texts.z80,
    "scanner.rl": sources.ragel,
    "small.c": sources.indent_c,
    "solid.stl": formats.solid,
    "sound.aiff": formats.aiff,
    "sound.voc": formats.voc,
    "sound.wav": binaries.wav,
    "table.dbf": formats.dbf,
    "table.tbl": documents.tables,
    "tagged.mp3": binaries.mp3,
    "terminal.ti": documents.terminal,
    "text.md": documents.markdown,
    "tune.abc": texts.abc,
    "tune.csv": texts.midi_csv,
    "two-tracks.mid": binaries.midi,
    "yacc-bsd.y": sources.yacc_of_bsd,
}

BY_TOOL: dict[str, Callable[[Path], bytes]] = {
    "board.dtb": _dtb,
    "btree.db": _btree,
    "camera.jpg": _jpeg,
    "files.arj": _arj,
    "hash.db": _hash,
    "object.o": _object,
    "packed.ras": _ras_packed,
    "packed.sgi": _sgi_packed,
    "picture.hdf": _hdf,
    "picture.jxr": _jxr,
    "picture.png": _png,
    "plot.meta": _metafile,
    "series.rrd": _rrd,
    "table.aml": _aml,
}


def make_seeds(folder: Path) -> dict[str, Path]:
    """Write every seed into the folder; their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: make() for name, make in FROM_CODE.items()}
    for name, make_in in (BY_TOOL | CONVERTED).items():
        with tempfile.TemporaryDirectory() as scratch:
            contents[name] = make_in(Path(scratch))
    paths = {name: folder / name for name in sorted(contents)}
    for name, path in paths.items():
        path.write_bytes(contents[name])
    return paths


if __name__ == "__main__":
    for seed_name, seed_path in make_seeds(Path(sys.argv[1])).items():
        print(f"{seed_name:16} {seed_path.stat().st_size:6} bytes")
