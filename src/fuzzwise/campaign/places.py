"""Where things are in the folder of a campaign, and the lock that keeps it to one manager."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.files import InUse, locked_file
from fuzzwise.store.contract import BugFound
from fuzzwise.store.sql.reading import LOCK
from fuzzwise.triage.bug_book import REPORT, Bug
from fuzzwise.triage.examine import shell_line

TARGETS = "targets"
PATIENCE = 1.0
"""Seconds to wait for the lock: those who only look whether it is held hold it for an instant."""


def target_folder(folder: Path, name: str) -> Path:
    """The folder of a target."""
    return folder / TARGETS / name


def bug_found(folder: Path, home: Path, plan: TargetPlan, bug: Bug) -> BugFound:
    """A bug of a target, as the campaign tells it: where its files are, and how to see it again.

    ``home`` is the folder of the target, in that of the campaign.
    """
    crashes = home.relative_to(folder) / "crashes"
    report = str(crashes / bug.id / REPORT)
    inputs = tuple(str(crashes / name) for name in bug.inputs)
    command = ""
    if inputs:
        words = engine_named(plan.engine).one_input(plan)
        command = shell_line(words, folder / inputs[0])
    return BugFound(bug, report, inputs, command)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """The folder, made where it is missing; refused where another manager uses it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = locked_file(folder / LOCK, PATIENCE)
    except InUse as other:
        raise BadInput(
            f"{folder}: another fuzzwise (process {other.holder or 'unknown'}) runs this campaign. "
            f"Watch it with: fuzzwise status {folder}; or choose another folder with --out."
        ) from other
    except OSError as error:
        raise BadInput(
            f"{folder} cannot hold a campaign: {error.strerror}. Choose another folder with --out."
        ) from error
    with file:
        with contextlib.suppress(OSError):  # a full disk: the number is for people only
            file.truncate(0)
            file.write(f"{os.getpid()}\n".encode())
        yield
