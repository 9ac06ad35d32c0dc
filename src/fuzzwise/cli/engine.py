"""``fuzzwise engine``: the library for LIB_FUZZING_ENGINE."""

from __future__ import annotations

import shlex

import click

from fuzzwise.engines.libfuzzer.build import LIBRARIES, engine, find_toolchain


@click.command()
@click.option("--link", is_flag=True, help="Also print the libraries that it needs, for clang.")
def command(link: bool) -> None:
    """Print the path of the engine library, for builds that take LIB_FUZZING_ENGINE.

    The sources are to be compiled with -fsanitize=fuzzer-no-link (or with `fuzzwise cc`). The
    library is in C++: link the harness with clang++, or with clang and the words of --link, as in
    LIB_FUZZING_ENGINE="$(fuzzwise engine --link)".
    """
    library = str(engine(find_toolchain()))
    click.echo(shlex.join([library, *LIBRARIES]) if link else library)
