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
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seed_files import (
    json_seeds,
    lz4_seeds,
    markdown_seeds,
    pcap_seeds,
    png_seeds,
    xml_seeds,
    zlib_seeds,
)
from seed_fonts import font_seeds
from seed_texts import http_seeds, yaml_seeds

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
    ``needs`` names subjects whose libraries are linked too. One without a package is a harness for
    these alone.
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
        if not one.package:
            continue
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


def each(pattern: str, names: str) -> tuple[str, ...]:
    """The pattern with each of the names in the place of its star."""
    return tuple(pattern.replace("*", name) for name in names.split())


SUBJECTS: tuple[Subject, ...] = (
    Subject(
        name="zlib",
        language="c",
        package="zlib",
        what="decompression of zlib and gzip streams",
        make_seeds=zlib_seeds,
        sources=("*.c",),
        defines=("HAVE_UNISTD_H",),
    ),
    Subject(
        name="libpng",
        language="c",
        package="libpng1.6",
        what="reading a PNG picture",
        make_seeds=png_seeds,
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
        make_seeds=xml_seeds,
        sources=each(
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
        make_seeds=json_seeds,
        includes=("single_include",),
    ),
    Subject(
        name="freetype",
        language="c",
        package="freetype",
        what="loading and rendering the glyphs of a font",
        make_seeds=font_seeds,
        # The list of docs/INSTALL.ANY.
        sources=(
            *each(
                "src/base/ft*.c",
                "base bbox bitmap debug fstype gasp glyph gxval init mm otval patent "
                "pfr stroke synth system type1 winfnt bdf cid",
            ),
            *each(
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
        make_seeds=markdown_seeds,
        sources=each(
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
        make_seeds=lz4_seeds,
        sources=("lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c", "lib/xxhash.c"),
        includes=("lib",),
    ),
    Subject(
        name="libpcap",
        language="c",
        package="libpcap",
        what="reading a capture file",
        make_seeds=pcap_seeds,
        sources=each(
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
        make_seeds=xml_seeds,
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
    Subject(
        name="cjson",
        language="c",
        package="cjson",
        what="parsing and writing JSON",
        make_seeds=json_seeds,
        sources=("cJSON.c",),
    ),
    Subject(
        name="http-parser",
        language="c",
        package="http-parser",
        what="reading requests and answers of HTTP/1",
        make_seeds=http_seeds,
        sources=("http_parser.c",),
    ),
    Subject(
        name="libyaml",
        language="c",
        package="libyaml",
        what="reading and writing YAML",
        make_seeds=yaml_seeds,
        sources=each("src/*.c", "api emitter parser reader scanner writer"),
        includes=("include", "src"),
        defines=(
            "YAML_VERSION_MAJOR=0",
            "YAML_VERSION_MINOR=2",
            "YAML_VERSION_PATCH=5",
            'YAML_VERSION_STRING="0.2.5"',
        ),
    ),
    Subject(
        name="tinyxml2",
        language="c++",
        package="tinyxml2",
        what="parsing and writing an XML document",
        make_seeds=xml_seeds,
        sources=("tinyxml2.cpp",),
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
