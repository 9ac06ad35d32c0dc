"""Libraries that had no part in anything about where time is spent: live campaigns only check it on them."""

from __future__ import annotations

import re
from pathlib import Path

from seed_fresh import flagged_json_seeds, onig_seeds, unicode_seeds, webp_seeds, zstd_seeds
from subjects import Subject, each
from unseen_subjects import UNSEEN

_JANSSON = {"json_inline": "inline", "json_have_long_long": "1", "json_have_localeconv": "0"}
_ONIG = "ALLOCA ALLOCA_H STDINT_H INTTYPES_H SYS_TIMES_H SYS_TIME_H SYS_TYPES_H UNISTD_H"
_ONIG_SIZES = "#define SIZEOF_INT 4\n#define SIZEOF_LONG 8\n#define SIZEOF_LONG_LONG 8\n#define SIZEOF_VOIDP 8\n"


def _jansson_files(tree: Path) -> dict[str, str]:
    """What its configuration would make."""
    text = (tree / "src" / "jansson_config.h.in").read_text()
    text = re.sub(r"@(json_\w+)@", lambda found: _JANSSON.get(found[1], "0"), text)
    return {
        "jansson_config.h": text,
        "jansson_private_config.h": "".join(
            f"#define HAVE_{name} 1\n"
            for name in ("STDINT_H", "UNISTD_H", "SYS_TYPES_H", "STRTOLL")
        )
        + "#define INITIAL_HASHTABLE_ORDER 3\n",
    }


def _onig_files(_tree: Path) -> dict[str, str]:
    have = "".join(f"#define HAVE_{name} 1\n" for name in _ONIG.split())
    return {"config.h": have + _ONIG_SIZES + '#define PACKAGE "onig"\n#define VERSION "6.9"\n'}


FRESH: tuple[Subject, ...] = (
    *(one for one in UNSEEN if one.name in ("brotli", "pcre2")),
    Subject(
        name="jansson",
        language="c",
        package="jansson",
        what="reading and writing JSON",
        make_seeds=flagged_json_seeds,
        sources=("src/*.c",),
        includes=("src",),
        defines=("HAVE_CONFIG_H",),
        generate=_jansson_files,
    ),
    Subject(
        name="oniguruma",
        language="c",
        package="libonig",
        what="compiling a regular expression and searching with it",
        make_seeds=onig_seeds,
        sources=each(
            "src/*.c",
            "regerror regparse regext regcomp regexec regenc regsyntax regtrav regversion st onig_init "
            "unicode unicode_unfold_key unicode_fold1_key unicode_fold2_key unicode_fold3_key ascii utf8 "
            "utf16_be utf16_le utf32_be utf32_le iso8859_1",
        ),
        includes=("src",),
        defines=("HAVE_CONFIG_H",),
        generate=_onig_files,
    ),
    Subject(
        name="utf8proc",
        language="c",
        package="utf8proc",
        what="normal forms of Unicode",
        make_seeds=unicode_seeds,
        sources=("utf8proc.c",),
        defines=("UTF8PROC_STATIC",),
    ),
    Subject(
        name="webp",
        language="c",
        package="libwebp",
        what="decoding a WebP picture",
        make_seeds=webp_seeds,
        sources=(
            "src/dec/*.c",
            *each(
                "src/dsp/*.c",
                "alpha_processing alpha_processing_sse2 alpha_processing_sse41 cpu dec dec_clip_tables "
                "dec_sse2 dec_sse41 filters filters_sse2 lossless lossless_sse2 lossless_sse41 rescaler "
                "rescaler_sse2 upsampling upsampling_sse2 upsampling_sse41 yuv yuv_sse2 yuv_sse41",
            ),
            *each(
                "src/utils/*_utils.c",
                "bit_reader color_cache filters huffman quant_levels_dec random rescaler thread",
            ),
            "src/utils/utils.c",
        ),
        includes=(".", "src"),
    ),
    Subject(
        name="zstd",
        language="c",
        package="libzstd",
        what="decompression of Zstandard frames",
        make_seeds=zstd_seeds,
        sources=("lib/common/*.c", "lib/decompress/*.c"),
        includes=("lib",),
        defines=("ZSTD_DISABLE_ASM",),
    ),
)
