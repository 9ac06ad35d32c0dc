"""Real C and C++ libraries as fuzz targets: fetched, built and given seeds.

Run ``python benchmarks/subjects.py`` to build all of them with stock libFuzzer, and
``--asan`` to build them with AddressSanitizer too. The sources are Debian source packages; they
and everything built from them stay in the work folder. Needed are Debian (or a relative of it),
clang with its runtime (``clang libclang-rt-14-dev``) and ``dpkg-dev``, which root need not install
beforehand.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HARNESSES = Path(__file__).resolve().parent / "harnesses"
APT = Path("/etc/apt")
PLAIN_FLAGS = ["-O2", "-g", "-fsanitize=fuzzer-no-link"]


class BuildFailed(RuntimeError):
    """A command that fetches or builds a subject failed."""


# What a library's own configure step would write, from its source tree: file name and text.
Generated = Callable[[Path], dict[str, str]]


@dataclass(frozen=True)
class Subject:
    """One library, how to compile it, and seeds for it.

    ``sources`` and ``includes`` are relative to the source tree, ``sources`` may be patterns;
    ``needs`` names subjects whose libraries are linked too.
    """

    name: str
    language: Literal["c", "c++"]
    package: str
    what: str
    make_seeds: Callable[[], dict[str, bytes]]
    sources: tuple[str, ...] = ()
    includes: tuple[str, ...] = (".",)
    defines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    generate: Generated = lambda _tree: {}

    @property
    def harness(self) -> Path:
        """The file with ``LLVMFuzzerTestOneInput``."""
        return HARNESSES / f"{self.name}{'.c' if self.language == 'c' else '.cc'}"


def fetch(subject: Subject, work: Path) -> Path:
    """The subject's source tree, downloaded unless that was done before."""
    target = work.resolve() / "sources" / subject.name
    if not target.exists():
        _ensure_dpkg_source()
        apt = _apt_options(work.resolve())
        partial = target.with_name(f".{subject.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _download(subject.package, apt, partial)
        partial.rename(target)
    trees = [path for path in target.iterdir() if path.is_dir()]
    if len(trees) != 1:
        raise BuildFailed(f"{target}: expected one source tree, found {len(trees)}")
    return trees[0]


def version(subject: Subject, work: Path) -> str:
    """The version of the fetched source package, as in ``1.6.39-2+deb12u5``."""
    fetch(subject, work)
    description = next((work.resolve() / "sources" / subject.name).glob("*.dsc"))
    return description.stem.partition("_")[2]


def build(
    subject: Subject,
    work: Path,
    variant: str,
    cc: list[str],
    cxx: list[str],
    flags: list[str],
    engine: list[str],
) -> Path:
    """The fuzz target of a subject, built unless the same was built before.

    ``flags`` go to every compilation and to the link; ``engine`` are the linker's words for
    whatever brings ``main``.
    """
    folder = _variant_folder(subject, work, variant)
    target = folder / subject.name
    libraries = [_library(subject, work, variant, cc, cxx, flags)] if subject.sources else []
    libraries += [_library(by_name(name), work, variant, cc, cxx, flags) for name in subject.needs]
    compiler = cc if subject.language == "c" else cxx
    harness = folder / "harness.o"
    commands = [
        [
            *compiler,
            *_words(subject, work, variant, flags),
            "-c",
            str(subject.harness),
            "-o",
            str(harness),
        ],
        [*cxx, *flags, str(harness), *engine, *map(str, libraries), "-lm", "-o", str(target)],
    ]
    stamp = json.dumps(
        [
            commands,
            subject.harness.read_text(),
            _ages([*libraries, *(Path(word) for word in engine if not word.startswith("-"))]),
        ]
    )
    if not _fresh(target, stamp):
        _prepare(subject, work, variant)
        for command in commands:
            _run(command)
        _stamp(target, stamp)
    return target


def seeds(subject: Subject, folder: Path) -> None:
    """Write small valid inputs of the subject into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in subject.make_seeds().items():
        (folder / name).write_bytes(data)


def by_name(name: str) -> Subject:
    """The subject called ``name``."""
    return next(subject for subject in SUBJECTS if subject.name == name)


# Fetching


def _ensure_dpkg_source() -> None:
    if shutil.which("dpkg-source"):
        return
    if os.geteuid() != 0:
        raise BuildFailed("dpkg-source is missing: install the package dpkg-dev")
    _run(["apt-get", "-q", "update"])
    _run(["apt-get", "-qy", "install", "--no-install-recommends", "dpkg-dev", "xz-utils"])


@functools.cache
def _apt_options(work: Path) -> list[str]:
    """Options that give apt package lists of its own, with sources, and fetch those lists.

    The machine's settings stay as they are, and no root is needed.
    """
    folder = work / "apt"
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    parts = folder / "parts"
    lines, stanzas = _source_entries(APT)
    (parts / "subjects.list").write_text("".join(f"{line}\n" for line in lines))
    (parts / "subjects.sources").write_text("\n\n".join(stanzas) + "\n")
    options = [
        "-o", "Dir::Etc::sourcelist=/dev/null",
        "-o", f"Dir::Etc::sourceparts={parts}",
        "-o", f"Dir::State::lists={folder / 'lists'}",
        "-o", f"Dir::Cache={folder / 'cache'}",
        "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    # Third-party archives often have no sources, which fails the update but hurts nobody.
    subprocess.run(["apt-get", "-q", *options, "update"], capture_output=True, check=False)
    return options


def _source_entries(apt: Path) -> tuple[list[str], list[str]]:
    """The archives apt knows, as ``deb-src`` lines and as stanzas with ``Types: deb-src``."""
    lists = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]
    lines = [
        re.sub(r"^deb(-src)?\s", "deb-src ", line.strip())
        for path in lists
        if path.exists()
        for line in path.read_text().splitlines()
        if re.match(r"\s*deb(-src)?\s", line)
    ]
    stanzas = [
        re.sub(r"(?im)^Types:.*$", "Types: deb-src", stanza.strip())
        for path in sorted((apt / "sources.list.d").glob("*.sources"))
        for stanza in re.split(r"\n\s*\n", path.read_text())
        if re.search(r"(?im)^Types:", stanza)
        and not re.search(r"(?im)^Enabled:\s*(no|false|0)\s*$", stanza)
    ]
    return list(dict.fromkeys(lines)), list(dict.fromkeys(stanzas))


def _download(package: str, apt: list[str], folder: Path) -> None:
    """Unpack a source package into a folder: the newest version that the mirror still has."""
    shown = _run(["apt-cache", *apt, "showsrc", "--only-source", package])
    versions = re.findall(r"^Version: (\S+)$", shown, re.MULTILINE)
    wanted = [package, *(f"{package}={one}" for one in reversed(versions))]
    failures = []
    for name in wanted:
        try:
            _run(["apt-get", "-q", *apt, "--only-source", "source", name], folder)
            return
        except BuildFailed as failure:
            failures.append(str(failure))
    raise BuildFailed("\n".join(failures))


# Building


def _variant_folder(subject: Subject, work: Path, variant: str) -> Path:
    return work.resolve() / "build" / subject.name / variant


def _library(
    subject: Subject, work: Path, variant: str, cc: list[str], cxx: list[str], flags: list[str]
) -> Path:
    """The subject's library as an archive, compiled unless the same was compiled before."""
    tree = fetch(subject, work)
    folder = _variant_folder(subject, work, variant)
    archive = folder / f"lib{subject.name}.a"
    compiler = cc if subject.language == "c" else cxx
    sources = [path for pattern in subject.sources for path in _matches(tree, pattern)]
    words = [*compiler, *_words(subject, work, variant, flags), "-c"]
    stamp = json.dumps([words, list(map(str, sources)), subject.generate(tree)])
    if _fresh(archive, stamp):
        return archive
    _prepare(subject, work, variant)
    objects = []
    for source in sources:
        compiled = folder / "objects" / source.relative_to(tree).with_suffix(".o")
        compiled.parent.mkdir(parents=True, exist_ok=True)
        _run([*words, str(source), "-o", str(compiled)])
        objects.append(str(compiled))
    archive.unlink(missing_ok=True)
    _run(["ar", "rcs", str(archive), *objects])
    _stamp(archive, stamp)
    return archive


def _matches(tree: Path, pattern: str) -> list[Path]:
    found = sorted(tree.glob(pattern))
    if not found:
        raise BuildFailed(f"{tree}: no source file {pattern}")
    return found


def _words(subject: Subject, work: Path, variant: str, flags: list[str]) -> list[str]:
    """The compiler's words for the subject's library and for its harness."""
    used = [subject, *(by_name(name) for name in subject.needs)]
    includes = [
        folder
        for one in used
        for folder in (
            _variant_folder(one, work, variant) / "generated",
            *(fetch(one, work) / name for name in one.includes),
        )
    ]
    return [
        *flags,
        "-w",
        # The convention by which libraries drop what only hinders a fuzzer: checksums, random
        # hash salts.
        "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1",
        *(f"-D{define}" for define in subject.defines),
        *(f"-I{folder}" for folder in includes),
    ]


def _prepare(subject: Subject, work: Path, variant: str) -> None:
    for one in [subject, *(by_name(name) for name in subject.needs)]:
        folder = _variant_folder(one, work, variant) / "generated"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in one.generate(fetch(one, work)).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def _ages(paths: Iterable[Path]) -> list[int]:
    return [path.stat().st_mtime_ns for path in paths if path.is_file()]


def _fresh(made: Path, stamp: str) -> bool:
    record = made.with_suffix(".stamp")
    return made.exists() and record.exists() and record.read_text() == stamp


def _stamp(made: Path, stamp: str) -> None:
    made.with_suffix(".stamp").write_text(stamp)


def _run(command: list[str], folder: Path | None = None) -> str:
    """What a command printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"{' '.join(command)}\n{done.stderr[-4000:]}")
    return done.stdout


def _png_files(tree: Path) -> dict[str, str]:
    return {"pnglibconf.h": (tree / "scripts" / "pnglibconf.h.prebuilt").read_text()}


def _number(pattern: str, text: str) -> int:
    """The number a pattern finds in a text."""
    found = re.search(pattern, text)
    if not found:
        raise BuildFailed(f"no {pattern} found")
    return int(found[1])


def _cmark_files(tree: Path) -> dict[str, str]:
    project = (tree / "CMakeLists.txt").read_text()
    versions = (tree / "src" / "cmark_version.h.in").read_text()
    before = r"project\(cmark VERSION "
    for part in ("MAJOR", "MINOR", "PATCH"):
        number = _number(rf"{before}(\d+)", project)
        versions = versions.replace(f"@PROJECT_VERSION_{part}@", str(number))
        before += r"\d+\."
    config = (tree / "src" / "config.h.in").read_text()
    config = re.sub(r"#cmakedefine (\w+)", r"#define \1", config)
    return {"config.h": config, "cmark_version.h": versions, "cmark_export.h": CMARK_EXPORT}


CMARK_EXPORT = "#define CMARK_EXPORT\n#define CMARK_NO_EXPORT\n"

XML_FEATURES = {"TREE", "OUTPUT", "PUSH", "PATTERN", "SAX1", "VALID", "ISO8859X", "REGEXPS"}
# Without rand, srand and time: libxml2 then does not randomise its hash tables.
XML_CONFIG = (
    "CTYPE_H ERRNO_H FCNTL_H FLOAT_H INTTYPES_H LIMITS_H MALLOC_H MATH_H STAT STDARG_H STDINT_H "
    "STDLIB_H STRING_H SYS_STAT_H SYS_TYPES_H UNISTD_H VA_COPY SNPRINTF VSNPRINTF"
)


def _xml_files(tree: Path) -> dict[str, str]:
    text = (tree / "include" / "libxml" / "xmlversion.h.in").read_text()
    text = re.sub(r"@WITH_(\w+)@", lambda found: str(int(found[1] in XML_FEATURES)), text)
    settings = (tree / "configure.ac").read_text()
    parts = [_number(rf"{part}_VERSION\D+?(\d+)", settings) for part in ("MAJOR", "MINOR", "MICRO")]
    text = text.replace("@LIBXML_VERSION_NUMBER@", "{}{:02}{:02}".format(*parts))
    text = re.sub(r"@\w+@", "", text.replace("@VERSION@", ".".join(map(str, parts))))
    config = "".join(f"#define HAVE_{name} 1\n" for name in XML_CONFIG.split())
    return {"libxml/xmlversion.h": text, "config.h": config}


PCAP_CONFIG = """\
#define HAVE_ASPRINTF 1
#define HAVE_VASPRINTF 1
#define HAVE_FSEEKO 1
#define HAVE_GNU_STRERROR_R 1
#define HAVE_STRERROR 1
#define HAVE_STRTOK_R 1
#define HAVE_SOCKLEN_T 1
#define HAVE_STRUCT_SOCKADDR_STORAGE 1
#define HAVE___ATOMIC_LOAD_N 1
#define HAVE___ATOMIC_STORE_N 1
#define PACKAGE_NAME "pcap"
#define PACKAGE_VERSION "1.10"
#define PACKAGE_STRING "pcap 1.10"
"""


# Seeds

TEXT = b"Fuzzers look for inputs that do what no input did before. " * 6


def _zlib_seeds() -> dict[str, bytes]:
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


def _png_seeds() -> dict[str, bytes]:
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


def _xml_seeds() -> dict[str, bytes]:
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


def _json_seeds() -> dict[str, bytes]:
    return {
        "object": b'{"name": "value", "list": [1, 2.5, -3e10, true, false, null], "deep": {"a": {}}}',
        "numbers": b"[0, -0, 1.0, 1e-7, 123456789012345678901234567890, -9223372036854775808, 1E400]",
        "strings": '["\\u00e9\\ud83d\\ude00", "\\"\\\\\\/\\b\\f\\n\\r\\t", "ü€😀", ""]'.encode(),
        "nested": b"[" * 12 + b"]" * 12,
        "spaces": b' \t\r\n{ "a" : [ ] , "b" : { } } \n',
        "scalar": b"true",
        "mark": b"\xef\xbb\xbf[1]",
    }


def _markdown_seeds() -> dict[str, bytes]:
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


def _lz4_seeds() -> dict[str, bytes]:
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


def _pcap_seeds() -> dict[str, bytes]:
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


def _font_seeds() -> dict[str, bytes]:
    return {
        "truetype": _truetype(hinted=False),
        "truetype-hinted": _truetype(hinted=True),
        "opentype": _opentype(),
        "type1": _type1(),
        "bitmap": BITMAP_FONT,
        "packed": _woff(_truetype(hinted=False)),
    }


def _each(pattern: str, names: str) -> tuple[str, ...]:
    return tuple(pattern.replace("*", name) for name in names.split())


SUBJECTS: tuple[Subject, ...] = (
    Subject(
        name="zlib",
        language="c",
        package="zlib",
        what="decompression of zlib and gzip streams",
        make_seeds=_zlib_seeds,
        sources=("*.c",),
        defines=("HAVE_UNISTD_H",),
    ),
    Subject(
        name="libpng",
        language="c",
        package="libpng1.6",
        what="reading a PNG picture",
        make_seeds=_png_seeds,
        # All but pngtest.c, which has a main.
        sources=("png.c", "png[!t]*.c", "pngtrans.c"),
        # The NEON code is in files of its own.
        defines=("PNG_ARM_NEON_OPT=0",),
        needs=("zlib",),
        generate=_png_files,
    ),
    Subject(
        name="libxml2",
        language="c",
        package="libxml2",
        what="parsing and validating an XML document",
        make_seeds=_xml_seeds,
        sources=_each(
            "*.c",
            "SAX SAX2 buf chvalid dict encoding entities error globals hash list parser "
            "parserInternals pattern threads tree uri valid xmlIO xmlmemory xmlregexp xmlsave "
            "xmlstring xmlunicode",
        ),
        includes=("include", "."),
        defines=("HAVE_CONFIG_H", "LIBXML_STATIC"),
        generate=_xml_files,
    ),
    Subject(
        name="nlohmann-json",
        language="c++",
        package="nlohmann-json3",
        what="parsing and writing JSON",
        make_seeds=_json_seeds,
        includes=("single_include",),
    ),
    Subject(
        name="freetype",
        language="c",
        package="freetype",
        what="loading and rendering the glyphs of a font",
        make_seeds=_font_seeds,
        # The list of docs/INSTALL.ANY.
        sources=(
            *_each(
                "src/base/ft*.c",
                "base bbox bitmap debug fstype gasp glyph gxval init mm otval patent "
                "pfr stroke synth system type1 winfnt bdf cid",
            ),
            *_each(
                "src/*/*.c",
                "autofit bdf cff pcf pfr psaux pshinter psnames raster sdf sfnt smooth "
                "svg truetype type1 type42",
            ),
            "src/cid/type1cid.c",
            "src/winfonts/winfnt.c",
            "src/gzip/ftgzip.c",
            "src/lzw/ftlzw.c",
        ),
        includes=("include",),
        defines=("FT2_BUILD_LIBRARY",),
    ),
    Subject(
        name="cmark",
        language="c",
        package="cmark",
        what="rendering CommonMark to HTML",
        make_seeds=_markdown_seeds,
        sources=_each(
            "src/*.c",
            "cmark node iterator blocks inlines scanners utf8 buffer references render man xml "
            "html commonmark latex houdini_href_e houdini_html_e houdini_html_u cmark_ctype",
        ),
        includes=("src",),
        generate=_cmark_files,
    ),
    Subject(
        name="lz4",
        language="c",
        package="lz4",
        what="decompression of LZ4 blocks and frames",
        make_seeds=_lz4_seeds,
        sources=("lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c", "lib/xxhash.c"),
        includes=("lib",),
    ),
    Subject(
        name="libpcap",
        language="c",
        package="libpcap",
        what="reading a capture file",
        make_seeds=_pcap_seeds,
        sources=_each(
            "*.c",
            "pcap savefile sf-pcap sf-pcapng pcap-common pcap-util pcap-usb-linux-common "
            "pcap-null fmtutils bpf_filter missing/strlcat missing/strlcpy",
        ),
        defines=("HAVE_CONFIG_H", "_GNU_SOURCE"),
        generate=lambda _tree: {"config.h": PCAP_CONFIG},
    ),
    Subject(
        name="expat",
        language="c",
        package="expat",
        what="parsing an XML document",
        make_seeds=_xml_seeds,
        sources=("expat/lib/xmlparse.c", "expat/lib/xmlrole.c", "expat/lib/xmltok.c"),
        includes=("expat/lib",),
        # XML_POOR_ENTROPY: no random salt; the harness sets one.
        defines=(
            "XML_DTD",
            "XML_NS",
            "XML_GE=1",
            "XML_CONTEXT_BYTES=1024",
            "BYTEORDER=__BYTE_ORDER__",
            "XML_POOR_ENTROPY",
        ),
    ),
)


def main() -> None:
    """Build subjects with stock libFuzzer and write their seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("subjects-work"))
    parser.add_argument("--asan", action="store_true", help="build with AddressSanitizer too")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    known = [subject.name for subject in SUBJECTS]
    for name in options.names:
        if name not in known:
            parser.error(f"no subject is called {name}; there are {', '.join(known)}")
    variants = {"plain": PLAIN_FLAGS}
    if options.asan:
        variants["asan"] = [*PLAIN_FLAGS, "-fsanitize=address"]
    for subject in map(by_name, options.names or known):
        corpus = options.work / "seeds" / subject.name
        seeds(subject, corpus)
        for variant, flags in variants.items():
            target = build(
                subject, options.work, variant, ["clang"], ["clang++"], flags, ["-fsanitize=fuzzer"]
            )
            print(subject.name, version(subject, options.work), target, corpus, flush=True)


if __name__ == "__main__":
    main()
