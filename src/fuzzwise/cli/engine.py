"""``fuzzwise engine``: the library for LIB_FUZZING_ENGINE."""

from __future__ import annotations

import click

from fuzzwise.engines.libfuzzer.build import engine, find_toolchain


@click.command()
def command() -> None:
    """Print the path of the engine library, for builds that take LIB_FUZZING_ENGINE.

    The sources are to be compiled with -fsanitize=fuzzer-no-link (or with `fuzzwise cc`), and the
    harness linked with clang++.
    """
    click.echo(engine(find_toolchain()))
