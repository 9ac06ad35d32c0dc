"""Bugs kept as files: for each, the input that shows it, its report and how to see it again."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.triage.examine import absolute, shell_line
from fuzzwise.triage.grouping import Triage

NAME = "input"


def check(folder: Path) -> None:
    """Refuse a folder that cannot be one before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file. Give another folder for the reproducers.")


def save(triage: Triage, folder: Path) -> None:
    """Write FOLDER/ID/input, report.txt and command.txt for every bug."""
    for bug in triage.bugs:
        home = folder / bug.id
        if home.is_symlink():
            raise BadInput(f"{home}: is a link. Remove it, or give another folder.")
        try:
            home.mkdir(parents=True, exist_ok=True)
            write_whole(home / NAME, bug.reproducer.load())
            write_whole(home / "report.txt", bug.verdict.report.encode(errors="replace"))
            line = shell_line(absolute(bug.reproducer.command), home / NAME)
            write_whole(home / "command.txt", os.fsencode(f"{line}\n"))
        except OSError as error:
            raise BadInput(f"{home}: cannot be written: {error.strerror}.") from error
