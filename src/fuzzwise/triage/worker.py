"""A process that examines inputs, one after the other, and leaves nothing of them behind.

Targets are its only descendants, so that whatever is left after a run is a target's and is killed,
even if it went to a session of its own. Requests and answers are lines of JSON. When the requests
end, be it because the process that sends them was killed, or at SIGTERM, the worker ends, and a
running target with it.

It is two processes: one that works, and its parent, a guard that does nothing but wait. If either
is killed, the other ends the targets, and removes the folder in which they ran.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import queue
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from fuzzwise.errors import FuzzwiseError
from fuzzwise.triage.examine import Limits, examine
from fuzzwise.triage.processes import adopt_orphans, kill_descendants

_SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


def main() -> None:
    """Answer requests until there are no more."""
    adopt_orphans()
    folder = tempfile.TemporaryDirectory(prefix="fuzzwise-", ignore_cleanup_errors=True)
    end = partial(_end, folder)
    signal.signal(signal.SIGTERM, lambda *_: end())
    guard = os.getpid()
    worker = os.fork()
    if worker:
        _guard(worker, end)
    adopt_orphans()  # what a parent is, its children are not
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != guard:
        end()
    _work(Path(folder.name), end)


def _guard(worker: int, end: Callable[[], None]) -> None:
    """Wait for the end of the worker, and end what it has left."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # both ends of a pipe must know when the other is gone
    os.dup2(nothing, 1)
    os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
    end()


def _work(folder: Path, end: Callable[[], None]) -> None:
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests, end), daemon=True).start()
    # Nothing else may write to where the answers go.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    while True:
        answer = memoryview(_answer(requests.get(), folder))
        try:
            while answer:
                answer = answer[answers.write(answer) :]
        except BrokenPipeError:  # the asker was killed; nobody is left to be told
            end()


def _read(stream: BinaryIO, requests: queue.SimpleQueue[bytes], end: Callable[[], None]) -> None:
    for line in stream:
        requests.put(line)
    end()


def _end(folder: tempfile.TemporaryDirectory[str]) -> None:
    kill_descendants()
    folder.cleanup()
    os._exit(0)


def _answer(line: bytes, folder: Path) -> bytes:
    request: dict[str, Any] = json.loads(line)
    try:
        verdict = examine(
            request["command"],
            base64.b64decode(request["data"]),
            request["name"],
            Limits(**request["limits"]),
            request["depth"],
            folder,
        )
        answer: dict[str, object] = {"verdict": asdict(verdict)}
    except FuzzwiseError as error:
        answer = {"error": str(error)}
    except OSError as error:
        answer = {"error": f"An input cannot be examined: {error}."}
    finally:
        kill_descendants()
    return json.dumps(answer).encode() + b"\n"


if __name__ == "__main__":
    main()
