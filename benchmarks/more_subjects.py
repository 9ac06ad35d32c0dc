"""More fuzz targets of real libraries, for the study on spending time: small ones, and second harnesses."""

from __future__ import annotations

from seed_more import (
    bzip2_seeds,
    expression_seeds,
    gif_seeds,
    lua_seeds,
    patch_seeds,
    url_seeds,
)
from subjects import Subject, each

MORE_SUBJECTS: tuple[Subject, ...] = (
    Subject(
        name="bzip2",
        language="c",
        package="bzip2",
        what="decompression of bzip2 streams",
        make_seeds=bzip2_seeds,
        sources=each("*.c", "blocksort huffman crctable randtable compress decompress bzlib"),
        defines=("BZ_NO_STDIO",),
    ),
    Subject(
        name="cjson-utils",
        language="c",
        package="cjson",
        what="patching a JSON document",
        make_seeds=patch_seeds,
        sources=("cJSON.c", "cJSON_Utils.c"),
    ),
    Subject(
        name="giflib",
        language="c",
        package="giflib",
        what="reading a GIF picture",
        make_seeds=gif_seeds,
        sources=each("*.c", "dgif_lib gifalloc gif_err gif_hash openbsd-reallocarray"),
    ),
    Subject(
        name="http-parser-url",
        language="c",
        package="http-parser",
        what="taking an address to pieces",
        make_seeds=url_seeds,
        sources=("http_parser.c",),
    ),
    Subject(
        name="libxml2-regexp",
        language="c",
        package="",
        what="compiling and matching regular expressions",
        make_seeds=expression_seeds,
        includes=(),
        defines=("LIBXML_STATIC",),
        needs=("libxml2",),
    ),
    Subject(
        name="lua",
        language="c",
        package="lua5.4",
        what="compiling Lua",
        make_seeds=lua_seeds,
        sources=each(
            "src/l*.c",
            "api auxlib code ctype debug do dump func gc lex mem object opcodes parser state string "
            "table tm undump vm zio",
        ),
        includes=("src",),
        # Without a random salt for the hashes of its strings.
        defines=("luai_makeseed(state)=1",),
        generate=lambda _tree: {"lua5.4-deb-multiarch.h": '#define DEB_HOST_MULTIARCH "any"\n'},
    ),
)
"""They are in no study of risk, so that these stay as they are."""
