"""What targets leave running, in sessions of their own: found by a variable, and ended.

Every fuzzing process has a variable that names its folder, and one that names its owner, the
fuzzwise that started it; whatever it starts inherits both. A program that is started with another
environment on purpose is not found.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from fuzzwise.triage.processes import adopt_orphans, ended, running

VARIABLE = "FUZZWISE_SCRATCH"
OWNER = "FUZZWISE_OWNER"
ROUNDS = 1000
"""Looks at the children: those that are killed may have had some of their own."""

QUIET = 5
"""Looks in a row that have to find nothing before a guard is done."""

PATIENCE = 10.0
"""Seconds that a guard has to end everything."""


_TOKEN = os.urandom(8).hex()
_ANY_MARK = f"\0{VARIABLE}=".encode()
_STRANGERS: set[int] = set()
"""Children that belong to no folder, such as the servers of black boxes: not asked again."""


def marks(folder: Path) -> dict[str, str]:
    """The variables of a process that this one starts, and that belongs to a folder."""
    return {VARIABLE: str(folder.resolve()), OWNER: _own_name()}


def end_adopted(folder: Path, known: set[int]) -> None:
    """End those children of this process that belong to a folder and are not known.

    They are what fuzzing processes have left: see ``become_heir``. Those that have ended by
    themselves are waited for, of whichever folder they were: nobody else does, and with a
    symbolizer for every crash they would fill the table of processes.
    """
    mark = _mark(folder)
    for _ in range(ROUNDS):
        children = _children()
        _bury(children)
        _STRANGERS.intersection_update(children)
        left = [pid for pid in children - known - _STRANGERS if mark in _variables(pid)]
        if not left:
            return
        for pid in left:
            _kill(pid)
        for pid in left:  # of hundreds, each may take a while
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def become_heir() -> None:
    """Have processes whose parents end become children of this one."""
    with suppress(OSError):
        adopt_orphans()


def belonging(folder: Path, owner: str = "") -> list[int]:
    """All processes that belong to a folder or one below it; with an ``owner``, only its own."""
    wanted = [_mark(folder), *([f"\0{OWNER}={owner}\0".encode()] if owner else [])]
    return [
        process.pid
        for process in running()
        if (variables := _variables(process.pid)) and all(mark in variables for mark in wanted)
    ]


def end_all(folder: Path, owner: str = "") -> bool:
    """End all processes that belong to a folder or one below it; whether there were any.

    With an ``owner``, only those that it, or what it started, has started.
    """
    found = belonging(folder, owner)
    for pid in found:
        _kill(pid)
    return bool(found)


class Guard:
    """A process that ends what targets have left when this one is gone, however it goes.

    What this one has started, that is: the next fuzzwise may be at work in the folder by then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it; what an earlier, killed campaign has left is ended as well."""
        end_all(self._folder)
        with suppress(OSError):  # no memory: without a guard it works too
            words = ["-P", "-m", "fuzzwise.engines.leftovers", str(self._folder), _own_name()]
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is not for it
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it do its work."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Wait until nobody holds the other end of the pipe any more, and end what is left."""
    folder, owner = Path(sys.argv[1]), sys.argv[2]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.stdin.buffer.read()
    deadline = time.monotonic() + PATIENCE
    quiet = 0  # looks that found nothing: a process may be about to be forked at the first
    while quiet < QUIET and time.monotonic() < deadline:
        quiet = 0 if end_all(folder, owner) else quiet + 1
        time.sleep(0.02)


def _own_name() -> str:
    """A name of this process that no other one has or had; by its number, lest a fork share it."""
    return f"{_TOKEN}-{os.getpid():08}"


def _mark(folder: Path) -> bytes:
    """What is among the variables of a process that belongs to a folder."""
    return f"\0{VARIABLE}={folder.resolve()}/".encode(errors="surrogateescape")


def _variables(pid: int) -> bytes:
    """The variables of a process, each after a zero byte."""
    try:
        variables = b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
    if len(variables) > 1 and _ANY_MARK not in variables:
        _STRANGERS.add(pid)
    return variables


def _children() -> set[int]:
    found: set[int] = set()
    with suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with suppress(OSError):
                found.update(map(int, (task / "children").read_text().split()))
    return found


def _bury(children: set[int]) -> None:
    """Wait for children that have ended and were adopted.

    A child that this process has started, and that its starter waits for, is in the session of this
    process or leads one of its own; an adopted one is in that of the process that left it.
    """
    own = os.getsid(0)
    for process in ended(children):
        if process.session not in (own, process.pid):
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
