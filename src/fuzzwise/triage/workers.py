"""Several workers that examine inputs side by side."""

from __future__ import annotations

import base64
import json
import queue
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from fuzzwise.errors import BadInput
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Limits, Verdict


@dataclass(frozen=True)
class Task:
    """An input to examine; ``load`` gives its content when it is its turn."""

    command: tuple[str, ...]
    load: Callable[[], bytes]
    name: str
    limits: Limits
    depth: int


class Workers:
    """A fixed number of worker processes; leaving the context ends them and their targets."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise BadInput(f"The number of jobs must be at least 1, not {jobs}.")
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        self._threads = ThreadPoolExecutor(jobs)
        for _ in range(jobs):
            worker = _start()
            self._all.append(worker)
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._all:
            worker.terminate()
        for worker in self._all:
            worker.wait()
        self._threads.shutdown()
        for worker in self._all:
            for stream in (worker.stdin, worker.stdout):
                assert stream is not None
                with suppress(OSError):  # of a request that nobody reads any more
                    stream.close()

    def examine(self, tasks: Iterable[Task]) -> Iterator[Verdict]:
        """The verdicts, in the order of the tasks."""
        return self._threads.map(self._examine, tasks)

    def _examine(self, task: Task) -> Verdict:
        request = {
            "command": task.command,
            "data": base64.b64encode(task.load()).decode(),
            "name": task.name,
            "limits": asdict(task.limits),
            "depth": task.depth,
        }
        worker = self._idle.get()
        try:
            answer = _ask(worker, json.dumps(request).encode() + b"\n")
        finally:
            self._idle.put(worker)
        if "error" in answer:
            raise BadInput(answer["error"])
        return _verdict(answer["verdict"])


def _start() -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C is for the command, which then ends its workers.
    return subprocess.Popen(
        [sys.executable, "-m", "fuzzwise.triage.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def _ask(worker: subprocess.Popen[bytes], request: bytes) -> dict[str, Any]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(request)
        worker.stdin.flush()
        line = worker.stdout.readline()
    except (OSError, ValueError):
        line = b""
    if not line:
        raise BadInput("A process that runs the inputs was ended from outside. Run triage again.")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _verdict(row: dict[str, Any]) -> Verdict:
    bug: dict[str, Any] | None = row.pop("bug")
    if bug is not None:
        bug["frames"] = tuple(bug["frames"])
    return Verdict(bug=None if bug is None else BugIdentity(**bug), **row)
