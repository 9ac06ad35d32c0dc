"""What the commands that call clang have in common."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from fuzzwise.cli import BAD_USAGE
from fuzzwise.engines.contents import OBSERVER, contains, is_elf
from fuzzwise.engines.libfuzzer.build import Toolchain, find_toolchain
from fuzzwise.engines.link_errors import OWN_MAIN, remedy


def wrapper(
    usage: str,
    help_text: str,
    words_for: Callable[[Toolchain, Sequence[str]], list[str]],
    *,
    explain: bool = False,
) -> click.Command:
    """A command that hands all its words to clang, and ends as clang does.

    ``explain``: say what a linker's errors mean. A drop-in for a compiler leaves that to the build.
    """

    @click.command(
        help=help_text,
        options_metavar=usage,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
    @click.pass_context
    def command(context: click.Context, words: tuple[str, ...]) -> None:
        if not words:
            click.echo(context.get_help(), err=True)
            raise click.exceptions.Exit(BAD_USAGE)
        if words in (("-h",), ("--help",)):
            click.echo(context.get_help())
            return
        full = words_for(find_toolchain(), words)
        status = _told(full) if explain else subprocess.run(full, check=False).returncode  # noqa: S603
        if status:
            raise click.exceptions.Exit(status)

    return command


def _told(command: list[str]) -> int:
    """The status of a compiler, whose words are shown, and explained where it failed."""
    colour = ["-fcolor-diagnostics"] if sys.stderr.isatty() else []
    done = subprocess.run([*command, *colour], stderr=subprocess.PIPE, check=False)  # noqa: S603
    said = done.stderr.decode(errors="replace")
    click.echo(said, err=True, nl=False)
    if done.returncode == 0 and _is_without_engine(command):
        click.echo(f"fuzzwise build: {OWN_MAIN}", err=True)
        return BAD_USAGE
    if done.returncode and (what := remedy(said)):
        click.echo(f"fuzzwise build: {what}", err=True)
    return done.returncode


def _is_without_engine(command: list[str]) -> bool:
    """Whether a program was linked that did not need the engine: it has a main of its own."""
    places = [command[i + 1] for i, word in enumerate(command[:-1]) if word == "-o"]
    program = Path(places[-1] if places else "a.out")
    if not {"-c", "-S", "-E", "-r", "-shared"}.isdisjoint(command) or not is_elf(program):
        return False
    return not contains(program, OBSERVER)
