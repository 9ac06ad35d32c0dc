"""What the commands that call clang have in common."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

import click

from fuzzwise.engines.libfuzzer.build import Toolchain, find_toolchain


def wrapper(
    usage: str, help_text: str, words_for: Callable[[Toolchain, Sequence[str]], list[str]]
) -> click.Command:
    """A command that hands all its words to clang, and ends as clang does."""

    @click.command(
        help=help_text,
        options_metavar=usage,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
    @click.pass_context
    def command(context: click.Context, words: tuple[str, ...]) -> None:
        if not words or words in (("-h",), ("--help",)):
            click.echo(context.get_help())
            return
        full = words_for(find_toolchain(), words)
        status = subprocess.run(full, env=dict(os.environ), check=False).returncode  # noqa: S603
        if status:
            raise click.exceptions.Exit(status)

    return command
