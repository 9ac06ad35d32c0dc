"""A program run in a session of its own, of which nothing is left when it is over."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fuzzwise.errors import BadInput
from fuzzwise.text import LIMIT
from fuzzwise.triage.processes import kill_session

_POLL = 0.01
_CHUNK = 1 << 16
_HEAD = LIMIT // 4


@dataclass(frozen=True)
class Outcome:
    """How a program ended: its exit code, or minus its signal, or None if time ran out.

    ``text`` is what it printed, at most a MiB (2**20): of more, the beginning and the end.
    """

    text: str
    status: int | None


def run(
    command: list[str], stdin: Path | None, timeout: float, environment: Mapping[str, str]
) -> str | None:
    """What a command prints, or None if the timeout, in seconds, strikes."""
    outcome = observe(command, stdin, timeout, environment)
    return None if outcome.status is None else outcome.text


def observe(
    command: list[str],
    stdin: Path | None,
    timeout: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    errors_only: bool = False,
) -> Outcome:
    """Run a command, in a folder, until it ends or until the timeout, in seconds.

    Every process of its session is killed in the end, not only its process group: gdb gives the
    program it runs a group of its own. With ``errors_only``, what it prints to its standard output
    is thrown away.
    """
    kept = _Ends()
    with _open(stdin) as source:
        try:
            process = subprocess.Popen(  # noqa: S603 - running the given command is the purpose
                command,
                stdin=source,
                stdout=subprocess.DEVNULL if errors_only else subprocess.PIPE,
                stderr=subprocess.PIPE if errors_only else subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise BadInput(f"{command[0]} cannot be started: {error.strerror}.") from error
        stream = process.stderr if errors_only else process.stdout
        assert stream is not None
        with stream:
            try:
                finished = _wait(process.pid, stream.fileno(), kept, timeout)
            finally:
                # Not reaped before: until then no other session can have this number.
                kill_session(process.pid)
                process.wait()
    return Outcome(kept.text(), process.returncode if finished else None)


def _open(stdin: Path | None) -> BinaryIO:
    try:
        return Path(os.devnull if stdin is None else stdin).open("rb")
    except OSError as error:
        raise BadInput(f"{stdin} cannot be read: {error.strerror}.") from error


def _wait(pid: int, output: int, kept: _Ends, timeout: float) -> bool:
    """Take in the output until the process ends; whether it did so in time."""
    os.set_blocking(output, False)
    deadline = time.monotonic() + timeout
    is_open = True
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= deadline:
            return False
        if not is_open:
            time.sleep(_POLL / 10)
        elif select.select([output], [], [], _POLL)[0]:
            is_open = kept.take(output)
    # Its children may go on to print without end; what it printed itself is in the pipe by now.
    for _ in range(LIMIT // _CHUNK):
        if not (select.select([output], [], [], 0)[0] and kept.take(output)):
            break
    return True


class _Ends:
    """The beginning and the end of an output of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()

    def take(self, output: int) -> bool:
        """Read once; False at the end of the output."""
        try:
            chunk = os.read(output, _CHUNK)
        except BlockingIOError:
            return True
        room = _HEAD - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        if len(self._tail) > 2 * LIMIT:
            del self._tail[: -(LIMIT - _HEAD)]
        return bool(chunk)

    def text(self) -> str:
        tail = self._tail[-(LIMIT - _HEAD) :]
        return bytes(self._head + tail).decode(errors="replace")
