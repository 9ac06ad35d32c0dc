"""Several workers that examine inputs side by side."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from fuzzwise.errors import BadInput
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Limits, Verdict

TRIES = 2
"""Workers that an input may lose before it counts as showing nothing."""

_GRACE = 2.0
"""Seconds that a worker gets to end its targets, and itself."""


@dataclass(frozen=True)
class Task:
    """An input to examine; ``load`` gives its content when it is its turn."""

    command: tuple[str, ...]
    load: Callable[[], bytes]
    name: str
    limits: Limits
    depth: int


class Workers:
    """Up to so many worker processes; leaving the context ends them and their targets.

    A process is started when there is work for it, and another one where one was killed: the input
    that it had is examined again. One that loses its worker a second time counts as showing
    nothing (verdict "none"): be it the input that kills, or the machine, others go on. May be used
    from several threads at once.
    """

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise BadInput(f"The number of jobs must be at least 1, not {jobs}.")
        self._threads = ThreadPoolExecutor(jobs)
        self._lock = threading.Lock()  # of the three below
        self._closed = False
        self._all: set[subprocess.Popen[bytes]] = set()
        self._idle: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            _reap(worker)
        self._threads.shutdown()
        for worker in workers:
            _close(worker)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that were started and have not been replaced."""
        with self._lock:
            return tuple(worker.pid for worker in self._all)

    def examine(self, tasks: Iterable[Task]) -> Iterator[Verdict]:
        """The verdicts, in the order of the tasks."""
        return self._threads.map(self._examine, tasks)

    def start(self, task: Task) -> Future[Verdict]:
        """Have a task done in the background, for those who may not wait until it is."""
        return self._threads.submit(self._examine, task)

    def _examine(self, task: Task) -> Verdict:
        request = {
            "command": task.command,
            "data": base64.b64encode(task.load()).decode(),
            "name": task.name,
            "limits": asdict(task.limits),
            "depth": task.depth,
        }
        line = json.dumps(request).encode() + b"\n"
        for _ in range(TRIES):
            worker = self._take()
            answer = _ask(worker, line)
            if answer is None:
                self._bury(worker)
                continue
            with self._lock:
                self._idle.append(worker)
            if "error" in answer:
                raise BadInput(answer["error"])
            return _verdict(answer["verdict"])
        return Verdict("none")

    def _take(self) -> subprocess.Popen[bytes]:
        """A worker that has nothing to do; there are never more than threads."""
        with self._lock:
            if self._closed:
                raise BadInput("The examination of crashes was ended before it was finished.")
            if self._idle:
                return self._idle.pop()
            worker = _start()
            self._all.add(worker)
            return worker

    def _bury(self, worker: subprocess.Popen[bytes]) -> None:
        """See a worker off that was killed; at the end of all, that is done for every one."""
        with self._lock:
            if self._closed:
                return
            self._all.remove(worker)
        _reap(worker)
        _close(worker)


def _start() -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C is for the command, which then ends its workers.
    try:
        return subprocess.Popen(
            # -P: not from the current folder, where anybody's fuzzwise/ or base64.py may lie.
            [sys.executable, "-P", "-m", "fuzzwise.triage.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise BadInput(
            f"A process that examines crashes cannot be started: {error.strerror}. "
            "Are there memory and processes left?"
        ) from error


def _ask(worker: subprocess.Popen[bytes], request: bytes) -> dict[str, Any] | None:
    """The answer of a worker; None where it was killed before it had one."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(request)
        worker.stdin.flush()
        line = worker.stdout.readline()
    except (OSError, ValueError):
        return None
    if not line.endswith(b"\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return answer


def _reap(worker: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a worker, which ends its targets first."""
    try:
        worker.wait(_GRACE)
    except subprocess.TimeoutExpired:  # stopped, or the machine is overloaded
        worker.kill()
        worker.wait()


def _close(worker: subprocess.Popen[bytes]) -> None:
    for stream in (worker.stdin, worker.stdout):
        assert stream is not None
        with suppress(OSError):  # of a request that nobody reads any more
            stream.close()


def _verdict(row: dict[str, Any]) -> Verdict:
    bug: dict[str, Any] | None = row.pop("bug")
    if bug is not None:
        bug["frames"] = tuple(bug["frames"])
    return Verdict(bug=None if bug is None else BugIdentity(**bug), **row)
