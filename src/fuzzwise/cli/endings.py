"""How a command ends that does not end by itself: a sentence on stderr, and an exit code."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from pathlib import Path
from typing import TextIO

import click

from fuzzwise import streams
from fuzzwise.cli import BAD_USAGE, INTERRUPTED, NO_OUTPUT, NOBODY_READS, UNEXPECTED
from fuzzwise.errors import FuzzwiseError
from fuzzwise.plugins import PluginLeftOut
from fuzzwise.text import printable

WHOLE_STORY = "FUZZWISE_TRACEBACK"
"""The variable that asks for tracebacks."""


def ending(name: str, error: BaseException) -> int:
    """Say why a command has ended; its exit code."""
    if isinstance(error, click.exceptions.Exit):
        return finish(name, error.exit_code)
    if isinstance(error, SystemExit):
        # A library that gives up where nobody reads its output.
        is_gone = isinstance(error.__context__, BrokenPipeError)
        return NOBODY_READS if is_gone else finish(name, _code(error))
    if isinstance(error, click.ClickException):
        _show(error)
        return BAD_USAGE
    if isinstance(error, FuzzwiseError):
        say(f"{name}: {error}")
        return BAD_USAGE
    if _is_interrupt(error):
        say("Interrupted.")
        return INTERRUPTED
    if isinstance(error, OSError):
        code = finish(name, 0)
        if code:
            return code
    say(f"{name}: {_unexpected(error)}")
    return UNEXPECTED


def finish(name: str, code: int) -> int:
    """The exit code of a command that has done its work, once all it said is written."""
    problem = streams.problem_of(sys.stdout)
    if problem is not None:
        streams.give_up(sys.stdout)
        if streams.is_gone(problem):
            return NOBODY_READS
        say(f"{name}: standard output cannot be written to ({problem.strerror}). {_REMEDY}")
        return NO_OUTPUT
    if streams.problem_of(sys.stderr) is not None:
        streams.give_up(sys.stderr)
        return NO_OUTPUT
    return code


_REMEDY = "Give it a place with room, such as > FILE; what a campaign has counted is kept."


def say(sentence: str) -> None:
    """Print to stderr, where that is possible; names in it may hold anything."""
    safe = "\n".join(map(printable, sentence.split("\n")))
    try:
        print(safe, file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):
        streams.give_up(sys.stderr)


def in_thread(failed: threading.ExceptHookArgs) -> None:
    """Tell of an exception that ended a thread."""
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        say(f"fuzzwise: {_unexpected(failed.exc_value)}")


def warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Tell of a warning: ours are sentences, those of libraries are for whoever looks for them."""
    if issubclass(category, PluginLeftOut):
        say(f"fuzzwise: {message}")
    elif os.environ.get(WHOLE_STORY):
        say(f"{filename}, line {lineno}: {category.__name__}: {message}")


def unraisable(failed: sys.UnraisableHookArgs) -> None:
    """Tell of an exception that Python has nobody to give to; an interrupt still ends all."""
    if isinstance(failed.exc_value, KeyboardInterrupt):
        say("Interrupted.")
        os._exit(INTERRUPTED)
    if os.environ.get(WHOLE_STORY):
        sys.__unraisablehook__(failed)


def _show(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    if context is not None:
        say(context.get_usage())
        say(f"Try '{context.command_path} {context.help_option_names[-1]}' for help.\n")
    say(f"Error: {error.format_message()}")


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: what is interrupted in the middle may fail in its own way."""
    seen = 0
    while error is not None and seen < 50:
        if isinstance(error, KeyboardInterrupt | click.Abort):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def _unexpected(error: BaseException) -> str:
    if os.environ.get(WHOLE_STORY):
        story = "".join(traceback.format_exception(error)).rstrip()
        return f"unexpected, please report this whole story:\n{story}"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"unexpected: {' '.join(what.split())} ({_place(error)}). Please report this; with "
        f"{WHOLE_STORY}=1 set, the same command tells the whole story."
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "fuzzwise" in Path(frame.filename).parts] or frames
    return f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "nowhere"


def _code(error: SystemExit) -> int:
    return error.code if isinstance(error.code, int) else int(error.code is not None)
