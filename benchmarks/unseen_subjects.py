"""Libraries on which nothing of an estimate was ever chosen: they only check it."""

from __future__ import annotations

import struct
from pathlib import Path

from more_subjects import MORE_SUBJECTS
from subjects import Subject, each

_PCRE2 = (
    "auto_possess compile config context convert dfa_match error extuni find_bracket maketables "
    "match match_data newline ord2utf pattern_info script_run serialize string_utils study "
    "substitute substring tables ucd valid_utf xclass"
)


def brotli_seeds() -> dict[str, bytes]:
    """Streams with blocks that are not compressed, an empty one, and one with metadata."""
    words = b"hello, hello, hello"
    stored = struct.pack("<I", (len(words) - 1) << 4 | 1 << 20)[:3]
    return {
        "empty": b"\xff\x06",
        "stored": b"\xff" + bytes([stored[0] & 0xF0, stored[1], stored[2]]) + words + b"\x03",
        "compressed": b"\xff\x0b\x02\x80hello\x03",
        "pieces": b"\x00\x0b\x02\x80hello\x03",
    }


def pattern_seeds() -> dict[str, bytes]:
    """Patterns, and texts that they match."""
    return {
        "plain": b"\0\0(a|b)*c+?[^d-f]{2,3}\nabababccxy",
        "names": b"\x01\x02(?<n>\\w+)\\s\\k<n>(?i:x)\nhello hello X",
        "around": b"\0\0(?<=a)b(?!c)(?>d*)\\bx$\nabddd x",
        "classes": b"\x40\0[[:alpha:]\\d\\p{L}]++\\X\\R\nabc1\r\n",
        "recursion": b"\0\0\\((?:[^()]|(?R))*\\)\n(a(b)c)",
        "verbs": b"\0\0(*COMMIT)a(?(?=b)b|c)(*SKIP)d\nabd",
    }


def _pcre2_files(tree: Path) -> dict[str, str]:
    """What its configuration would make: the defaults that it brings."""
    source = tree / "src"
    header = (source / "pcre2.h.generic").read_text()
    return {
        "config.h": (source / "config.h.generic").read_text(),
        "pcre2.h": header,
        "pcre2_chartables.h": '#include "config.h"\n#include "pcre2_internal.h"\n'
        + (source / "pcre2_chartables.c.dist").read_text(),
    }


UNSEEN: tuple[Subject, ...] = (
    Subject(
        name="brotli",
        language="c",
        package="brotli",
        what="decompression of Brotli streams",
        make_seeds=brotli_seeds,
        sources=("c/common/*.c", "c/dec/*.c"),
        includes=("c/include",),
    ),
    *(one for one in MORE_SUBJECTS if one.name in ("bzip2", "giflib", "http-parser-url", "lua")),
    Subject(
        name="pcre2",
        language="c",
        package="pcre2",
        what="compiling a regular expression and matching with it",
        make_seeds=pattern_seeds,
        sources=each("src/pcre2_*.c", _PCRE2),
        includes=("src",),
        defines=("HAVE_CONFIG_H", "SUPPORT_UNICODE", "PCRE2_CODE_UNIT_WIDTH=8", "PCRE2_STATIC"),
        generate=_pcre2_files,
    ),
)
