"""How tests wait: for what must happen, however long a busy machine takes."""

from __future__ import annotations

import time

PATIENCE = 600.0
"""Seconds after which nobody expects it any more."""


def wait_until(happened: object, what: str, seconds: float = PATIENCE) -> None:
    """Wait for something; fail if it does not come.

    To look takes a small part of the time, so that what is waited for has the cores: to read the
    state of a hundred targets can take longer than a turn of one of them.
    """
    assert callable(happened)
    deadline = time.monotonic() + seconds
    while True:
        began = time.thread_time()
        if happened():
            return
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(max(0.02, 5 * (time.thread_time() - began)))
