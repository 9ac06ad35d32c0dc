"""How a command ends that does not end by itself: a sentence on stderr, and an exit code."""

from __future__ import annotations

import os
import sys

import click

from fuzzwise import streams
from fuzzwise.cli import BAD_USAGE, INTERRUPTED, NO_OUTPUT, NOBODY_READS, UNEXPECTED
from fuzzwise.cli.telling import asks_for_whole_story, say, unexpected
from fuzzwise.errors import FuzzwiseError


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
        if error.filename is not None and not asks_for_whole_story():
            say(f"{name}: {_about(error)}")
            return BAD_USAGE
    say(f"{name}: {unexpected(error)}")
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


def _about(error: OSError) -> str:
    """A file that cannot be used, and of which nobody has said more."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename
    short = where if len(str(where)) <= _LONGEST_NAME else f"{str(where)[:_LONGEST_NAME]}…"
    return (
        f"{short}: cannot be used ({error.strerror}). Check the path, that you may read and write "
        "there, and that the disk has room."
    )


_LONGEST_NAME = 300


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


def _code(error: SystemExit) -> int:
    return error.code if isinstance(error.code, int) else int(error.code is not None)
