"""A process that examines inputs, one after the other, and leaves nothing of them behind.

Targets are its only descendants, so that whatever is left after a run is a target's and is killed,
even if it went to a session of its own. Requests and answers are lines of JSON. When the requests
end, be it because the process that sends them was killed, or at SIGTERM, the worker ends, and a
running target with it.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import signal
import sys
import threading
from dataclasses import asdict
from typing import Any, BinaryIO

from fuzzwise.errors import FuzzwiseError
from fuzzwise.triage.examine import Limits, examine
from fuzzwise.triage.processes import adopt_orphans, kill_descendants


def main() -> None:
    """Answer requests until there are no more."""
    adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: _end())
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests), daemon=True).start()
    # Nothing else may write to where the answers go.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            answers.write(_answer(requests.get()))
            answers.flush()


def _read(stream: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    for line in stream:
        requests.put(line)
    _end()


def _end() -> None:
    kill_descendants()
    os._exit(0)


def _answer(line: bytes) -> bytes:
    request: dict[str, Any] = json.loads(line)
    try:
        verdict = examine(
            request["command"],
            base64.b64decode(request["data"]),
            request["name"],
            Limits(**request["limits"]),
            request["depth"],
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
