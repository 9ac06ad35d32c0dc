"""A program run in a session of its own, of which nothing is left when it is over."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from fuzzwise.errors import BadInput
from fuzzwise.triage.text import LIMIT

_POLL = 0.02
_MAX_ROUNDS = 100


def run(
    command: list[str], stdin: Path | None, timeout: float, environment: Mapping[str, str]
) -> str | None:
    """What a command prints, up to the first MiB, or None if the timeout, in seconds, strikes.

    Every process of its session is killed in the end, not only its process group: gdb gives the
    program it runs a group of its own.
    """
    with _open(stdin) as source, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - running the given command is the purpose
            command,
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            finished = _wait(process.pid, timeout)
        finally:
            # Not reaped before: until then no other session can have this number.
            _kill_session(process.pid)
            process.wait()
        output.seek(0)
        return output.read(LIMIT).decode(errors="replace") if finished else None


def _open(stdin: Path | None) -> BinaryIO:
    try:
        return Path(os.devnull if stdin is None else stdin).open("rb")
    except OSError as error:
        raise BadInput(f"{stdin} cannot be read: {error.strerror}.") from error


def _wait(pid: int, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True


def _kill_session(session: int) -> None:
    """Kill all members of a session, again and again as long as they fork."""
    for _ in range(_MAX_ROUNDS):
        members = list(_members(session))
        if not members:
            return
        for pid in members:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL)


def _members(session: int) -> Iterator[int]:
    """The processes of a session that still run."""
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            # The name of the program, in brackets, may itself contain brackets and spaces.
            status = (directory / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(status[3]) == session and status[0] not in "ZX":
                yield int(directory.name)
