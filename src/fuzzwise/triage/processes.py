"""The processes of this machine, and how to end those that a target started."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 30.0
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


@dataclass(frozen=True)
class Process:
    """A process, and whether it has ended: then it only waits to be waited for."""

    pid: int
    parent: int
    session: int
    has_ended: bool


def running() -> Iterator[Process]:
    """All processes that have not ended; those that end meanwhile may be among them."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208 - fast
    return (process for process in _processes(pids) if not process.has_ended)


def ended(pids: Iterable[int]) -> Iterator[Process]:
    """Those of some processes that have ended."""
    return (process for process in _processes(pids) if process.has_ended)


def _processes(pids: Iterable[int]) -> Iterator[Process]:
    """What is known of processes; quickly, as there may be thousands, and every run has a look."""
    for pid in pids:
        try:
            file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            # The name of the program, in brackets, may itself contain brackets and spaces.
            status = os.read(file, 4096).rpartition(b")")[2].split()
        except OSError:  # it has ended, and was waited for
            continue
        finally:
            os.close(file)
        if len(status) > 3:
            yield Process(pid, int(status[1]), int(status[3]), status[0] in b"ZX")


def kill_session(session: int) -> None:
    """Kill all members of a session."""
    deadline = time.monotonic() + _PATIENCE
    while _kill(lambda: (p.pid for p in running() if p.session == session), deadline):
        pass


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents end, so that none gets lost.

    For a process whose only children are targets: ``kill_descendants`` then finds even those that
    went to sessions of their own.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def kill_descendants() -> None:
    """Kill every descendant of this process, until there is none.

    Those whose parents ended are children of this process (see ``adopt_orphans``): when it has no
    children left, not even ended ones, nothing can be left, however fast it forks.
    """
    deadline = time.monotonic() + _PATIENCE
    while _has_children() and time.monotonic() < deadline:
        _kill(_descendants, deadline)


def _descendants() -> Iterator[int]:
    """The descendants of this process, each before its children are looked for."""
    ahead = [os.getpid()]
    while ahead:
        for pid in children(ahead.pop()):
            yield pid
            ahead.append(pid)


def children(pid: int) -> list[int]:
    """The children of a process, ended ones as well; quickly, to catch those that hardly live."""
    if not Path("/proc/thread-self/children").exists():  # a kernel without that file
        return [process.pid for process in running() if process.parent == pid]
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _has_children() -> bool:
    """Whether this process has children; those that ended are reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _kill(wanted: Callable[[], Iterator[int]], deadline: float) -> bool:
    """Kill the wanted processes; whether there were any.

    They are stopped, each as soon as it is seen, until no new ones appear, and killed then: what
    forks faster than it is killed would never be gone.
    """
    known: set[int] = set()
    is_new = True
    while is_new and time.monotonic() < deadline:
        is_new = False
        for pid in wanted():
            if pid not in known:
                _send(pid, signal.SIGSTOP)
                known.add(pid)
                is_new = True
    for pid in known:
        _send(pid, signal.SIGKILL)
    return bool(known)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
