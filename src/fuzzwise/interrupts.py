"""Ctrl-C while there is nothing to lose: before a command is at work, and after it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_CODE = 130


def end_at_once() -> None:
    """From now on, an interrupt ends the process with a word.

    While modules are loaded, an exception would come out of half an import: as a traceback, or as
    an error of somebody else. Where interrupts are ignored, as in the background of a script, they
    stay so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def as_exceptions() -> Iterator[None]:
    """In here, an interrupt is a KeyboardInterrupt again, so that a command can clean up."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"Interrupted.\n")
    os._exit(EXIT_CODE)
