"""Further seed files of the recorded data set that a packaged tool writes best."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import dataset_binaries as binaries
import dataset_documents as documents
import dataset_formats as formats
import dataset_sources as sources
import dataset_texts as texts
from dataset_tools import LONG_AGO, run

PACKAGES = (
    "db5.3-util", "device-tree-compiler", "gcc", "gettext", "gifsicle", "hdf4-tools", "icoutils",
    "jbigkit-bin", "libjxr-tools", "lua5.4", "netpbm", "u-boot-tools", "xfonts-utils",
)  # fmt: skip
"""Debian packages of the tools that make these seeds."""

Make = Callable[[Path], bytes]


def _piped(command: str, source: Callable[[], bytes] = binaries.ppm) -> Make:
    """What a command makes of a picture or a text."""
    return lambda folder: run(folder, command, source())


def _filed(command: str, given: str, source: Callable[[], bytes], made: str) -> Make:
    """The file that a command makes of a file."""

    def make(folder: Path) -> bytes:
        (folder / given).write_bytes(source())
        os.utime(folder / given, (LONG_AGO, LONG_AGO))
        run(folder, command)
        return (folder / made).read_bytes()

    return make


def _moving(folder: Path) -> bytes:
    """Two frames, one of them interlaced and local in its colours, with a loop and a comment."""
    (folder / "a.gif").write_bytes(run(folder, "pamtogif", binaries.ppm()))
    (folder / "b.gif").write_bytes(run(folder, "pamtogif -interlace", formats.colours()))
    return run(folder, "gifsicle --loopcount=3 --delay 5 a.gif --comment text --disposal bg b.gif")


def _icon(folder: Path) -> bytes:
    (folder / "a.png").write_bytes(run(folder, "pnmtopng", binaries.ppm(16, 16)))
    run(folder, "icotool -c -o a.ico a.png")
    return (folder / "a.ico").read_bytes()


def _shared_object(folder: Path) -> bytes:
    """A library with versions, relocations, thread-local data and DWARF 5."""
    code = b"#define M 3\n__thread int t = M; extern int puts(const char *);\n"
    code += b"int pub(int a) { static int c; puts(__func__); return t += a + c++; }\n"
    (folder / "a.c").write_bytes(code)
    (folder / "a.map").write_bytes(b"V1 { global: pub; local: *; };\n")
    flags = f"-O1 -g -gdwarf-5 -gz=none -fdebug-prefix-map={folder}=. -shared -fPIC -nostdlib"
    run(
        folder,
        f"gcc {flags} -Wl,--version-script=a.map -Wl,-z,max-page-size=512,-z,noseparate-code,--build-id=none a.c -o a.so",
    )
    return (folder / "a.so").read_bytes()


def _firmware(folder: Path) -> bytes:
    """An image for U-Boot of several parts."""
    for name in ("a", "b"):
        (folder / name).write_bytes(bytes(range(60)))
    run(folder, "mkimage -A arm -O linux -T multi -C none -a 8000 -e 8040 -n image -d a:b a.img")
    return (folder / "a.img").read_bytes()


def _fit(folder: Path) -> bytes:
    """A flat tree that holds images, with their sums."""
    (folder / "a").write_bytes(bytes(range(60)))
    (folder / "a.its").write_bytes(texts.images())
    run(folder, "mkimage -f a.its a.itb")
    return (folder / "a.itb").read_bytes()


def _scientific(folder: Path) -> bytes:
    """Numbers as a data set of HDF, with dimensions and scales, instead of a picture."""
    (folder / "a.txt").write_bytes(
        b"TEXT\n2 3 4\n9.5 -1.5\n1 2\n10 20 30\n0.5 1 1.5 2\n"
        + b" ".join(b"%d.25" % i for i in range(24)) + b"\n"
    )  # fmt: skip
    run(folder, "hdfimport a.txt -o a.hdf")
    return (folder / "a.hdf").read_bytes()


def _queue(folder: Path) -> bytes:
    """Records of one length, by number."""
    rows = "".join(f"value{i * i}\n" for i in range(1, 20))
    run(folder, "db5.3_load -T -t queue -c re_len=12 -c db_pagesize=512 a.db", rows.encode())
    data = bytearray((folder / "a.db").read_bytes())
    data[52:72] = bytes(20)  # the file's identity, which is new at every making
    return bytes(data)


CONVERTED: dict[str, Make] = {
    "bits.jbg": _piped("pbmtojbg -", formats.bits),
    "bits.ras": _piped("pnmtorast -standard", formats.bits),
    "book.mo": _filed("msgfmt -o a.mo a.po", "a.po", documents.messages, "a.mo"),
    "colours.ilbm": _piped("ppmtoilbm", formats.colours),
    "colours.pcx": _piped("ppmtopcx", formats.colours),
    "colours.xpm": _piped("ppmtoxpm -name p", formats.colours),
    "fax.tif": _piped("pamtotiff -g4 -truecolor", formats.bits),
    "firmware.img": _firmware,
    "font.pcf": _filed("bdftopcf -o a.pcf a.bdf", "a.bdf", documents.font, "a.pcf"),
    "grey.jxr": _filed("JxrEncApp -i a.pgm -o a.jxr -q 1 -c 2", "a.pgm", binaries.pgm, "a.jxr"),
    "icon.ico": _icon,
    "image.itb": _fit,
    "library.so": _shared_object,
    "moving.gif": _moving,
    "numbers.hdf": _scientific,
    "program.luac": _filed("luac5.4 -o a.luac a.lua", "a.lua", sources.lua, "a.luac"),
    "queue.db": _queue,
}  # fmt: skip
