"""The command line: one module a command, loaded only when that command is called.

The list of commands is printed without importing any of them, nor click, so that ``--help`` and
a mistyped command answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fuzzwise import __version__, interrupts
from fuzzwise.programs import search_path

if TYPE_CHECKING:
    import click

COMMANDS = {
    "run": "many targets under one budget: where to fuzz next, and when to stop",
    "init": "the campaign file for a folder of targets that you have, ready to edit",
    "status": "how a campaign stands, also while it runs, and why it did what it did",
    "serve": "campaigns live in a browser, and as metrics for Prometheus",
    "report": "a campaign as one page, as Markdown, SARIF or JSON",
    "fuzz": "one target, with a live residual risk, until it may stop",
    "watch": "the residual risk of a campaign that another fuzzer runs",
    "build": "an observed target from its sources",
    "cc": "clang for C, as a drop-in for CC in any build",
    "cxx": "clang for C++, as a drop-in for CXX in any build",
    "engine": "the path of the library for LIB_FUZZING_ENGINE",
    "record": "black-box fuzzing of many configurations, every crash logged",
    "triage": "crashing inputs grouped into bugs, with a reproducer each",
    "replay": "schedulers compared on recordings, with the best possible schedule",
    "estimate": "the residual risk of a campaign from its snapshot file",
    "simulate": "urn campaigns, with and without feedback, and their exact truth",
    "evaluate": "estimators against ground truth: ours, simulated or published",
    "fleet": "one campaign on many machines: scheduler, certificates, and a try on this one",
    "worker": "this machine takes part in a fleet",
    "doctor": "what of all this works on this machine, and how to get the rest",
}
"""Name and summary; the command itself is ``command`` in the module of that name."""

BAD_USAGE = 2
FOUND_BUGS = 10
ABOVE_THE_RISK = 11
UNEXPECTED = 70
"""A mistake in fuzzwise itself, or in a plug-in."""
NO_OUTPUT = 74
"""What there was to say could not be written to standard output."""
INTERRUPTED = interrupts.EXIT_CODE
NOBODY_READS = 141
"""Standard output is a pipe that was closed; as of any program that SIGPIPE ends."""

_HELP = ["-h", "--help"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _command(words)
        sys.stdout.flush()
    except BaseException as error:
        from fuzzwise.cli.endings import ending

        name = f"fuzzwise {words[0]}" if words and words[0] in COMMANDS else "fuzzwise"
        return ending(name, error)
    return code


def _command(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [words[1], "--help"]
    if not words or words[0] in (*_HELP, "help"):
        _say(_overview())
        return 0 if words else BAD_USAGE
    if words[0] in ("-V", "--version"):
        _say(f"fuzzwise {__version__}")
        return 0
    if words[0] not in COMMANDS:
        return _unknown(words[0])
    return _run(words[0], words[1:])


def _run(name: str, words: list[str]) -> int:
    os.environ["PATH"] = search_path()  # for what compilers and targets start in their turn, too
    # numba would take it from a file in the current folder, and load compiled code from there.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    command = load(name)
    with interrupts.AsExceptions(), command.make_context(f"fuzzwise {name}", words) as context:
        command.invoke(context)
    return 0


def load(name: str) -> click.Command:
    """A command by its name, with what all of them share."""
    from importlib import import_module

    command: click.Command = import_module(f"fuzzwise.cli.{name}").command
    command.context_settings["help_option_names"] = _HELP
    return command


def _overview() -> str:
    longest = max(map(len, COMMANDS))
    lines = []
    for name, summary in COMMANDS.items():
        lines += _fitted(f"  {name:<{longest}}  {summary}", longest + 4)
    last = "fuzzwise COMMAND --help explains a command; fuzzwise --version prints the version."
    return "\n".join(
        [
            "Usage: fuzzwise COMMAND …",
            "",
            "Where to fuzz next, and when to stop.",
            "",
            "Commands:",
            *lines,
            "",
            *_fitted(last, 0),
        ]
    )


def _fitted(line: str, hang: int) -> list[str]:
    """A line in the width of the terminal; in a pipe as it is."""
    if not sys.stdout.isatty():
        return [line]
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    return textwrap.wrap(line, width, subsequent_indent=" " * hang, drop_whitespace=True)


def _unknown(word: str) -> int:
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "See fuzzwise --help."
    print(f"fuzzwise: there is no command {word!r}. {hint}", file=sys.stderr)  # noqa: T201
    return BAD_USAGE


def _say(text: str) -> None:
    print(text)  # noqa: T201
