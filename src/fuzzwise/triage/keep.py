"""Bugs kept as files: for each, the input that shows it, its report and how to see it again."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.triage.examine import INPUT, absolute
from fuzzwise.triage.grouping import Triage, TriagedBug

NAME = "input"


def check(folder: Path) -> None:
    """Refuse a folder that cannot be one before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file. Give another folder for the reproducers.")


def save(triage: Triage, folder: Path) -> None:
    """Write FOLDER/ID/input, report.txt and command.txt for every bug."""
    for bug in triage.bugs:
        home = folder / bug.id
        try:
            home.mkdir(parents=True, exist_ok=True)
            write_whole(home / NAME, bug.reproducer.load())
            write_whole(home / "report.txt", bug.verdict.report.encode(errors="replace"))
            write_whole(home / "command.txt", os.fsencode(_command(bug, home) + "\n"))
        except OSError as error:
            raise BadInput(f"{home}: cannot be written: {error.strerror}.") from error


def _command(bug: TriagedBug, home: Path) -> str:
    """A line for the shell that shows the bug."""
    path = str((home / NAME).absolute())
    words = absolute(bug.reproducer.command)
    line = shlex.join(word.replace(INPUT, path) for word in words)
    return line if any(INPUT in word for word in words) else f"{line} < {shlex.quote(path)}"
