"""How tests wait: for what must happen, however long a busy machine takes."""

from __future__ import annotations

import time
from typing import Protocol

PATIENCE = 600.0
"""Seconds after which nobody expects it any more."""


class Command(Protocol):
    """A command that was started: ``commands.Started``, or a ``subprocess.Popen``."""

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        ...

    def communicate(self) -> tuple[str, str]:
        """All that it printed, once it has ended."""
        ...


def wait_until(
    happened: object, what: str, seconds: float = PATIENCE, *, by: Command | None = None
) -> None:
    """Wait for something; fail if it does not come.

    Where only one command can bring it about (``by``), its end makes the wait hopeless: then the
    failure says how it ended, and what it printed.

    To look takes a small part of the time, so that what is waited for has the cores: to read the
    state of a hundred targets can take longer than a turn of one of them.
    """
    assert callable(happened)
    deadline = time.monotonic() + seconds
    while True:
        ended = by if by and by.poll() is not None else None  # before the look, which is the last
        began = time.thread_time()
        if happened():
            return
        assert ended is None, f"waited in vain for {what}: {_last_words(ended)}"
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(max(0.02, 5 * (time.thread_time() - began)))


def _last_words(command: Command) -> str:
    """How a command ended, and what it printed."""
    said = "\n".join(filter(None, command.communicate()))
    return f"the command ended with {command.poll()}, and said:\n{said}"
