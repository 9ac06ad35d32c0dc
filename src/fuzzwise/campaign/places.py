"""Where things are in the folder of a campaign, and the lock that keeps it to one manager."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.plan import LIBFUZZER, TargetPlan
from fuzzwise.errors import BadInput
from fuzzwise.store.reading import LOCK
from fuzzwise.store.turn import BugFound
from fuzzwise.triage.bug_book import REPORT, Bug
from fuzzwise.triage.examine import INPUT

TARGETS = "targets"
PATIENCE = 1.0
"""Seconds to wait for the lock: those who only look whether it is held hold it for an instant."""


def target_folder(folder: Path, name: str) -> Path:
    """The folder of a target."""
    return folder / TARGETS / name


def bug_found(folder: Path, plan: TargetPlan, bug: Bug) -> BugFound:
    """A bug of a target, as the campaign tells it: where its files are, and how to see it again.

    Without any frame an id says no more than what kind of bug it is. Two programs that hang have
    two bugs, so the program goes into such an id.
    """
    crashes = Path(TARGETS) / plan.name / "crashes"
    report = str(crashes / bug.id / REPORT)
    inputs = tuple(str(crashes / name) for name in bug.inputs)
    command = ""
    if inputs:
        path = str((folder / inputs[0]).absolute())
        words = (plan.command[0], INPUT) if plan.engine == LIBFUZZER else plan.command
        command = shlex.join(word.replace(INPUT, path) for word in words)
        if not any(INPUT in word for word in words):
            command = f"{command} < {shlex.quote(path)}"
    if not bug.frames:
        own = hashlib.sha256(f"{plan.program.name}\n{bug.id}".encode(errors="replace"))
        bug = replace(bug, id=own.hexdigest()[:16])
    return BugFound(bug, report, inputs, command)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """The folder, made where it is missing; refused where another manager uses it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(
            f"{folder} cannot hold a campaign: {error.strerror}. Choose another folder with --out."
        ) from error
    if not _locked(handle):
        other = os.read(handle, 20).decode(errors="replace").strip()
        os.close(handle)
        raise BadInput(
            f"{folder}: another fuzzwise (process {other or 'unknown'}) runs this campaign. Watch "
            f"it with: fuzzwise status {folder}; or choose another folder with --out."
        )
    try:
        with contextlib.suppress(OSError):  # a full disk: the number is for people only
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
        time.sleep(0.02)
