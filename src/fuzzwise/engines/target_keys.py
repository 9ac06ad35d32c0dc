"""What [[target]] tables of all engines have in common."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzwise.config.table import Table, shown
from fuzzwise.engines.contract import CommonKeys
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate

PROGRAM = "{program}"
"""Stands in a command for the program that is built from the sources."""

EXPECTED_NAME = "letters, digits and . _ + -, at most 100 (it names a folder)"
TWO_PROGRAMS = "there are sources too; remove one of the two."

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def named(table: Table, keys: CommonKeys, program: Path) -> str:
    """The name of the target: the given one, or its program's; a problem where that is none."""
    if keys.name:
        return keys.name
    if not is_name(program.stem):
        table.problem(
            "name",
            f"is missing, and {shown(program.stem)} is none; give it a name of {EXPECTED_NAME}.",
        )
    return program.stem


def is_name(text: str) -> bool:
    """Whether a target can be called that."""
    return _NAME.fullmatch(text) is not None


def read_command(table: Table, home: Path) -> tuple[str, ...]:
    """The words of the command, of which the first is the program's path or the placeholder."""
    if table.has("sources"):
        words = table.words("command", (PROGRAM, "@@"))
        if words and words[0] != PROGRAM:
            table.problem(
                "command", f"starts with {shown(words[0])}; write {PROGRAM!r} for what is built."
            )
    else:
        words = table.words("command")
        if words and words[0] == PROGRAM:
            table.problem("command", f"has {PROGRAM!r}, but there are no sources; add sources.")
            return ()
    if not words:
        return ()
    if any("\0" in word for word in words):
        table.problem("command", f"is {shown(words)}; remove its NUL character.")
        return ()
    program = words[0]
    if program != PROGRAM:
        try:
            program = str(locate(program, home))
        except BadInput as problem:
            table.problem("command", f"names the program {shown(program)}, {problem}")
    return (program, *(_word(word, home) for word in words[1:]))


def _word(word: str, home: Path) -> str:
    """A word of a command as it works in any folder: files beside the campaign file are named."""
    try:
        return str(home / word) if (home / word).is_file() else word
    except OSError:  # too long for a file's name
        return word
